"""`kraftproof heal`: undo the faults of a run whose process died."""

from pathlib import Path
from typing import Annotated

import typer

from kraftproof.errors import UsageError
from kraftproof.output import print_line


def heal(
    run: Annotated[Path | None, typer.Argument(help="The run's directory.")] = None,
    *,
    hosts: Annotated[
        Path | None,
        typer.Option(
            help="A file of hosts (docs/ssh.md): remove what dead runs left on the hosts.",
            metavar="FILE",
        ),
    ] = None,
) -> None:
    """Undo the faults of a run whose process died, by the removal of its nodes.

    [bold]kraftproof heal store/20261121T160938-docker-topics-seed7[/]
    Removes the processes, containers and networks of all dead runs on this
    machine, and lists the faults of the run that were not healed. For a run on
    hosts behind ssh, removes what the run left there.

    [bold]kraftproof heal --hosts hosts.toml[/]
    Removes from these hosts the processes, firewall rules, clocks and files of
    all dead runs, of whatever machine. Nothing of a live run is touched.
    """
    if run is None and hosts is None:
        raise UsageError("heal: a run directory or --hosts FILE is expected")
    if run is not None:
        _heal_run(run)
    if hosts is not None:
        from kraftproof.run.leftovers import heal_hosts

        for line in heal_hosts(hosts):
            print_line(line)


def _heal_run(run: Path) -> None:
    from kraftproof.run.directory import RunDirectory
    from kraftproof.run.leftovers import heal_recorded_hosts, sweep_all, unhealed

    directory = RunDirectory(path=run)
    faults = unhealed(directory)
    for line in sweep_all():
        print_line(line)
    for line in heal_recorded_hosts(directory):
        print_line(line)
    for line in faults:
        print_line(line)
    if not faults:
        print_line(f"{run}: every fault was healed")
