"""`kraftproof sweep`: remove leftovers of dead runs, and nothing of live runs."""

from kraftproof.output import print_line


def sweep() -> None:
    """Remove the processes, containers and networks of dead runs from this machine.

    [bold]kraftproof sweep[/]
    Ends processes, removes containers and networks, and frees ports, if the
    process that made them is gone. Nothing of a live run is touched.
    """
    from kraftproof.run.leftovers import sweep_all

    lines = sweep_all()
    for line in lines:
        print_line(line)
    if not lines:
        print_line("nothing to remove")
