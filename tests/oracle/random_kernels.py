"""Random small kernels that print the type of everything they compute."""

from __future__ import annotations

import random

from language.observe import KernelText

_DTYPES = ("i1", "i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64", "fp16", "bf16", "fp32", "fp64")
_TL = (
    "int1",
    "int8",
    "int16",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "float16",
    "bfloat16",
)
_LITERALS = ("0", "1", "-1", "3", "200", "70000", "5000000000", "0.5", "-2.0", "1e300", "True")
_BINARY = ("+", "-", "*", "/", "//", "%", "&", "|", "^", "<<", ">>", "<", "==", "!=")
_CALLS = (
    *(
        "tl.maximum({a}, {b})",
        "tl.where({c}, {a}, {b})",
        "tl.minimum({a}, {b})",
        "tl.sum({a})",
        "tl.max({a})",
    ),
    *(
        "tl.cumsum({a}, 0)",
        "{c}.to(tl.{t})",
        "tl.cast({a}, tl.{t})",
        "tl.abs({a})",
        "{c}[:, None]",
        "tl.exp({a})",
    ),
    *("tl.join({a}, {b})", "tl.broadcast_to({a}, (8,))", "tl.reshape({a}, (2, 4))", "tl.fma({a}, {b}, {a})"),
    *(
        "-{a}",
        "~{a}",
        "not {a}",
        "{a} and {b}",
        "{a} if {c} else {b}",
        "tl.cdiv({a}, {b})",
        "tl.argmax({a}, 0)",
    ),
)


class _Writer:
    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.signature: dict[str, str] = {}
        self.lines: list[str] = []
        self.names: list[str] = []

    def operand(self) -> str:
        return self.random.choice([*self.names, *self.names, self.random.choice(_LITERALS)])

    def expression(self) -> str:
        a, b, c = self.operand(), self.operand(), self.random.choice(self.names)
        if self.random.random() < 0.5:
            return f"{a} {self.random.choice(_BINARY)} {b}"
        target = self.random.choice((*_TL, "float32", "float64"))
        return self.random.choice(_CALLS).format(a=a, b=b, c=c, t=target)

    def load(self, index: int) -> None:
        name, dtype = f"v{index}", self.random.choice(_DTYPES)
        self.signature[f"p{index}"] = f"*{dtype}"
        tile = " + tl.arange(0, 8)" if self.random.random() < 0.7 else ""
        self.lines.append(f"{name} = tl.load(p{index}{tile})")
        self.names.append(name)

    def assign(self, index: int, indent: str = "") -> None:
        name = f"r{index}"
        self.lines.append(f"{indent}{name} = {self.expression()}")
        if not indent:
            self.lines.append(f"show({name})")
            self.names.append(name)

    def block(self, index: int) -> None:
        """A loop or a branch that changes a value that exists."""
        victim = self.random.choice(self.names)
        head = self.random.choice(["for i in range(n):", "if n > 0:"])
        self.lines += [head, f"    {victim} = {self.expression()}", f"show({victim})"]


def kernel(seed: int) -> KernelText:
    """The kernel of this seed: two or three loads, then one to four statements."""
    writer = _Writer(seed)
    for index in range(writer.random.randint(2, 3)):
        writer.load(index)
    for index in range(writer.random.randint(1, 4)):
        writer.block(index) if writer.random.random() < 0.2 else writer.assign(index)
    writer.signature["n"] = "i32"
    body = "\n".join(f"    {line}" for line in writer.lines)
    source = f"@triton.jit\ndef kernel({', '.join(writer.signature)}):\n{body}\n"
    return KernelText(source, writer.signature, {})
