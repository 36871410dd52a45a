"""Compare Tritium with all recorded facts, or live with Triton on random kernels.

    python tests/oracle/compare.py                       # every combination of every matrix
    python tests/oracle/compare.py --live PYTHON -n 500  # random kernels; PYTHON has triton==3.6.0

Run by a Python that has Tritium.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent), str(HERE)]

from language import matrix_check  # noqa: E402
from language.conftest import tritium_frontend  # noqa: E402
from language.observe import Frontend, KernelText, Refusal, observe  # noqa: E402
from random_kernels import kernel as random_kernel  # noqa: E402


def compare_recorded(frontend: Frontend) -> Iterator[str]:
    """Disagreements with the recorded matrices, none left out."""
    for name, first in matrix_check.groups():
        matrix = matrix_check.MATRICES[name]
        typed, refused, _ = matrix_check.split(matrix, first)
        yield from matrix_check.mismatches(frontend, matrix, typed)
        yield from matrix_check.wrongly_accepted(frontend, matrix, refused)


class TritonProcess:
    """Triton in another Python; started again whenever a kernel makes it abort."""

    def __init__(self, python: str) -> None:
        self.python = python
        self.process = self._start()

    def _start(self) -> subprocess.Popen[str]:
        command = [self.python, str(HERE / "worker.py")]
        return subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def ask(self, kernel: KernelText) -> dict[str, Any]:
        """What Triton makes of `kernel`."""
        assert self.process.stdin and self.process.stdout
        request = {"source": kernel.source, "signature": dict(kernel.signature), "constexprs": {}}
        self.process.stdin.write(json.dumps(request) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            self.process = self._start()
            return {"accident": True}
        return json.loads(line)

    def close(self) -> None:
        """End the process."""
        assert self.process.stdin
        self.process.stdin.close()
        self.process.wait()


def compare_live(frontend: Frontend, python: str, count: int, seed: int) -> Iterator[str]:
    """Random kernels that Tritium and Triton type or refuse differently."""
    triton = TritonProcess(python)
    for number in range(seed, seed + count):
        kernel = random_kernel(number)
        answer = triton.ask(kernel)
        if "accident" in answer or answer.get("fault") == "AttributeError":  # Triton misses a case, no rule
            continue
        try:
            mine = observe(frontend, kernel)
        except Exception as error:  # a crash of ours is a finding, not the end of the search
            yield f"seed {number}: {type(error).__name__}: {error}\n{kernel.source}"
            continue
        refused = isinstance(mine, Refusal)
        if refused != ("refused" in answer) or (not refused and list(mine) != answer["prints"]):
            shown = mine.text if isinstance(mine, Refusal) else list(mine)
            yield f"seed {number}:\n{kernel.source}{dict(kernel.signature)}\nTriton: {answer}\nTritium: {shown}\n"
    triton.close()


def main() -> int:
    """Print disagreements; exit status 1 when there are any."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--live", metavar="PYTHON", help="a Python that has triton==3.6.0")
    parser.add_argument("-n", "--count", type=int, default=200, help="number of random kernels")
    parser.add_argument("--seed", type=int, default=0, help="first seed")
    arguments = parser.parse_args()
    frontend = tritium_frontend()
    if arguments.live:
        lines = compare_live(frontend, arguments.live, arguments.count, arguments.seed)
    else:
        lines = compare_recorded(frontend)
    found = 0
    for line in lines:
        print(line)
        found += 1
    print(f"{found} disagreements", file=sys.stderr)
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
