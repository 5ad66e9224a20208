"""`kraftproof heal`: undo the faults of a run whose process died."""

from pathlib import Path
from typing import Annotated

import typer

from kraftproof.output import print_line


def heal(
    run: Annotated[Path, typer.Argument(help="The run's directory.")],
) -> None:
    """Undo the faults of a run whose process died, by the removal of its nodes.

    [bold]kraftproof heal store/20261121T160938-docker-topics-seed7[/]
    Removes the processes, containers and networks of all dead runs on this
    machine, and lists the faults of the run that were not healed.
    """
    from kraftproof.run.directory import RunDirectory
    from kraftproof.run.leftovers import sweep_all, unhealed

    directory = RunDirectory(path=run)
    faults = unhealed(directory)
    for line in sweep_all():
        print_line(line)
    for line in faults:
        print_line(line)
    if not faults:
        print_line(f"{run}: every fault was healed")
