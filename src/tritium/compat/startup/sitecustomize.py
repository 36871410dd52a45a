"""Runs at the start of child processes of ``tritium run``: makes ``import triton`` mean Tritium there too.

This folder is put in front of PYTHONPATH for the children, which is how Python finds this file. Another
``sitecustomize`` that this one hides is run after it.
"""

import importlib.util
import os
import sys

from tritium.compat.lazy import install_lazily

_here = os.path.dirname(os.path.abspath(__file__))


def _run_hidden() -> None:
    for folder in sys.path:
        candidate = os.path.join(folder or ".", "sitecustomize.py")
        if os.path.abspath(folder or ".") != _here and os.path.isfile(candidate):
            spec = importlib.util.spec_from_file_location("sitecustomize", candidate)
            if spec is not None and spec.loader is not None:
                spec.loader.exec_module(importlib.util.module_from_spec(spec))
            return


install_lazily()
_run_hidden()
