"""Reports of a run for people and CI servers: report.html, report.md and junit.xml."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraftproof.checkers.verdict import RunVerdict
    from kraftproof.run.directory import RunDirectory

__all__ = ("write_reports",)


def write_reports(directory: "RunDirectory", check: "RunVerdict", diagram: str = "") -> None:
    """Write all reports into a run directory, from the files of the directory and the verdict.

    The explanations of invalid keys go into a subfolder, and the page links to them.

    Args:
        directory: The run directory.
        check: The verdict on the run.
        diagram: The last events of a simulated run.
    """
    # Imported late: the page of an analysis shares this package, and needs no clusters or clients.
    from kraftproof.report.around import events_around
    from kraftproof.report.explanations import explain_run
    from kraftproof.report.junit import write_junit
    from kraftproof.report.markdown import write_markdown
    from kraftproof.report.order_picture import order_views_of
    from kraftproof.report.page import Report, write_page
    from kraftproof.report.run_view import read_view

    view = read_view(directory, check.findings)
    report = Report(
        view=view,
        check=check,
        explanations=explain_run(directory, check),
        orders=order_views_of(directory, check),
        diagram=diagram,
        arounds=events_around(view, check.findings),
    )
    write_page(report)
    write_markdown(report)
    write_junit(report)
