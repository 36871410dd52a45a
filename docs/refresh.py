"""Run the commands that the pages show, and write their output back: `python docs/refresh.py PAGE...`.

A block of kind `console` whose first line is `$ tritium ...` holds a command and what it prints. A test runs them all,
so the pages cannot go stale. Blocks of other kinds are left alone.
"""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
_BLOCK = re.compile(r"^```console\n\$ (?P<command>tritium .*)\n(?P<output>(?:.*\n)*?)```$", re.MULTILINE)


def output_of(command: str) -> str:
    """What `tritium ...` prints, run in the project's root."""
    arguments = [sys.executable, "-m", "tritium", *shlex.split(command)[1:]]
    environment = {**os.environ, "PYTHONPATH": str(ROOT / "src"), "NO_COLOR": "1", "COLUMNS": "100"}
    done = subprocess.run(arguments, cwd=ROOT, env=environment, capture_output=True, text=True)
    lines = (done.stdout + done.stderr).splitlines()
    if any("tritium/cli/main.py" in line for line in lines):
        raise SystemExit(f"{command} failed inside Tritium; the page is left alone:\n" + "\n".join(lines))
    return "".join(f"{line.rstrip()}\n" for line in lines)


def refreshed(page: str) -> str:
    """The text of a page with the output of every command as it is now."""
    return _BLOCK.sub(lambda m: f"```console\n$ {m['command']}\n{output_of(m['command'])}```", page)


if __name__ == "__main__":
    for name in sys.argv[1:]:
        path = Path(name)
        path.write_text(refreshed(path.read_text(encoding="utf-8")), encoding="utf-8")
