"""What a person or a CI server reads of a run: report.html and junit.xml."""

from kraftproof.report.junit import write_junit
from kraftproof.report.page import write_page
from kraftproof.runner import RunResult

__all__ = ("write_reports",)


def write_reports(result: RunResult, diagram: str = "") -> None:
    """Write both into the run's directory; a diagram shows the last moments of a simulated run."""
    write_page(result, diagram)
    write_junit(result)
