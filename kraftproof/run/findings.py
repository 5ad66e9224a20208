"""Describe the findings that no key explains, with the states of the nodes at the time.

The diagram is the simulator's diagram in the run directory, or a table of node states made from the
traces of the nodes.
"""

from pathlib import Path
from typing import Final

from kraftproof.checkers.explain.run import explainable
from kraftproof.checkers.explain.text.node_states import node_states
from kraftproof.checkers.history.tables import read_table
from kraftproof.checkers.verdict import Finding, FindingKind, RunVerdict
from kraftproof.run.directory import RunDirectory

DIAGRAM_FILE: Final = "diagram.txt"
HEADING_LINES: Final = 4
LINES_SHOWN: Final = 40


def unexplained(run: RunVerdict) -> list[Finding]:
    """Return the findings that no minimal sub-history of a key explains."""
    keys = {finding.key for finding in explainable(run)}
    unsafe = [one for one in run.findings if one.kind is FindingKind.SAFETY]
    return [one for one in unsafe if one.key is None or one.key not in keys]


def in_words(finding: Finding) -> str:
    """Return the check of a finding and its sentence, which names the place and the time."""
    return f"{finding.check}: {finding.sentence}"


def last_moments(run: Path, finding: Finding) -> str:
    """Return a diagram of the events before a finding; empty if the run has no diagram."""
    drawn = run / DIAGRAM_FILE
    if drawn.is_file():
        lines = drawn.read_text(encoding="utf-8").splitlines()
        heading, rest = lines[:HEADING_LINES], lines[HEADING_LINES:]
        return "\n".join([*heading, *rest[-LINES_SHOWN:]]) + "\n"
    trace = read_table(RunDirectory(path=run).tables, "trace") if run.is_dir() else None
    return "" if trace is None else node_states(trace, finding.time_ns)
