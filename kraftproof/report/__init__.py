"""What a person or a CI server reads of a run: report.html, report.md and junit.xml."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from kraftproof.runner import RunResult

__all__ = ("write_reports",)


def write_reports(result: "RunResult", diagram: str = "") -> None:
    """Write all into the run's directory; a diagram shows the last moments of a simulated run.

    Explanations of invalid keys go into their own folder, and the page leads to them.
    """
    # Imported when needed: the page of an analysis is here too, and knows no clusters or clients.
    from kraftproof.explanations import explain_run
    from kraftproof.report.junit import write_junit
    from kraftproof.report.markdown import write_markdown
    from kraftproof.report.page import Report, around_findings, write_page
    from kraftproof.report.run_view import read_view

    explanations = [] if result.check is None else explain_run(result.directory, result.check)
    view = read_view(result.directory, result.findings)
    report = Report(
        view=view,
        verdict=result.verdict,
        why=result.why,
        check=result.check,
        figures=result.figures,
        explanations=explanations,
        diagram=diagram,
        arounds=around_findings(view, result.check),
    )
    write_page(report)
    write_markdown(report)
    write_junit(report)
