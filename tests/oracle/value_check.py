"""Run value cases with Triton: on a GPU, or in Triton's interpreter where that agrees with its compiler."""

from __future__ import annotations

import argparse
import linecache
import math
import os
import sys
from collections.abc import Iterator
from typing import Any

import torch
from values import arithmetic, beyond, casts, dots, flow, library, memory, structures, tiles
from values.model import Array, ValueCase, from_tensor

ALL: tuple[ValueCase, ...] = tuple(
    case
    for module in (arithmetic, casts, tiles, dots, memory, structures, flow, library, beyond)
    for case in module.CASES
)

# Where Triton's own interpreter deviates from its compiled code; these were checked on a GPU.
_DEVIATIONS = {
    "~ of an unsigned value raises": "integer_arithmetic_uint8 integer_arithmetic_uint16 integer_arithmetic_uint32 "
    "integer_arithmetic_uint64",
    "bf16 is treated as raw bits, or cut off instead of rounded": "bf16_arithmetic float_comparisons_bf16 "
    "float_arithmetic_bf16 dot_bf16 half_and_brain fp32_narrowed",
    "NaN is kept where compiled code drops it": "minima_fp16 minima_bf16 minima_fp32 minima_fp64 clamp",
    "fma rounds twice": "math_exact",
    "8-bit floats have no NaN or infinity and round otherwise": "fp8e5_widened fp8e5_narrowed fp8e4nv_widened "
    "fp8e4nv_narrowed fp8e4nv_widened_to_bf16 fp8e5_saturates fp8e4nv_saturates",
    "raises": "store_converts narrow_sums_wrap_in_int32 atomic_xchg_float scalar_arguments int1_arithmetic",
    "is missing": "descriptor_atomic_add map_elementwise dot_scaled_e5m2_e5m2 dot_scaled_e4m3_e4m3 "
    "dot_scaled_e2m1_e2m1 dot_scaled_e2m1_bf16",
    "libdevice is missing": "libdevice_exact libdevice_predicates libdevice_close libdevice_bits",
}
NEWER_GPU = {"descriptor_gather"}  # its instruction exists from compute capability 10.0 on
DEVIATES = {name for names in _DEVIATIONS.values() for name in names.split()}


def run(case: ValueCase, device: str) -> dict[str, Array]:
    """Launch the case's kernel with torch tensors on `device`; the arrays it leaves behind."""
    import triton
    import triton.language as tl

    filename = f"<value-case-{case.name}>"
    linecache.cache[filename] = (len(case.source), None, case.source.splitlines(True), filename)
    namespace: dict[str, Any] = {"triton": triton, "tl": tl, "__name__": "value_case"}
    exec(compile(case.source, filename, "exec"), namespace)
    tensors = {k: v.tensor().to(device) if isinstance(v, Array) else v for k, v in case.arguments.items()}
    if device == "cuda":  # descriptors made in a kernel need memory for it
        triton.set_allocator(
            lambda size, alignment, stream: torch.empty(size, dtype=torch.int8, device=device)
        )
    namespace["kernel"][case.grid](**tensors, **case.constexprs)
    return {key: from_tensor(want.dtype, tensors[key]) for key, want in case.expected.items()}


def same(wanted: Any, got: Any, rtol: float) -> bool:
    """Equal, both NaN, or within `rtol`; where `rtol` is 0 the sign of a zero counts too."""
    if isinstance(wanted, float):
        if math.isnan(wanted):
            return math.isnan(got)
        if rtol and math.isfinite(wanted):
            return math.isclose(wanted, got, rel_tol=rtol, abs_tol=rtol * 1e-2)
        return wanted == got and math.copysign(1, wanted) == math.copysign(1, got)
    return wanted == got


def disagreements(case: ValueCase, got: dict[str, Array]) -> Iterator[str]:
    """Where the kernel's arrays differ from the expected ones, at most four per array."""
    for key, want in case.expected.items():
        wrong = [
            f"{case.name} {key}[{i}]: expected {w!r}, got {g!r}"
            for i, (w, g) in enumerate(zip(want.data, got[key].data, strict=True))
            if not same(w, g, case.rtol)
        ]
        yield from wrong[:4]


def check(device: str, interpreter: bool) -> Iterator[str]:
    """Disagreements over all cases that Triton accepts and, for its interpreter, those it gets right."""
    for case in ALL:
        if case.extended or case.name in (DEVIATES if interpreter else NEWER_GPU):
            continue
        try:
            yield from disagreements(case, run(case, device))
        except Exception as error:  # any failure of one case must not hide the others
            yield f"{case.name}: {type(error).__name__}: {str(error)[-300:]}"


def main() -> int:
    """Print disagreements; exit status 1 when there are any."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--device", choices=("cpu", "cuda"), default="cpu", help="cpu is Triton's interpreter"
    )
    device = parser.parse_args().device
    if device == "cpu":
        os.environ["TRITON_INTERPRET"] = "1"  # read when triton is imported, which is later
    found = list(check(device, device == "cpu"))
    print("\n".join(found))
    return 1 if found else 0


if __name__ == "__main__":
    sys.exit(main())
