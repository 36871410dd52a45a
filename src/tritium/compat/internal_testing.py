"""``triton._internal_testing``: what Triton's tests, and tests modelled on them, take from it.

Needs pytest, as Triton's module does; PyTorch only where a function makes or takes tensors.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from numpy.random import RandomState

from tritium import config, knobs
from tritium.ir.types import DType
from tritium.language.core import str_to_ty
from tritium.runtime.arrays import TensorWrapper, reinterpret
from tritium.runtime.driver import driver
from tritium.runtime.type_names import type_canonicalisation_dict

int_dtypes = ["int8", "int16", "int32", "int64"]
uint_dtypes = ["uint8", "uint16", "uint32", "uint64"]
integral_dtypes = int_dtypes + uint_dtypes
float_dtypes = ["float16", "float32", "float64"]
float_dtypes_with_bfloat16 = [*float_dtypes, "bfloat16"]
dtypes = integral_dtypes + float_dtypes
dtypes_with_bfloat16 = [*dtypes, "bfloat16"]
torch_float8_dtypes = ["float8_e4m3fn", "float8_e5m2"]
torch_dtypes = ["bool", *int_dtypes, "uint8", *float_dtypes, "bfloat16"]
tma_dtypes = sorted(set(dtypes_with_bfloat16) - {"int64", "uint64", "float64"})


def is_interpreter() -> bool:
    """Whether TRITON_INTERPRET is on."""
    return bool(config.get("triton_interpret"))


def get_current_target() -> Any:
    """The active driver's target, None on the interpreter."""
    return None if is_interpreter() else driver.active.get_current_target()


def get_arch() -> str:
    """The target's architecture as text, "" on the interpreter."""
    target = get_current_target()
    return "" if target is None else str(target.arch)


def _backend_is(name: str, holds: Callable[[int], bool] = lambda arch: True) -> bool:
    target = get_current_target()
    return target is not None and target.backend == name and holds(int(target.arch))


def is_cuda() -> bool:
    return _backend_is("cuda")


def is_ampere_or_newer() -> bool:
    return _backend_is("cuda", lambda arch: arch >= 80)


def is_hopper_or_newer() -> bool:
    return _backend_is("cuda", lambda arch: arch >= 90)


