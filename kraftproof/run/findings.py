"""Says in words which findings of a run are about no key, and shows how the nodes stood.

The diagram is the one that the simulator left in the run's directory, or else a table of the nodes'
states that is made of their traces.
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
    """Return the broken promises that no minimal sub-history of a key explains."""
    keys = {finding.key for finding in explainable(run)}
    unsafe = [one for one in run.findings if one.kind is FindingKind.SAFETY]
    return [one for one in unsafe if one.key is None or one.key not in keys]


def in_words(finding: Finding) -> str:
    """Return which check a finding is of, and its sentence, which says where and when."""
    return f"{finding.check}: {finding.sentence}"


def last_moments(run: Path, finding: Finding) -> str:
    """Return a diagram of the moments before a finding; empty if the run has left none."""
    drawn = run / DIAGRAM_FILE
    if drawn.is_file():
        lines = drawn.read_text(encoding="utf-8").splitlines()
        heading, rest = lines[:HEADING_LINES], lines[HEADING_LINES:]
        return "\n".join([*heading, *rest[-LINES_SHOWN:]]) + "\n"
    trace = read_table(RunDirectory(path=run).tables, "trace") if run.is_dir() else None
    return "" if trace is None else node_states(trace, finding.time_ns)
