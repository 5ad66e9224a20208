"""Writes report.html: one file that needs nothing else, not even a network."""

import json
from collections.abc import Sequence

from kraftproof.explanations import Written
from kraftproof.report.charts import charts
from kraftproof.report.colours import colour_of
from kraftproof.report.context import contexts
from kraftproof.report.environment import template
from kraftproof.runner import RunResult


def write_page(result: RunResult, diagram: str = "", explanations: Sequence[Written] = ()) -> None:
    """Write the report of a run into its directory, with links to the pictures that explain it."""
    run = result.directory.read_run()
    faults = () if result.run is None else result.run.faults
    started_ns = 0 if result.run is None else result.run.started_ns
    page = template("report.html.j2").render(
        result=result,
        run=run,
        options=sorted(run["options"].items()),
        check=result.check,
        figures=result.figures,
        charts=None if result.run is None else charts(result.run),
        contexts=contexts(result.findings, result.directory.history, faults, started_ns),
        explanations=explanations,
        faults=faults,
        started_ns=started_ns,
        diagram=diagram,
        colour=colour_of,
        as_text=_as_text,
    )
    result.directory.report.write_text(page, encoding="utf-8")


def _as_text(value: object) -> str:
    """Text as it stands, lists with commas, anything else as JSON."""
    if isinstance(value, str):
        return value
    if isinstance(value, list):
        return ", ".join(_as_text(one) for one in value)
    return json.dumps(value)
