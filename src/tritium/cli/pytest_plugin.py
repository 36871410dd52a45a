"""``pytest --tritium-check``: every kernel launch of a test run is checked, and a test in which something is found fails.

``import triton`` is answered by Tritium for the run, as under ``tritium check``, so the tests of an existing project need no
change. Arrays that fixtures allocate count as allocated by the test that needs them first.
"""

from __future__ import annotations

from collections.abc import Generator
from typing import Any

import pytest

_TOTALS = pytest.StashKey[dict[str, int]]()
_SESSION = pytest.StashKey[Any]()  # a `tritium.sanitizer.session.Session`, which loads only for checked runs


def pytest_addoption(parser: pytest.Parser) -> None:
    group = parser.getgroup("tritium", "kernels checked by Tritium")
    group.addoption(
        "--tritium-check", action="store_true", help="check every kernel launch; findings fail the test"
    )
    group.addoption(
        "--tritium-enable", action="append", default=[], metavar="KIND", help="look for an opt-in kind too"
    )
    group.addoption("--tritium-disable", action="append", default=[], metavar="KIND", help="leave a kind out")
    group.addoption(
        "--tritium-suppressions",
        action="append",
        default=[],
        metavar="FILE",
        help="findings to leave out, and why",
    )


def pytest_configure(config: pytest.Config) -> None:
    if not config.getoption("--tritium-check"):
        return
    from tritium.compat import install
    from tritium.sanitizer.suppressions import Suppressions

    try:
        rules = Suppressions.read(config.getoption("--tritium-suppressions") or [])
    except Exception as error:
        raise pytest.UsageError(str(error)) from None
    install()
    config.stash[_TOTALS] = {"tests": 0, "launches": 0}
    config.pluginmanager.register(_Checks(config, rules), "tritium-check")


class _Checks:
    """The hooks of a checked run."""

    def __init__(self, config: pytest.Config, suppressions: Any) -> None:
        self.config = config
        self.suppressions = suppressions

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, Any, Any]:
        from tritium.sanitizer.checked import checking
        from tritium.sanitizer.session import Session

        enable, disable = (_kinds(self.config, f"--tritium-{name}") for name in ("enable", "disable"))
        session = Session(enable=enable, disable=disable, suppressions=self.suppressions)
        item.stash[_SESSION] = session
        with checking(session):
            return (yield)

    @pytest.hookimpl(wrapper=True)
    def pytest_runtest_call(self, item: pytest.Item) -> Generator[None, Any, Any]:
        from tritium.sanitizer.report import text_of

        session = item.stash[_SESSION]
        failed = True
        try:
            result = yield
            failed = False
        finally:
            session.finish()
            totals = self.config.stash[_TOTALS]
            totals["tests"] += bool(session.findings)
            totals["launches"] += session.launches
            if failed and session.findings:
                item.add_report_section("call", "tritium check", text_of(session))
        if session.findings:
            pytest.fail(text_of(session), pytrace=False)
        return result

    def pytest_terminal_summary(self, terminalreporter: Any) -> None:
        totals = self.config.stash[_TOTALS]
        tests, launches = totals["tests"], totals["launches"]
        terminalreporter.write_line(
            f"tritium check: findings in {tests} test{'s' if tests != 1 else ''}, {launches} launches checked"
        )


def _kinds(config: pytest.Config, option: str) -> list[str]:
    given: list[str] = config.getoption(option) or []
    return [kind.strip() for text in given for kind in text.split(",")]
