"""Write report.html: a single file that works without a network."""

import json
from collections.abc import Sequence
from dataclasses import dataclass, field

from kraftproof.checkers.findings import fault_text, moment_text
from kraftproof.checkers.logs.around import OrderView
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import Finding, FindingKind, RunVerdict, Verdict
from kraftproof.report.around import Around
from kraftproof.report.charts import charts
from kraftproof.report.colours import colour_of, dark_style, style
from kraftproof.report.environment import template
from kraftproof.report.explanations import Written
from kraftproof.report.next_steps import Step, cut_outputs, files_of, next_steps
from kraftproof.report.order_picture import svg_of
from kraftproof.report.run_view import RunView

FINDINGS_SHOWN = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The content of the pages of a run.

    Attributes:
        view: The data of the run directory.
        check: The verdict on the run.
        explanations: The explanations of invalid keys.
        orders: The records around the first findings on partitions.
        diagram: The last events of a simulated run; empty for live runs.
        arounds: The events around the first findings.
    """

    view: RunView
    check: RunVerdict
    explanations: Sequence[Written] = ()
    orders: Sequence[OrderView] = ()
    diagram: str = ""
    arounds: Sequence[Around] = field(default=())

    @property
    def verdict(self) -> Verdict:
        """The verdict on the run."""
        return self.check.verdict

    @property
    def why(self) -> Sequence[str]:
        """A sentence per finding, mishap and unmet guard."""
        return self.check.why

    @property
    def findings(self) -> Sequence[Finding]:
        """The findings, most severe first."""
        return self.check.findings

    @property
    def first(self) -> Finding | None:
        """The finding of the first screen."""
        unsafe = [one for one in self.findings if one.kind is FindingKind.SAFETY]
        return next(iter([*unsafe, *self.findings]), None)

    @property
    def steps(self) -> list[Step]:
        """The commands for the next steps."""
        return next_steps(self.view, is_invalid=self.verdict is Verdict.INVALID)

    @property
    def files(self) -> list[str]:
        """The files of the finding's node, or of all nodes."""
        node = None if self.first is None else self.first.node
        return [str(path) for path in files_of(self.view, node)]

    @property
    def cut_outputs(self) -> list[str]:
        """A sentence for each node whose output was cut."""
        return cut_outputs(self.view)


def write_page(report: Report) -> None:
    """Write the report of a run into its directory, with links to the pictures of explanations."""
    view = report.view
    page = template("report.html.j2").render(
        report=report,
        run=view.run,
        nodes=view.nodes,
        options=sorted(view.options.items()),
        check=report.check,
        figures=report.check.figures,
        charts=charts(view, report.findings) if view.operations or view.faults else None,
        faults=view.faults,
        colour=colour_of,
        colours=f"{style()}\n{dark_style()}",
        as_text=_as_text,
        at=moment_text,
        fault_text=fault_text,
        order_svg=svg_of,
        shortened=shortened,
        said={f"{one.check}: {one.sentence}" for one in report.findings},
        findings_shown=FINDINGS_SHOWN,
    )
    view.directory.report.write_text(page, encoding="utf-8")


def _as_text(value: object) -> str:
    """Return a text unchanged, a list joined by commas, and other values as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(_as_text(one) for one in value)
    return json.dumps(value)
