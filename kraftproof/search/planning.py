"""Plan the runs of a search: those of an option, or those that execute the edited code."""

from dataclasses import replace
from typing import Final

from kraftproof.mutants.profile.edits import edits_of_file, edits_of_tree
from kraftproof.mutants.profile.executed import plan
from kraftproof.mutants.run_order import PlannedRun
from kraftproof.output import print_line
from kraftproof.search.scenario_sources import PlannedRuns, Seeds

MOST_NAMED: Final = 3
"""Number of edited functions that the output names."""


def of_runs(drawn: Seeds, runs: str, workload: str | None) -> PlannedRuns:
    """Return the runs of `--runs`; the workload is that of the runs without one.

    Raises:
        UsageError: a text is no run.
    """
    planned = tuple(map(PlannedRun.of, runs.split(",")))
    return PlannedRuns(runs=planned, seeds=replace(drawn, workload=workload))


def of_edits(drawn: Seeds, first: int) -> PlannedRuns | None:
    """Return the runs that execute the edited code, and then the seeds; None without an edit.

    The edited code is what differs from the last commit, or the edits of a mutant's file. One line
    says so.
    """
    edits = edits_of_tree() if drawn.mutant is None else edits_of_file(drawn.mutant)
    runs = plan(edits, drawn.time_limit_s) if edits else []
    if not runs:
        return None
    names = list(dict.fromkeys(f"{module} {name}".strip() for module, name in edits))
    more = f" and {len(names) - MOST_NAMED} more" if len(names) > MOST_NAMED else ""
    print_line(
        f"edited: {', '.join(names[:MOST_NAMED])}{more}; {len(runs)} runs that execute it come "
        f"first, then the seeds from {first} on (--no-plan leaves the runs out)"
    )
    return PlannedRuns(runs=tuple(runs), seeds=replace(drawn, workload=None), then=first)
