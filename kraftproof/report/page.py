"""Writes report.html: one file that needs nothing else, not even a network."""

import json

from jinja2 import Environment, PackageLoader, StrictUndefined

from kraftproof.report.charts import charts
from kraftproof.report.context import contexts
from kraftproof.runner import RunResult

COLOURS = {
    "kill": "#e05252",
    "kill-all": "#b3261e",
    "pause": "#e0a030",
    "restart": "#7a6ff0",
    "partition": "#2f8fd8",
    "clock": "#2aa876",
    "lose-unsynced": "#c2428f",
    "disk-full": "#a06a3c",
    "disk-error": "#a06a3c",
    "slow-disk": "#c9a27e",
    "wipe": "#6d4320",
    "loss": "#7fb8e6",
    "reset": "#7fb8e6",
    "stall": "#7fb8e6",
    "clock-strobe": "#2aa876",
    "drift": "#1c7a54",
}
OTHER_COLOUR = "#8a8f98"


def write_page(result: RunResult, diagram: str = "") -> None:
    """Write the report of a run into its directory."""
    environment = Environment(
        loader=PackageLoader("kraftproof.report"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    run = result.directory.read_run()
    faults = () if result.run is None else result.run.faults
    started_ns = 0 if result.run is None else result.run.started_ns
    page = environment.get_template("report.html.j2").render(
        result=result,
        run=run,
        options=sorted(run["options"].items()),
        check=result.check,
        figures=result.figures,
        charts=None if result.run is None else charts(result.run),
        contexts=contexts(result.findings, result.directory.history, faults, started_ns),
        faults=faults,
        started_ns=started_ns,
        diagram=diagram,
        colour=lambda kind: COLOURS.get(kind, OTHER_COLOUR),
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
