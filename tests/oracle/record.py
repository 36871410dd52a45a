"""Record, or check again, what compiled Triton 3.6 does with the kernels of ``tests/language``.

Run by a Python that has triton==3.6.0 and numpy; see README.md beside this file.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import os
import string
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

TESTS = Path(__file__).resolve().parents[1]
sys.path[:0] = [str(TESTS), str(Path(__file__).parent)]

from frontend import triton_frontend  # noqa: E402
from language.binary_matrices import BINARY  # noqa: E402
from language.case_file import Case, load_cases  # noqa: E402
from language.library_matrices import LIBRARY  # noqa: E402
from language.matrix import ACCIDENT, REFUSED, Matrix, kernel_text, outcome_text  # noqa: E402
from language.observe import Frontend, KernelText, Refusal, observe  # noqa: E402
from language.op_matrices import OPS  # noqa: E402

DATA = TESTS / "language" / "data"
LETTERS = string.ascii_letters + string.digits + "".join(map(chr, range(0x410, 0x450)))
VERIFIER = "error encountered during parsing"


@contextlib.contextmanager
def quiet_stderr() -> Generator[None]:
    """Hide what the MLIR verifier writes to file descriptor 2."""
    saved = os.dup(2)
    with tempfile.TemporaryFile() as sink:
        os.dup2(sink.fileno(), 2)
        try:
            yield
        finally:
            os.dup2(saved, 2)
            os.close(saved)


def is_accident(refusal: Refusal) -> bool:
    """A refusal that no rule asks for: Triton's builder lacks a method for the type."""
    return refusal.fault == "AttributeError" and "ir.builder" in refusal.text


def observe_triton(frontend: Frontend, kernel: KernelText) -> tuple[str, ...] | Refusal | None:
    """As `observe`; None when Triton falls over (its verifier, or a missing builder method)."""
    try:
        result = observe(frontend, kernel)
    except RuntimeError as error:
        if VERIFIER in str(error):
            return None
        raise
    return None if isinstance(result, Refusal) and is_accident(result) else result


def in_child(work: Callable[[Any], str], items: Sequence[Any], died: str) -> Iterator[str]:
    """`work(item)` for each item, in a forked child that reports line by line.

    Where Triton aborts the process the answer is `died`, and the next child goes on behind that item.
    """
    done = 0
    while done < len(items):
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            with os.fdopen(writer, "w", buffering=1) as out:
                for item in items[done:]:
                    out.write(work(item) + "\n")
            os._exit(0)
        os.close(writer)
        with os.fdopen(reader) as lines:
            for line in lines:
                done += 1
                yield line.rstrip("\n")
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            done += 1
            yield died
        elif status != 0:
            raise RuntimeError(f"{items[done]}: the recording process failed")


def record_matrix(frontend: Frontend, matrix: Matrix) -> dict[str, Any]:
    """Outcome of every combination: a legend, and one string of letters per row."""

    def outcome(combination: tuple[str, ...]) -> str:
        result = observe_triton(frontend, kernel_text(matrix, [combination]))
        if isinstance(result, tuple):
            return outcome_text(matrix, combination, result)
        return REFUSED if isinstance(result, Refusal) else ACCIDENT

    legend: dict[str, str] = {REFUSED: ".", ACCIDENT: "!"}
    combinations = [(*row, column) for row in matrix.rows() for column in matrix.columns]
    letters = [
        legend.setdefault(text, LETTERS[len(legend) - 2])
        for text in in_child(outcome, combinations, ACCIDENT)
    ]
    width = len(matrix.columns)
    rows = {
        " ; ".join(row): "".join(letters[i * width : (i + 1) * width]) for i, row in enumerate(matrix.rows())
    }
    return {"columns": list(matrix.columns), "legend": {v: k for k, v in legend.items()}, "rows": rows}


def record_matrices(frontend: Frontend, matrices: tuple[Matrix, ...]) -> dict[str, Any]:
    """All results of one file of matrices."""
    results = {}
    for matrix in matrices:
        started = time.perf_counter()
        results[matrix.name] = record_matrix(frontend, matrix)
        print(f"{matrix.name}: {time.perf_counter() - started:.1f} s", file=sys.stderr)
    return results


