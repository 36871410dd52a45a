"""The reference interpreter: executes tile IR of any stage over a grid, on host memory, with NumPy.

Many program instances run together as leading axes of the arrays (`batch`), control flow splits them where they part
(`diverge`, `loops`), memory is checked before it is touched (`memory`, `access`, `atomics`), and kernels whose
instances wait for each other run under a fair scheduler (`scheduler`).
"""

from tritium.backends.interp.launch import run_grid
from tritium.backends.interp.memory import Memory
from tritium.backends.interp.options import Options
from tritium.backends.interp.program import Program

__all__ = ["Memory", "Options", "Program", "run_grid"]
