"""`kraftproof sweep`: removes what dead harnesses left, and nothing of the living."""

from kraftproof.output import say


def sweep() -> None:
    """Remove what dead harnesses left on this machine.

    [bold]kraftproof sweep[/]
    Ends processes, removes containers and networks and gives ports back, where
    the process that made them is gone; whatever has a living owner stays.
    """
    from kraftproof.run.leftovers import sweep_all

    lines = sweep_all()
    for line in lines:
        say(line)
    if not lines:
        say("nothing was left")
