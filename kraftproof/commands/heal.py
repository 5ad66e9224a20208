"""`kraftproof heal`: undoes what a run whose harness is dead has left broken."""

from pathlib import Path
from typing import Annotated

import typer

from kraftproof.output import say


def heal(
    run: Annotated[Path, typer.Argument(help="The run's directory.")],
) -> None:
    """Undo the faults of a run whose harness is dead: its nodes, links and clocks go with it.

    [bold]kraftproof heal store/20261121T160938-docker-topics-seed7[/]
    Removes what dead harnesses left on this machine, and lists which faults
    of that run were still in force.
    """
    from kraftproof.run.directory import RunDirectory
    from kraftproof.run.leftovers import sweep_all, unhealed

    directory = RunDirectory(path=run)
    faults = unhealed(directory)
    for line in sweep_all():
        say(line)
    for line in faults:
        say(line)
    if not faults:
        say(f"{run}: every fault was healed")
