"""Logs as NVRTC 13.0 wrote them, and what is read from them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tritium.backends.cuda.logs import ADVICE, ERROR, WARNING, Message, located, parse_log, parse_usage

FRONT_END = """\
k.py(33): error: identifier "undefined_thing" is undefined
   if(i<n) x[i]=undefined_thing + other; }
                ^

add.cu(12): warning #550-D: variable "s" was set but never used
   int i=blockIdx.x*128+threadIdx.x; __shared__ float s[256];
                                                      ^

Remark: The warnings can be suppressed with "-diag-suppress <warning-number>"

/home/me/my (1) files/k.py(7): catastrophic error: cannot open source file "x.h"

2 errors detected in the compilation of "<kernel add>".
"""

ASSEMBLER = """\
ptxas info    : 0 bytes gmem
ptxas application ptx input, line 47; error   : Unknown modifier '.bar'
ptxas application ptx input, line 52; warning : Something that might matter
ptxas info    : (C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to a call
ptxas warning : Value of threads per SM for entry k is out of range
 ptxas error   : Entry function 'add' uses too much shared data (0x19000 bytes, 0xc000 max)
ptxas fatal   : Ptx assembly aborted due to errors
nvrtc: error: invalid value for --gpu-architecture (-arch)
"""

USAGE = """\
ptxas info    : 0 bytes gmem
ptxas info    : Compiling entry function 'other' for 'sm_80'
ptxas info    : Function properties for other
ptxas         .     8 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads
ptxas info    : Used 10 registers, used 0 barriers, 372 bytes cmem[0]
ptxas info    : Compiling entry function 'k' for 'sm_90a'
ptxas info    : Function properties for k
ptxas         .     1832 bytes stack frame, 2752 bytes spill stores, 2972 bytes spill loads
ptxas info    : Used 64 registers, used 1 barriers, 1832 bytes cumulative stack size, 1024 bytes smem, 364 bytes cmem[0]
ptxas info    : Compile time = 224.636 ms
"""


def test_messages_of_the_front_end() -> None:
    assert parse_log(FRONT_END) == (
        Message(
            ERROR,
            'identifier "undefined_thing" is undefined',
            "k.py",
            33,
            excerpt="if(i<n) x[i]=undefined_thing + other; }",
        ),
        Message(
            WARNING,
            'variable "s" was set but never used',
            "add.cu",
            12,
            excerpt="int i=blockIdx.x*128+threadIdx.x; __shared__ float s[256];",
        ),
        Message(ERROR, 'cannot open source file "x.h"', "/home/me/my (1) files/k.py", 7),
    )


def test_messages_of_the_assembler() -> None:
    assert parse_log(ASSEMBLER) == (
        Message(ERROR, "Unknown modifier '.bar'", ptx_line=47, assembler=True),
        Message(WARNING, "Something that might matter", ptx_line=52, assembler=True),
        Message(
            ADVICE,
            "(C7510) Potential Performance Loss: wgmma.mma_async instructions are serialized due to a call",
            assembler=True,
        ),
        Message(WARNING, "Value of threads per SM for entry k is out of range", assembler=True),
        Message(
            ERROR,
            "Entry function 'add' uses too much shared data (0x19000 bytes, 0xc000 max)",
            assembler=True,
        ),
        Message(ERROR, "invalid value for --gpu-architecture (-arch)"),
    )


def test_a_log_without_news_gives_nothing() -> None:
    assert parse_log("") == parse_log("\0") == parse_log(USAGE) == ()


def test_usage_is_that_of_the_kernel_asked_for() -> None:
    found = parse_usage(USAGE, "k")
    assert found is not None
    assert (found.registers, found.barriers, found.shared) == (64, 1, 1024)
    assert (found.stack, found.spill_stores, found.spill_loads) == (1832, 2752, 2972)
    other = parse_usage(USAGE, "other")
    assert other is not None
    assert (other.registers, other.barriers, other.shared, other.stack) == (10, 0, 0, 8)
    assert parse_usage(USAGE, "absent") is None


PTX = """\
.visible .entry add()
{
	.loc	1 12 0
	mov.u32 	%r1, %tid.x;
	.loc	2 33 2, function_name $L1, inlined_at 1 12 5
	// begin inline asm
	foo.bar.b32 %r1, 1;
	.loc	1 0 0
	bar.baz;
}
	.file	1 "/home/me/k.py"
	.file	2 "/home/me/other \\"k\\".py"
"""


def test_lines_of_ptx_become_lines_of_the_kernel() -> None:
    messages = [
        Message(ERROR, "a", ptx_line=7),
        Message(ERROR, "b", ptx_line=4),
        Message(ERROR, "c", ptx_line=1),
    ]
    a, b, c = located(messages, PTX)
    assert (a.file, a.line, a.excerpt) == ('/home/me/other \\"k\\".py', 33, "foo.bar.b32 %r1, 1;")
    assert (b.file, b.line) == ("/home/me/k.py", 12)
    assert (c.file, c.line) == ("", 0)
    (zero,) = located([Message(ERROR, "d", ptx_line=9)], PTX)
    assert zero.line == 33, "line 0 means generated code, and the last line before it counts"


def test_messages_that_have_a_place_keep_it() -> None:
    message = Message(ERROR, "a", "k.py", 5, ptx_line=7)
    assert located([message], PTX) == (message,)
    (beyond,) = located([Message(ERROR, "a", ptx_line=999)], PTX)
    assert beyond.excerpt == ""


@pytest.mark.parametrize("text, columns", [("    x = 1  \n", (4, 9)), ("\n", (0, 0))])
def test_a_place_covers_the_line_of_the_kernel(tmp_path: Path, text: str, columns: tuple[int, int]) -> None:
    file = tmp_path / "k.py"
    file.write_text(text)
    loc = Message(ERROR, "a", str(file), 1).loc("kernel", "kernel.cu")
    assert loc is not None and (loc.line, loc.col, loc.end_col, loc.function) == (1, *columns, "kernel")


def test_lines_of_generated_text_are_no_place_of_the_kernel() -> None:
    assert Message(ERROR, "a", "kernel.cu", 5).loc("kernel", "kernel.cu") is None
    assert Message(ERROR, "a").loc("kernel", "kernel.cu") is None
