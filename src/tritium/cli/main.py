"""``tritium``: the command line's entry point. Verbs live in files of their own and load only when used."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer
import typer.core

from tritium import __version__
from tritium.errors import TritiumError

app = typer.Typer(
    name="tritium",
    help="A compiler for the Triton language: run, inspect and explain kernels without a GPU.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)
_PASS_ON: dict[str, Any] = {
    "allow_extra_args": True,
    "ignore_unknown_options": True,
    "allow_interspersed_args": False,
}
BackendOption = Annotated[
    str | None, typer.Option("--backend", "-b", help="interpret, cpu or cuda; by default the data decides.")
]
SignatureOption = Annotated[
    str | None,
    typer.Option("--signature", "-s", help='Types by parameter, such as "*fp32:16, *fp32, i32, BLOCK=128".'),
]


_TAKE_A_VALUE = (
    *("--backend", "-b", "--trace", "--sarif", "--assume", "--enable", "--disable", "--suppressions"),
)


class RunCommand(typer.core.TyperCommand):
    """``run`` ends its own options where Python does: what follows -m MODULE or -c CODE belongs to the program."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        for i, arg in enumerate(args):
            if arg in ("-m", "-c"):
                return super().parse_args(ctx, [*args[: i + 2], "--", *args[i + 2 :]])
            if arg[:2] in ("-m", "-c"):
                return super().parse_args(ctx, [*args[:i], arg[:2], arg[2:], "--", *args[i + 1 :]])
            takes_it = i > 0 and args[i - 1] in _TAKE_A_VALUE
            if not takes_it and (not arg.startswith("-") or arg in ("-", "--")):
                break
        return super().parse_args(ctx, args)


def _version(show: bool) -> None:
    if show:
        typer.echo(f"tritium {__version__}")
        raise typer.Exit


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    pass


@app.command(cls=RunCommand, context_settings=_PASS_ON)
def run(
    context: typer.Context,
    backend: BackendOption = None,
    trace: Annotated[
        list[str] | None,
        typer.Option("--trace", metavar="LINE", help="Print the values of this kernel line as it runs."),
    ] = None,
    module: Annotated[str | None, typer.Option("-m", metavar="MODULE", help="Run a module.")] = None,
    code: Annotated[str | None, typer.Option("-c", metavar="CODE", help="Run code given as text.")] = None,
) -> None:
    """Run a Triton program unmodified: SCRIPT [ARGS]..., - [ARGS]..., -m MODULE [ARGS]... or -c CODE [ARGS]..."""
    from tritium.cli import run as verb

    verb.run(context.args, backend=backend, trace=trace or [], module=module, code=code)


@app.command(cls=RunCommand, context_settings=_PASS_ON)
def check(
    context: typer.Context,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON, and nothing else.")] = False,
    sarif: Annotated[
        Path | None, typer.Option("--sarif", metavar="FILE", help="Write the findings as SARIF besides.")
    ] = None,
    assume: Annotated[
        list[str] | None,
        typer.Option(
            "--assume",
            metavar="NAME=VALUE",
            help="Prove that no int32 offset wraps when this argument is that large.",
        ),
    ] = None,
    enable: Annotated[
        list[str] | None, typer.Option("--enable", metavar="KIND", help="Look for an opt-in kind as well.")
    ] = None,
    disable: Annotated[
        list[str] | None, typer.Option("--disable", metavar="KIND", help="Leave a kind of finding out.")
    ] = None,
    suppressions: Annotated[
        list[str] | None,
        typer.Option("--suppressions", metavar="FILE", help="Findings to leave out, and why."),
    ] = None,
    module: Annotated[str | None, typer.Option("-m", metavar="MODULE", help="Run a module.")] = None,
    code: Annotated[str | None, typer.Option("-c", metavar="CODE", help="Run code given as text.")] = None,
) -> None:
    """Run a Triton program with every launch checked, without a GPU; status 1 if something is found."""
    from tritium.cli import check as verb

    status = verb.check(
        context.args,
        module=module,
        code=code,
        as_json=json,
        sarif=sarif,
        assume=assume or [],
        enable=enable or [],
        disable=disable or [],
        suppressions=suppressions or [],
    )
    raise typer.Exit(status)


@app.command()
def ir(
    target: Annotated[str, typer.Argument(metavar="FILE::KERNEL")],
    stage: Annotated[str, typer.Option(help="Stage to print; `tritium stages` lists them.")] = "opt.tir",
    signature: SignatureOption = None,
    locs: Annotated[bool, typer.Option("--locs", help="Show source locations.")] = False,
    start: Annotated[
        str | None,
        typer.Option(
            "--from", metavar="STAGE=FILE", help="Take a stage's text from a file and go on from there."
        ),
    ] = None,
) -> None:
    """Print a kernel at one stage of the compiler."""
    from tritium.cli import ir as verb

    verb.ir(target, stage, signature, locs, start)


@app.command()
def explain(
    target: Annotated[str, typer.Argument(metavar="FILE::KERNEL")],
    text: Annotated[bool, typer.Option("--text", help="Plain text (what is printed without --json).")] = True,
    signature: SignatureOption = None,
    backend: Annotated[
        str | None,
        typer.Option("--backend", "-b", help="interpret or cpu: whose stages and plans are shown."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="The same as JSON.")] = False,
) -> None:
    """Explain how a kernel is compiled: stages, memory accesses, plans and why others did not apply."""
    from tritium.cli import explain as verb

    verb.explain(target, signature, as_json=json, backend=backend)


@app.command()
def stages(
    target: Annotated[str | None, typer.Argument(help="Only this target.")] = None,
) -> None:
    """List the compiler's stages per target, in order."""
    from tritium.cli import stages as verb

    verb.stages(target)


@app.command(name="compile")
def compile_command(
    target: Annotated[str, typer.Argument(metavar="FILE::KERNEL")],
    arch: Annotated[
        str, typer.Option("--target", "-t", help="GPU architecture (sm_80, sm_90a, sm_100), or cpu.")
    ],
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="DIR", help="Where the files go.")
    ] = Path(),
    signature: SignatureOption = None,
    option: Annotated[
        list[str] | None,
        typer.Option("--option", metavar="NAME=VALUE", help="A launch option, such as num_warps=8."),
    ] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the report as JSON.")] = False,
) -> None:
    """Compile a kernel to machine code: .cu, .ptx, .cubin, .json for a GPU, which need not be here; .ll, .s, .o for cpu."""
    from tritium.cli import compile as verb

    verb.compile_to(target, arch, output, signature, option or [], as_json=json)


@app.command()
def cache(
    action: Annotated[str, typer.Argument(help="list, size, path or clear.")] = "list",
    json: Annotated[bool, typer.Option("--json", help="The same as JSON.")] = False,
) -> None:
    """Show or clear the compiled kernels on disk."""
    from tritium.cli import cache as verb

    verb.cache(action, as_json=json)


@app.command()
def doctor(json: Annotated[bool, typer.Option("--json", help="The same as JSON.")] = False) -> None:
    """Say what works on this machine, what is missing, and the command that mends it."""
    from tritium.cli import doctor as verb

    raise typer.Exit(verb.doctor(as_json=json))


def main() -> None:
    """Run the command line. A user's mistake ends in its message and status 1, without a traceback."""
    try:
        app()
    except TritiumError as error:
        print(error, file=sys.stderr)
        sys.exit(1)


if __name__ == "__main__":
    main()