def is_hopper() -> bool:
    return _backend_is("cuda", lambda arch: arch // 10 == 9)


def is_blackwell() -> bool:
    return _backend_is("cuda", lambda arch: arch // 10 == 10)


def is_sm12x() -> bool:
    return _backend_is("cuda", lambda arch: arch // 10 == 12)


def is_hip() -> bool:
    """Never: Tritium does not compile for AMD GPUs."""
    return False


is_hip_cdna = is_hip_cdna2 = is_hip_cdna3 = is_hip_cdna4 = is_hip
is_hip_gfx11 = is_hip_gfx12 = is_hip_gfx1250 = is_xpu = is_hip


def get_hip_lds_size() -> int:
    """Bytes of local memory of an AMD GPU."""
    return 65536


def supports_tma(byval_only: bool = False) -> bool:
    """Whether tensor descriptors can be used: on the host always, and on GPUs from Hopper on."""
    return not is_cuda() or is_hopper_or_newer()


def supports_ws() -> bool:
    """Whether warp specialisation means anything: on the interpreter it is only a hint."""
    return is_interpreter() or is_hopper_or_newer()


def tma_skip_msg(byval_only: bool = False) -> str:
    """Why a test that needs tensor descriptors is skipped."""
    return "needs tensor memory access, which GPUs have from Hopper on"


requires_tma = pytest.mark.skipif(not supports_tma(), reason=tma_skip_msg())


def numpy_random(
    shape: Any, dtype_str: str, rs: RandomState | None = None, low: Any = None, high: Any = None
) -> np.ndarray[Any, Any]:
    """Random numbers: integers over their whole range but without 0, normal floats, fair booleans.

    8-bit floats are given by their bits (int8, 20 to 39), bfloat16 as float32 numbers that it holds.
    """
    rs = RandomState(seed=17) if rs is None else rs
    shape = (shape,) if isinstance(shape, int) else shape
    if dtype_str in integral_dtypes:
        info = np.iinfo(dtype_str)
        low = info.min if low is None else max(low, info.min)
        high = info.max if high is None else min(high, info.max)
        x: Any = rs.randint(low, high, shape, dtype=np.dtype(dtype_str).type)  # type: ignore[call-overload]
        x[x == 0] = 1
        return x
    if "float8" in dtype_str:
        return rs.randint(20, 40, shape, dtype=np.int8)
    normal = rs.normal(0, 1, shape)
    if dtype_str in float_dtypes:
        return normal.astype(dtype_str)
    if dtype_str == "bfloat16":
        bits = normal.astype(np.float32).view(np.uint32) & np.uint32(0xFFFF0000)
        return bits.view(np.float32)
    if dtype_str in ("bool", "int1", "bool_"):
        return normal > 0.0
    raise RuntimeError(f"there is no dtype {dtype_str}")


def to_triton(x: np.ndarray[Any, Any], device: Any, dst_type: str | None = None) -> Any:
    """`x` as a tensor of dtype `dst_type` on `device`; types that PyTorch lacks are reinterpreted."""
    import torch

    name = x.dtype.name
    if name in uint_dtypes:
        return reinterpret(torch.tensor(x.astype(name.lstrip("u")), device=device), str_to_ty(_short(name)))
    if dst_type is not None and "float8" in dst_type:
        return reinterpret(torch.tensor(x, device=device), str_to_ty(_short(dst_type)))
    made = torch.tensor(x, device=device)
    return made.bfloat16() if name == "float32" and dst_type == "bfloat16" else made


def _short(name: str) -> str:
    return type_canonicalisation_dict[name]


def str_to_triton_dtype(x: str) -> Any:
    """The language's type of that name."""
    return str_to_ty(_short(x))


def torch_dtype_name(dtype: Any) -> str:
    """The name of a dtype of the language or of PyTorch. TypeError for anything else."""
    if isinstance(dtype, DType):
        return dtype.name
    if type(dtype).__module__ == "torch" and type(dtype).__name__ == "dtype":
        return str(dtype).removeprefix("torch.")
    raise TypeError(f"{type(dtype).__name__} is no dtype of the language or of PyTorch")


def to_numpy(x: Any) -> np.ndarray[Any, Any]:
    """The elements of a tensor; bfloat16 as float32. ValueError for anything else."""
    if isinstance(x, TensorWrapper):
        name = torch_dtype_name(x.dtype)
        return x.base.cpu().numpy().astype(name)
    if not hasattr(x, "cpu"):
        raise ValueError(f"a {type(x).__name__} is no tensor")
    return x.cpu().float().numpy() if "bfloat16" in str(x.dtype) else x.cpu().numpy()


def unwrap_tensor(t: Any) -> Any:
    """The tensor under a reinterpretation."""
    return t.base if isinstance(t, TensorWrapper) else t


def default_alloc_fn(size: int, align: int, _: Any) -> Any:
    """An allocator: bytes on the active device."""
    import torch

    return torch.empty(size, dtype=torch.int8, device=driver.active.get_active_torch_device())


def _fresh_knobs_impl(  # pyright: ignore[reportUnusedFunction]
    skipped_attr: set[str] | None = None,
) -> tuple[Callable[[], Any], Callable[[], None]]:
    """Two functions: one gives `knobs` with nothing assigned and no variable set, the other undoes that."""
    skipped = skipped_attr or set()
    groups: dict[str, Any] = {
        name: group
        for name, group in vars(knobs).items()
        if isinstance(group, knobs.base_knobs) and name not in skipped
    }
    keys = [knob.key for group in groups.values() for knob in group.knob_descriptors.values()]
    texts = {key: config.environment(key) for key in keys}
    propagating = knobs.propagate_env

    def fresh() -> Any:
        for name, group in groups.items():
            setattr(knobs, name, group.copy().reset())
        for key in keys:
            config.set_environment(key, None)
        knobs.propagate_env = True
        return knobs

    def undo() -> None:
        for name, group in groups.items():
            setattr(knobs, name, group)
        for key, text in texts.items():
            config.set_environment(key, text)
        knobs.propagate_env = propagating

    return fresh, undo
