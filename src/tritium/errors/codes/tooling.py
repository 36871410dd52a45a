"""TRI09: the command line, textual IR, knobs and checks of the compiler itself."""

from tritium.errors.codes.entry import Entry
from tritium.errors.exceptions import ArgumentError, CompilationError, LaunchError, TritiumError

ENTRIES: tuple[Entry, ...] = (
    Entry(
        code="TRI0901",
        cls=CompilationError,
        title="text that is not tile IR",
        message="this is not valid tile IR: {problem}",
        explanation="""
Textual IR is read back by `tritium ir`, by overrides of a stage and by the tests. The place named is
where reading stopped.
""",
        hint="compare with the output of `tritium ir FILE::KERNEL`",
    ),
    Entry(
        code="TRI0902",
        cls=ArgumentError,
        title="an unknown stage",
        message="the target {target} has no stage `{name}`",
        explanation="""
`tritium stages` lists the stages of each target in order, with what each leaves behind.
""",
        hint="use one of {expected}",
    ),
    Entry(
        code="TRI0903",
        cls=ArgumentError,
        title="a file has no such kernel",
        message="{file} has no kernel `{name}`",
        explanation="""
FILE::KERNEL names a function with `@triton.jit` that exists once the file has been imported. A similar
name that does exist is suggested.
""",
        hint="use one of {expected}",
    ),
    Entry(
        code="TRI0904",
        cls=TritiumError,
        title="the compiler's own check failed",
        message="after {stage} the IR is not valid: {problem}",
        explanation="""
The verifier runs after every pass. This is a fault of Tritium, not of the kernel: please report it with
the kernel and this message.
""",
        hint="report the case; until it is mended, try TRITIUM_SPECIALIZE=none",
    ),
    Entry(
        code="TRI0905",
        cls=ArgumentError,
        title="the types of a kernel's arguments are not known",
        message="nothing says which types the arguments of `{function}` have",
        explanation="""
A kernel is compiled for the types of its arguments. They are taken from the first launch when the file is
run, or from `--signature`.
""",
        hint="give --signature, for example --signature '*fp32, i32, BLOCK=64'",
    ),
    Entry(
        code="TRI0906",
        cls=ArgumentError,
        title="a signature that cannot be read",
        message="`{text}` is not a signature of `{function}`: {problem}",
        explanation="""
A signature has one type for each parameter (*fp32 is a pointer to fp32, i32 an integer) and NAME=VALUE
for compile-time parameters.
""",
        hint="write for example '*fp32, i32, BLOCK=64'; the parameters are {signature}",
    ),
    Entry(
        code="TRI0907",
        cls=ArgumentError,
        title="a setting with a value it cannot have",
        message="{name} cannot be {got}",
        explanation="""
Settings come from environment variables and from `tritium.config.override`. Each has a type and, some of
them, a list of values; the reference of settings has them all.
""",
        hint="use {expected}",
        broken='from tritium import config\n\nwith config.override(verify="sometimes"):\n    pass\n',
        mended='from tritium import config\n\nwith config.override(verify="total"):\n    pass\n',
    ),
    Entry(
        code="TRI0908",
        cls=LaunchError,
        title="a required specialisation did not apply",
        message="the specialisation `{name}` was required, and it did not apply to `{function}`",
        explanation="""
TRITIUM_REQUIRE and `--require` turn the absence of a specialisation into an error, so that a measurement
cannot run on the general code by accident. The reason it did not apply follows the message.
""",
        hint="see `tritium explain` for every reason, or lift the requirement",
    ),
    Entry(
        code="TRI0909",
        cls=ArgumentError,
        title="a target that is not FILE::KERNEL",
        message="`{text}` does not name a kernel",
        explanation="""
Commands that work on one kernel take FILE::KERNEL: a Python file and the name of a kernel in it.
""",
        hint="write script.py::kernel_name",
    ),
    Entry(
        code="TRI0910",
        cls=LaunchError,
        title="a part of Triton that Tritium does not have",
        message="{name} is not part of Tritium",
        explanation="""
Tritium runs programs in the Triton language. Parts of Triton's package that belong to its own compiler
have no counterpart here, and the message says what to use instead.
""",
        hint="{alternative}",
    ),
    Entry(
        code="TRI0911",
        cls=ArgumentError,
        title="an unknown setting",
        message="there is no setting `{name}`",
        explanation="Settings are declared in one place and documented in the reference of settings.",
        hint="use one of {expected}",
        broken='from tritium import config\n\nwith config.override(verfy="total"):\n    pass\n',
        mended='from tritium import config\n\nwith config.override(verify="total"):\n    pass\n',
    ),
    Entry(
        code="TRI0912",
        cls=CompilationError,
        title="a fault of the compiler itself, found while it read a kernel",
        message="the compiler failed at this place of the kernel: {problem}",
        explanation="""
Something in the kernel leads the compiler's front end into a case that it does not handle. This is a fault of
Tritium, not of the kernel; the underlying exception is the `__cause__`. Please report it with the kernel.
""",
        hint="report it, with the kernel",
    ),
    Entry(
        code="TRI0921",
        cls=ArgumentError,
        title="a suppression of findings that cannot be read",
        message="this suppression cannot be read: {text}: {problem}",
        explanation="""
`tritium check` leaves findings out where a comment `# tritium: allow[KIND] reason` or a line
`KIND WHERE # reason` of a suppressions file says so. The kinds are those of the reference of findings.
""",
        hint="write `# tritium: allow[KIND] reason` in the kernel, or `KIND KERNEL # reason` in the file",
    ),
    Entry(
        code="TRI0922",
        cls=ArgumentError,
        title="a suppression of findings without a reason",
        message="this suppression gives no reason: {text}",
        explanation="""
Whoever reads a suppression later must be able to judge whether it still holds, so one without a reason is refused.
""",
        hint="say after it why the finding is no fault",
    ),
    Entry(
        code="TRI0923",
        cls=ArgumentError,
        title="an option of `tritium check` that cannot be read",
        message="{option} cannot be {got}",
        explanation="""
`--assume NAME=VALUE` takes the name of a kernel's integer argument and the value to assume for it, such as
`rows=3e6`. `--enable` and `--disable` take kinds of findings.
""",
        hint="expected {expected}",
    ),
)
