"""Each failure by name at once: the end of a stage of an hour, and its summary, are far away."""

import pytest


class NamesFailures:
    """A plug-in that prints a line for each failed test when the test has failed."""

    def __init__(self, terminal: pytest.TerminalReporter) -> None:
        self._terminal = terminal

    @pytest.hookimpl(trylast=True)
    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        """Print the name of a failed test; add the phase if set-up or tear-down failed."""
        if report.failed:
            phase = "" if report.when == "call" else f" ({report.when})"
            self._terminal.write(f"\nfailed: {report.nodeid}{phase}\n")
