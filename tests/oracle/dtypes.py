"""Record what Triton says of its scalar types: ``python tests/oracle/dtypes.py > tests/language/data/dtypes.json``."""

from __future__ import annotations

import json

import triton.language as tl

NAMES = (
    *("int1", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *(
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "float8e5",
        "float8e5b16",
        "float8e4nv",
        "float8e4b8",
        "float8e4b15",
    ),
    "void",
)
QUESTIONS = (
    *(
        "is_floating",
        "is_int",
        "is_int_signed",
        "is_int_unsigned",
        "is_bool",
        "is_fp16",
        "is_bf16",
        "is_fp32",
        "is_fp64",
    ),
    *(
        "is_fp8",
        "is_fp8e4nv",
        "is_fp8e5",
        "is_fp8e4b15",
        "is_fp8e4b8",
        "is_fp8e5b16",
        "is_int1",
        "is_int8",
        "is_int16",
    ),
    *(
        "is_int32",
        "is_int64",
        "is_uint8",
        "is_uint16",
        "is_uint32",
        "is_uint64",
        "is_ptr",
        "is_block",
    ),
    *("is_standard_floating", "is_const", "mangle"),
)
FACTS = ("name", "primitive_bitwidth", "itemsize", "fp_mantissa_width", "exponent_bias")


def record() -> dict[str, dict[str, object]]:
    """For every type what each question answers, and each fact that it has."""
    out: dict[str, dict[str, object]] = {}
    for name in NAMES:
        ty = getattr(tl, name)
        answers: dict[str, object] = {"str": str(ty), "repr": repr(ty)}
        for question in QUESTIONS:
            try:
                answers[question] = getattr(ty, question)()
            except (NotImplementedError, RuntimeError):
                continue
        answers |= {fact: getattr(ty, fact) for fact in FACTS if hasattr(ty, fact)}
        out[name] = answers
    return out


if __name__ == "__main__":
    lines = (f"{json.dumps(name)}: {json.dumps(answers)}" for name, answers in record().items())
    print("{\n" + ",\n".join(lines) + "\n}")
