"""Answer for Triton, line by line: a kernel as JSON in, what Triton makes of it as JSON out."""

from __future__ import annotations

import json
import sys
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parents[1]), str(Path(__file__).parent)]

from frontend import triton_frontend  # noqa: E402
from language.observe import KernelText, Refusal  # noqa: E402
from record import observe_triton, quiet_stderr  # noqa: E402


def main() -> None:
    """Serve until the input ends. A kernel that makes Triton abort ends the process: the client starts another."""
    frontend = triton_frontend()
    for line in sys.stdin:
        request = json.loads(line)
        with quiet_stderr():
            result = observe_triton(frontend, KernelText(**request))
        answer: dict[str, object] = {"prints": result}
        if isinstance(result, Refusal):
            answer = {"refused": result.text, "fault": result.fault}
        print(json.dumps({"accident": True} if result is None else answer), flush=True)


if __name__ == "__main__":
    main()
