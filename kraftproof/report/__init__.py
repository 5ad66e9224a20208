"""What a person or a CI server reads of a run: report.html and junit.xml."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraftproof.runner import RunResult

__all__ = ("write_reports",)


def write_reports(result: "RunResult", diagram: str = "") -> None:
    """Write both into the run's directory; a diagram shows the last moments of a simulated run.

    Explanations of invalid keys go into their own folder, and the page leads to them.
    """
    # Imported when needed: the page of an analysis is here too, and knows no clusters or clients.
    from kraftproof.explanations import explain_run
    from kraftproof.report.junit import write_junit
    from kraftproof.report.page import write_page

    explanations = explain_run(result.directory, result.check)
    write_page(result, diagram, explanations)
    write_junit(result)
