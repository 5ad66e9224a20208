"""What a person or a CI server reads of a run: report.html, report.md and junit.xml."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraftproof.checkers.verdict import RunVerdict
    from kraftproof.run.directory import RunDirectory

__all__ = ("write_reports",)


def write_reports(directory: "RunDirectory", check: "RunVerdict", diagram: str = "") -> None:
    """Write all reports into a run's directory, of what is kept there and the verdict alone.

    Explanations of invalid keys go into their own folder, and the page leads to them.

    Args:
        directory: the run's.
        check: the verdict on it.
        diagram: the last moments of a simulated run.
    """
    # Imported when needed: the page of an analysis is here too, and knows no clusters or clients.
    from kraftproof.report.around import events_around
    from kraftproof.report.explanations import explain_run
    from kraftproof.report.junit import write_junit
    from kraftproof.report.markdown import write_markdown
    from kraftproof.report.page import Report, write_page
    from kraftproof.report.run_view import read_view

    view = read_view(directory, check.findings)
    report = Report(
        view=view,
        check=check,
        explanations=explain_run(directory, check),
        diagram=diagram,
        arounds=events_around(view, check.findings),
    )
    write_page(report)
    write_markdown(report)
    write_junit(report)
