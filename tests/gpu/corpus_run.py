"""The corpus and random matmuls on the GPU in one command:
``PYTHONPATH=src:. python -m tests.gpu.corpus_run [out.json] [seconds]``.

Sources are generated first, then compiled in parallel, then run, so that the GPU is held as short as possible. Every case
ends as "ok", as "refused: ..." (an operation that the backend says it does not have) or as what went wrong.
"""

from __future__ import annotations

import json
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from tests.corpus.protocol import Case, prepare, select, verify
from tests.cuda_codegen.launching import launching
from tests.gpu.matmul_run import random_cases, run_all
from tests.gpu.on_device import Device
from tritium.backends.cuda import assemble, driver
from tritium.errors import TritiumError

LAYOUTS = ("default", "seed")


def wanted() -> list[Case]:
    """The cases that run here: none that needs programs to take turns."""
    return select(without={"large", "spin"})


def outcome(run: Any) -> str:
    """What became of calling `run`."""
    try:
        run()
    except TritiumError as error:
        return f"refused: {error.message}" if error.code == "TRI0760" else f"{error.code}: {error.message}"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return "ok"


def launch(case: Case, launched: Any) -> None:
    case.kernel[launched.grid](**launched.args, **case.constexprs)


def run_layouts(layouts: str, cases: list[Case], deadline: float) -> dict[str, str]:
    """All cases under one policy of layouts; those that time does not allow are "not run"."""
    device = Device(layouts=layouts)
    found: dict[str, str] = {}
    with launching(lambda kernel, grid, leaves: device.source(kernel)):
        for case in cases:
            found[case.name] = outcome(lambda: launch(case, prepare(case).launch))
    options = {"arch": device.arch}
    with ThreadPoolExecutor() as pool:
        sources = {s.text: s for s in device.sources.values()}
        made = pool.map(lambda s: (s.text, _assembled(s, options)), sources.values())
        device.binaries.update({text: binary for text, binary in made if binary is not None})
    for case in cases:
        if found[case.name] != "ok":
            continue
        if time.monotonic() > deadline:
            found[case.name] = "not run"
            continue
        with launching(device.run):
            found[case.name] = outcome(lambda: _checked(case))
    return found


def _assembled(source: Any, options: dict[str, Any]) -> Any:
    try:
        return assemble.assemble(source, options)
    except TritiumError:
        return None  # reported by the case that launches it


def _checked(case: Case) -> None:
    prepared = prepare(case)
    launch(case, prepared.launch)
    verify(prepared)


def main() -> None:
    out = sys.argv[1] if len(sys.argv) > 1 else None
    deadline = time.monotonic() + (float(sys.argv[2]) if len(sys.argv) > 2 else 480.0)
    cases = wanted()
    results: dict[str, Any] = {"device": str(driver.device(0)), "date": time.strftime("%Y-%m-%d")}
    for layouts in LAYOUTS:
        found = run_layouts(layouts, cases, deadline)
        results[layouts] = found
        counts = Counter(v.split(":")[0] for v in found.values())
        print(layouts, dict(counts))
        for name, value in found.items():
            if value != "ok" and not value.startswith("refused"):
                print("  ", name, value[:300])
    results["matmul"] = run_all(random_cases(200), driver.device(0).arch)
    print("matmul", dict(Counter(v.split(":")[0] for v in results["matmul"].values())))
    for name, value in results["matmul"].items():
        if value != "ok" and not value.startswith("refused"):
            print("  ", name, value[:300])
    if out:
        with open(out, "w", encoding="utf-8") as file:
            json.dump(results, file, indent=1)


if __name__ == "__main__":
    main()
