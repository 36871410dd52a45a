"""TRI0733 to TRI0739 and TRI0750 to TRI0759: NVIDIA GPUs, their driver and their compiler."""

from tritium.errors.codes.entry import Entry
from tritium.errors.exceptions import (
    ArgumentError,
    CompilationError,
    LaunchError,
    OutOfResources,
    PTXASError,
)

ENTRIES: tuple[Entry, ...] = (
    Entry(
        code="TRI0733",
        cls=ArgumentError,
        title="arguments on different GPUs",
        message="argument `{name}` is on {got}, and `{other}` is on {expected}",
        explanation="""
A kernel runs on one GPU, the one that holds its arguments, and reads the memory of that GPU. One argument lies on
another GPU than the arguments before it.
""",
        hint='move it with {name}.to("{expected}")',
    ),
    Entry(
        code="TRI0734",
        cls=OutOfResources,
        title="a kernel needs more of a resource than the device has",
        message="out of resource: {name} (required: {required}, hardware limit: {limit})",
        explanation="""
A program instance runs on one block of threads, 32 for each warp. Threads per block, shared memory, where tiles
that threads exchange and operands loaded ahead lie, and registers, where values in progress lie, are limited per
block. Each stage of a pipelined loop has its own copy of its operands. While tuning, a configuration that does not
fit is left out.
""",
        hint="use smaller blocks, fewer stages (num_stages) or fewer warps (num_warps)",
    ),
    Entry(
        code="TRI0737",
        cls=LaunchError,
        title="a package for CUDA is missing",
        message="{name} is needed for CUDA, and {problem}",
        explanation="""
Kernels for NVIDIA GPUs are compiled by NVRTC and launched through cuda-bindings, two packages that pip installs;
no CUDA toolkit and no C compiler are needed. `tritium doctor` shows what is there.
""",
        hint="pip install {packages}",
    ),
    Entry(
        code="TRI0738",
        cls=LaunchError,
        title="the NVIDIA driver is missing or too old",
        message="kernels cannot run on a GPU here: {problem}",
        explanation="""
Running a kernel on a GPU needs NVIDIA's driver, and one that is not older than the compiler: code from NVRTC 13
needs driver 580 or newer. Compiling needs no driver: `tritium compile` works without.
""",
        hint="{remedy}",
    ),
    Entry(
        code="TRI0739",
        cls=LaunchError,
        title="the GPU reported an error",
        message="the GPU reported {problem} when `{function}` was launched",
        explanation="""
The GPU works behind the program, so an error that a kernel causes is reported by a later call. An illegal
address, a failed assertion and their like end the program's use of this GPU: every later call reports the same.
The kernel named is the one whose launch found out, and it or one launched before it is the cause.
""",
        hint="run with TRITIUM_BACKEND=interpret, which names the line, or with CUDA_LAUNCH_BLOCKING=1",
    ),
    Entry(
        code="TRI0750",
        cls=CompilationError,
        title="the CUDA compiler refused generated code",
        message="the CUDA compiler refused the code generated for `{function}`: {problem}",
        explanation="""
Kernels become CUDA C++ before they become machine code. Code that does not compile is a fault of Tritium, unless
the kernel brings its own code, as `tl.inline_asm_elementwise` does. The generated line is quoted below the message.
""",
        hint="report it with the kernel; TRITIUM_SPECIALIZE=none may avoid it",
    ),
    Entry(
        code="TRI0751",
        cls=PTXASError,
        title="the GPU assembler refused generated code",
        message="the GPU assembler refused the code of `{function}`: {problem}",
        explanation="""
The assembler turns PTX, the virtual instructions that the compiler produced, into machine code. It refuses
instructions that do not exist or that this GPU does not have; most of them come from inline assembly in the kernel.
""",
        hint="check the text of inline assembly on this line; without any, report it with the kernel",
    ),
    Entry(
        code="TRI0752",
        cls=ArgumentError,
        title="an unknown GPU architecture",
        message="`{name}` is no architecture that the installed compiler knows",
        explanation="""
Architectures are written sm_ and the compute capability of the GPU without its dot; sm_90a, sm_100a and their
like have instructions that run on exactly that GPU.
""",
        hint="use one of {expected}",
    ),
    Entry(
        code="TRI0753",
        cls=LaunchError,
        title="machine code for another GPU",
        message="`{function}` was compiled for {expected}, and {device} is {got}",
        explanation="""
Machine code runs on GPUs of the same major compute capability and an equal or higher minor one; that of sm_90a
and other architectures with a letter runs on exactly one.
""",
        hint="leave out the option arch, or set it to {got}",
    ),
)
