"""A crash as a violation: code of a node has raised an exception that nothing handled.

A crash is reported, but it is no broken property: a mutant whose edit only misspells a name crashes
as well. Not: who catches the exception (suspension.py, machine.py, network.py).
"""

import re
import traceback
from typing import Final

from kraftproof.cluster.simulated.invariants.invariant import InvariantMonitor, ViolationKind

INVARIANT: Final = "NoUnhandledException"
SENTENCE: Final = "No code of a node raises an exception that nothing handles."
ADDRESS: Final = re.compile(r"0x[0-9a-f]{6,}")
LONGEST_MESSAGE: Final = 200
"""Characters of an exception's text; the file of the traceback has all of it."""


def record_crash(monitor: InvariantMonitor, error: Exception, *, node: int, time_ns: int) -> None:
    """Record the violation, which is the same each time that the seed is run."""
    monitor.record(
        INVARIANT,
        SENTENCE,
        _describe(error),
        node=node,
        time_ns=time_ns,
        kind=ViolationKind.CRASH,
        traceback="".join(traceback.format_exception(error)),
    )


def _describe(error: Exception) -> str:
    """Return one line that names the exception and the function that raised it."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {frames[-1].name}" if frames else ""
    message = ADDRESS.sub("0x...", " ".join(str(error).split()))
    if len(message) > LONGEST_MESSAGE:
        message = message[:LONGEST_MESSAGE] + "..."
    return f"{type(error).__name__}{place}: {message}"
