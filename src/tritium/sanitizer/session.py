"""One checked run: what was found, in how many launches, and what the user chose not to hear."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Mapping
from typing import Any

from tritium.ir.core import Op
from tritium.sanitizer.coverage import Partly, finish
from tritium.sanitizer.findings import KINDS, SCHEMA, VERSION, Argument, Finding
from tritium.sanitizer.fresh import Fresh
from tritium.sanitizer.suppressions import Suppressions

ENGINE = "interpret"


class Session:
    """Findings of a run, one per place and kind.

    enable   opt-in kinds to look for
    disable  kinds not to look for
    assume   assumed values of kernel arguments, for the proofs about int32 offsets
    """

    def __init__(
        self,
        *,
        enable: Iterable[str] = (),
        disable: Iterable[str] = (),
        assume: Mapping[str, int] | None = None,
        suppressions: Suppressions | None = None,
    ) -> None:
        asked = set(enable)
        self.kinds = {k for k, kind in KINDS.items() if not kind.opt_in or k in asked} - set(disable)
        self.asked = frozenset(asked)
        self.assume = dict(assume or {})
        self.suppressions = suppressions or Suppressions()
        self.fresh = Fresh()
        self.partly: dict[int, Partly] = {}
        self.stores: dict[str, dict[Op, tuple[bool, Argument | None]]] = {}
        self.launches = 0
        self.kernels: dict[str, int] = {}
        self.assumed: set[str] = set()  # names of assumptions that some kernel has
        self.proofs: list[dict[str, Any]] = []
        self._found: dict[tuple[object, ...], Finding] = {}
        self._seen_now: set[tuple[object, ...]] = set()
        self._lock = threading.RLock()

    def begin(self, kernel: str) -> None:
        """A launch of `kernel` begins."""
        with self._lock:
            self.launches += 1
            self.kernels[kernel] = self.kernels.get(kernel, 0) + 1
            self._seen_now = set()

    def add(self, finding: Finding) -> None:
        """Keep a finding, or count it where one of its key is there."""
        if finding.kind not in self.kinds:
            return
        with self._lock:
            known = self._found.get(finding.key)
            if known is None:
                finding.suppressed = self.suppressions.of(finding)
                self._found[finding.key] = finding
            else:
                known.count += finding.count
                if finding.key not in self._seen_now:
                    known.launches += 1
            self._seen_now.add(finding.key)

    def add_proof(self, proof: dict[str, Any]) -> None:
        """Keep what `tritium.sanitizer.offsets` has concluded about a kernel, once."""
        with self._lock:
            self.assumed.update(proof["assumptions"])
            if proof not in self.proofs:
                self.proofs.append(proof)

    def finish(self) -> None:
        """The run is over: add what can only be said at its end."""
        with self._lock:
            finish(self)
            for name in self.assume.keys() - self.assumed:
                text = f"no kernel that was launched has an integer argument `{name}`"
                self.add_proof(
                    {
                        "kernel": None,
                        "verdict": "undecided",
                        "message": text,
                        "assumptions": {name: self.assume[name]},
                        "taken": [],
                        "reasons": [text],
                    }
                )

    def wants(self, kind: str) -> bool:
        return kind in self.kinds

    @property
    def findings(self) -> list[Finding]:
        """What was found and not suppressed, in order of discovery."""
        return [f for f in self._found.values() if f.suppressed is None]

    @property
    def suppressed(self) -> list[Finding]:
        return [f for f in self._found.values() if f.suppressed is not None]

    def to_json(self, version: str = "") -> dict[str, Any]:
        """The run as the JSON object that `tritium.sanitizer.findings` describes; `version` is that of the tool."""
        return {
            "schema": SCHEMA,
            "version": VERSION,
            "tool": f"tritium {version}".strip(),
            "engine": ENGINE,
            "launches": self.launches,
            "kernels": list(self.kernels),
            "findings": [f.to_json() for f in self.findings],
            "suppressed": [f.to_json() for f in self.suppressed],
            "proofs": list(self.proofs),
        }
