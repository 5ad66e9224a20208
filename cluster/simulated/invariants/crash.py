"""A crash as a violation: the code of a node has raised an unhandled exception.

A crash is reported, but is no broken property: a mutant whose edit misspells a name crashes, too.
"""

import re
import traceback
from typing import Final

from kraftproof.cluster.simulated.invariants.invariant import InvariantMonitor
from kraftproof.cluster.simulated.violation import ViolationKind

INVARIANT: Final = "NoUnhandledException"
SENTENCE: Final = "The code of a node raises no unhandled exception."
ADDRESS: Final = re.compile(r"0x[0-9a-f]{6,}")
LONGEST_MESSAGE: Final = 200
"""Maximum characters of an exception's text; the traceback file has the full text."""


def record_crash(monitor: InvariantMonitor, error: Exception, *, node: int, time_ns: int) -> None:
    """Record a crash as a violation, equal at each run of the seed."""
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
    """Return one line with the exception and the function that raised the exception."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {frames[-1].name}" if frames else ""
    message = ADDRESS.sub("0x...", " ".join(str(error).split()))
    if len(message) > LONGEST_MESSAGE:
        message = message[:LONGEST_MESSAGE] + "..."
    return f"{type(error).__name__}{place}: {message}"