def record_case(frontend: Frontend, case: Case) -> str:
    """What Triton does with one case, as JSON: printed lines, or error, fault and blamed lines."""
    result = observe_triton(frontend, case.kernel)
    if result is None:
        return json.dumps({"accident": True})
    if isinstance(result, Refusal):
        return json.dumps({"refused": f"{result.error} {result.fault}", "lines": list(result.lines)})
    return json.dumps({"prints": list(result)})


def complaint(case: Case, record: dict[str, Any]) -> str | None:
    """Why the case's own header contradicts what Triton does, or None."""
    if "either" in case.header:
        return None
    if "prints" not in record:
        return None if case.header.keys() & {"refused", "extended"} else f"Triton refuses it: {record}"
    if case.header.keys() & {"refused", "extended"}:
        return f"Triton accepts it: {record['prints']}"
    if "differs" in case.header and case.expected == tuple(record["prints"]):
        return "Triton does just the same"
    return None if record["prints"] or "differs" in case.header else "nothing is shown"


def record_cases(frontend: Frontend) -> dict[str, Any]:
    """All hand-written cases. Contradictions with their headers are printed and end the recording."""
    cases = load_cases()
    lines = in_child(
        lambda case: record_case(frontend, case), list(cases.values()), json.dumps({"accident": True})
    )
    records = {name: json.loads(line) for name, line in zip(cases, lines, strict=True)}
    bad = [f"{name}: {text}" for name, case in cases.items() if (text := complaint(case, records[name]))]
    if bad:
        raise SystemExit("\n".join(bad))
    return records


def record_values(frontend: Frontend) -> dict[str, Any]:
    """The value cases with their expected arrays; Triton's interpreter must agree where it is to be trusted."""
    checked = subprocess.run(
        [sys.executable, str(Path(__file__).parent / "value_check.py")], capture_output=True
    )
    if checked.returncode:
        raise SystemExit(checked.stdout.decode() + checked.stderr.decode())
    from value_check import ALL

    return {case.name: case.json() for case in ALL}


FILES: dict[str, Callable[[Frontend], dict[str, Any]]] = {
    "binary_types.json": lambda frontend: record_matrices(frontend, BINARY),
    "op_types.json": lambda frontend: record_matrices(frontend, OPS),
    "library_types.json": lambda frontend: record_matrices(frontend, LIBRARY),
    "cases.json": record_cases,
    "values.json": record_values,
}


def render(result: dict[str, Any]) -> str:
    """JSON with one line for each value two levels down: compact, and readable as a diff."""
    parts = []
    for key, value in result.items():
        inner = [f"  {json.dumps(k)}: {json.dumps(v, ensure_ascii=False)}" for k, v in value.items()]
        parts.append(f"{json.dumps(key)}: {{\n" + ",\n".join(inner) + "\n}")
    return "{\n" + ",\n".join(parts) + "\n}\n"


def differences(path: str, old: Any, new: Any) -> Iterator[str]:
    """Where two recorded values differ, one line each."""
    if isinstance(old, dict) and isinstance(new, dict):
        for key in sorted(old.keys() | new.keys()):
            yield from differences(f"{path}/{key}", old.get(key), new.get(key))
    elif old != new:
        yield f"{path}: recorded {old!r}, Triton now gives {new!r}"


def print_texts(frontend: Frontend) -> None:
    """Triton's own message for every refused case, for reading; none of it is kept."""
    for name, case in load_cases().items():
        if case.header.keys() & {"refused", "extended"}:
            with quiet_stderr():
                result = observe_triton(frontend, case.kernel)
            print(f"--- {name}\n{result.text if isinstance(result, Refusal) else result}")


def main() -> int:
    """Write the data files, or with --verify compare them with a fresh recording."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--verify", action="store_true", help="compare with the recorded data, write nothing")
    parser.add_argument("--texts", action="store_true", help="print Triton's messages for the refused cases")
    parser.add_argument("files", nargs="*", default=[], help=f"of {', '.join(FILES)}; default all")
    arguments = parser.parse_args()
    frontend = triton_frontend()
    if arguments.texts:
        print_texts(frontend)
        return 0
    found = 0
    for name in arguments.files or FILES:
        with quiet_stderr():
            result = FILES[name](frontend)
        if arguments.verify:
            for line in differences(name, json.loads((DATA / name).read_text()), result):
                print(line)
                found += 1
        else:
            (DATA / name).write_text(render(result))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
