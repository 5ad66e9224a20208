"""Write report.md: a page of Markdown about a run, for an issue tracker."""

from collections.abc import Iterator

from kraftproof.checkers.findings import fault_text, moment_text
from kraftproof.checkers.text import shortened
from kraftproof.checkers.verdict import Finding
from kraftproof.report.around import Around, Event
from kraftproof.report.page import Report

LOG_LINES = 12
MOST_FAULTS = 40
MOST_WHY = 12
_STANDS_FOR = {"|": "\\|", "`": "'", "\n": " ", "<": "&lt;"}


def write_markdown(report: Report) -> None:
    """Write the page into the run's directory."""
    text = "\n".join([*_head(report), *_finding(report), *_versions(report), *_schedule(report)])
    report.view.directory.markdown.write_text(text + "\n", encoding="utf-8")


def _head(report: Report) -> Iterator[str]:
    run, options = report.view.run, report.view.options
    mutant = f", mutant {run['mutant']}" if run.get("mutant") else ""
    yield f"# {report.verdict.value}: {run['workload']['name']} on {options['backend']}"
    yield ""
    yield (
        f"{report.view.nodes} of"
        f" {run['system']}, seed {options['seed']}{mutant}, started {run['started']}"
    )
    yield ""
    for sentence in report.why[:MOST_WHY]:
        yield f"- {_escaped(sentence)}"
    if len(report.why) > MOST_WHY:
        yield f"- and {len(report.why) - MOST_WHY} more"
    if not report.why:
        yield "- every check passed, and every guard is met"
    yield ""
    yield "```"
    yield from (f"{step.command}    # {step.purpose}" for step in report.steps)
    yield "```"
    cut = report.cut_outputs
    if cut:
        yield from ("", *(f"- {sentence}" for sentence in cut))


def _finding(report: Report) -> Iterator[str]:
    """Yield the lines about the first finding: its time, the sub-history, and the node's steps."""
    first = report.first
    if first is None:
        return
    yield from ("", "## The moment", "")
    yield from _fields(first)
    around = next((one for one in report.arounds if one.finding is first), None)
    words = _words(report, first)
    if words:
        yield from ("", "## The sub-history", "", "```", *words, "```")
    elif around is not None:
        recorded = [event for event in around.events if event.kind == "operation"]
        if recorded:
            yield from ("", "## The operations around it", "", *_table(recorded))
    yield from _log(first, around)


def _fields(finding: Finding) -> Iterator[str]:
    yield f"- check: {finding.check}"
    if finding.time_ns is not None:
        yield f"- at: {moment_text(finding.time_ns)} of the run"
    for name, value in (("node", finding.node), ("key", finding.key)):
        if value is not None:
            yield f"- {name}: {_escaped(shortened(value))}"
    if finding.operation_index is not None:
        events = " and ".join(map(str, finding.events))
        yield f"- operation: {finding.operation_index} (events {events} of the history)"
    for fault in finding.faults:
        yield f"- fault {fault.name}: {_escaped(fault_text(fault))}"


def _words(report: Report, finding: Finding) -> list[str]:
    """Return the explanation of the finding's key, as lines."""
    explained = [one.explanation for one in report.explanations]
    found = next((one for one in explained if one.key == finding.key), None)
    return [] if found is None else found.words.replace("```", "'''").splitlines()


def _log(finding: Finding, around: Around | None) -> Iterator[str]:
    steps = [] if around is None else around.steps[-LOG_LINES:]
    if not steps:
        return
    yield from ("", f"## What node {finding.node} reported around it", "", "```")
    yield from (f"{event.at}  {event.what}" for event in steps)
    yield "```"


def _table(events: list[Event]) -> Iterator[str]:
    yield "| | time | who | what | outcome |"
    yield "|---|---|---|---|---|"
    for one in events:
        mark = "→" if one.is_named else ""
        what = _escaped(f"{one.operation}: {one.what}")
        yield f"| {mark} | {one.at} | {_escaped(one.who)} | {what} | {one.status} |"


def _versions(report: Report) -> Iterator[str]:
    run = report.view.run
    host = run.get("host", {})
    yield from ("", "## Versions", "")
    yield f"- kraftproof {run['kraftproof']}, Python {run['python']}"
    yield "- " + ", ".join(f"{name} {one}" for name, one in run.get("versions", {}).items())
    yield f"- {host.get('system')} {host.get('kernel')}, {host.get('machine')}"


def _schedule(report: Report) -> Iterator[str]:
    yield from ("", "## Schedule", "")
    spans = report.view.spans
    if not spans:
        yield "No fault was applied."
        return
    yield "| fault | kind | target | from | until |"
    yield "|---|---|---|---|---|"
    for span in spans[:MOST_FAULTS]:
        until = "not healed" if span.end is None else moment_text(span.end)
        row = f"| {span.name} | {span.kind} | {_escaped(span.target)}"
        yield f"{row} | {moment_text(span.start)} | {until} |"
    if len(spans) > MOST_FAULTS:
        yield f"\nand {len(spans) - MOST_FAULTS} more"


def _escaped(text: str) -> str:
    """Return a text with escapes for all Markdown characters."""
    return "".join(_STANDS_FOR.get(one, one) for one in text)
