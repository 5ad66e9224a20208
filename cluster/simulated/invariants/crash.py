"""A crash as a violation: the code of a node has raised an unhandled exception.

A crash is reported, but is no broken property: a mutant whose edit misspells a name crashes, too.
"""

import re
import traceback
from types import TracebackType
from typing import Final

from kraftproof.cluster.simulated.violation import Violation, ViolationKind
from kraftproof.node.core.metadata.apply_error import ApplyError
from kraftproof.node.core.metadata.snapshot import SnapshotError
from kraftproof.node.storage.errors import StorageError

INVARIANT: Final = "NoUnhandledException"
SENTENCE: Final = "The code of a node raises no unhandled exception."
OWN_CHECKS: Final = (AssertionError, ApplyError, SnapshotError, StorageError)
"""Exceptions of the checks that the node makes of its own state and files."""
NODE: Final = "kraftproof.node."
ADDRESS: Final = re.compile(r"0x[0-9a-f]{6,}")
LONGEST_MESSAGE: Final = 200
"""Maximum characters of an exception's text; the traceback file has the full text."""


def crash_of(error: Exception, *, node: int, time_ns: int, event: int) -> Violation:
    """Return a crash as a violation, equal at each run of the seed."""
    return Violation(
        invariant=INVARIANT,
        sentence=SENTENCE,
        node=node,
        time_ns=time_ns,
        detail=_describe(error),
        event=event,
        kind=_kind(error),
        traceback="".join(traceback.format_exception(error)),
    )


def _kind(error: Exception) -> ViolationKind:
    """Return whether a check of the node's own code raised the exception."""
    is_own_check = isinstance(error, OWN_CHECKS) and _raised_in_node(error.__traceback__)
    return ViolationKind.ASSERTION if is_own_check else ViolationKind.CRASH


def _raised_in_node(trace: TracebackType | None) -> bool:
    module = ""
    while trace is not None:
        module = str(trace.tb_frame.f_globals.get("__name__", ""))
        trace = trace.tb_next
    return module.startswith(NODE)


def _describe(error: Exception) -> str:
    """Return one line with the exception and the function that raised the exception."""
    frames = traceback.extract_tb(error.__traceback__)
    place = f" in {frames[-1].name}" if frames else ""
    message = ADDRESS.sub("0x...", " ".join(str(error).split()))
    if len(message) > LONGEST_MESSAGE:
        message = message[:LONGEST_MESSAGE] + "..."
    return f"{type(error).__name__}{place}: {message}"
