# Written by `python -m tritium.language.stubs`; do not edit.
from typing import Any

from tritium.language.core import tensor
from tritium.language.extra.cuda import libdevice as libdevice

def convert_custom_float8_sm70(
    arg: Any,
    dst_ty: Any,
    fp_downcast_rounding: Any = None,
) -> tensor:
    """The same as convert_custom_float8_sm80, under its name for older GPUs.

    >>> tl.extra.cuda.convert_custom_float8_sm70(tl.full((2,), 0.3, tl.float16), tl.float8e4b15)
    [0.3125, 0.3125]"""

def convert_custom_float8_sm80(
    arg: Any,
    dst_ty: Any,
    fp_downcast_rounding: Any = None,
) -> tensor:
    """`arg` converted from or to fp8e4b15, the 8-bit float that NVIDIA GPUs convert in software; the same as tl.cast.

    >>> tl.extra.cuda.convert_custom_float8_sm80(tl.full((2,), 0.3, tl.float16), tl.float8e4b15)
    [0.3125, 0.3125]"""

def gdc_launch_dependents() -> None:
    """Let the next launch start before this one is done.

    >>> tl.extra.cuda.gdc_launch_dependents()"""

def gdc_wait() -> None:
    """Orders this launch and its neighbours in the stream, where they may overlap (programmatic dependent launch).

    `action` "wait" waits until the launches before have written everything; "launch" lets the next one start early.
    Launches that never overlap, as away from a GPU, need neither.

    >>> tl.extra.cuda.gdc_wait()"""

def globaltimer() -> tensor:
    """A clock in nanoseconds, int64; only differences mean something.

    >>> tl.extra.cuda.globaltimer() > 0
    True"""

def num_threads() -> Any:
    """The threads per program instance that the kernel is launched with, known at compile time.

    >>> tl.extra.cuda.num_threads()
    128"""

def num_warps() -> Any:
    """The warps per program instance that the kernel is launched with, known at compile time.

    >>> tl.extra.cuda.num_warps()
    4"""

def smid() -> tensor:
    """The special `register` of the device at this moment: "globaltimer" (nanoseconds) or "smid" (the multiprocessor).

    Away from a GPU the timer is the clock of the process and the multiprocessor is number 0.

    >>> tl.extra.cuda.smid()
    0"""
