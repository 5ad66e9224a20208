"""Look for the word of a node that it has ended because its disk failed.

The last line of the node's output decides. Lines that say nothing of an end are passed over: calls
of a stack trace, and lines of the levels info, warning, debug and trace, which a node may print on
its way out.
"""

import re
from typing import Final

from kraftproof.cluster.capabilities import DiskFailureMode

ERROR_TEXTS: Final[dict[DiskFailureMode, str]] = {
    "full": "no space left on device",
    "write": "input/output error",
    "fsync": "input/output error",
}
"""Text of the operating system for each kind of failure, in small letters."""
_NO_REASON: Final = re.compile(
    r"\s"  # a call of a stack trace of Java or Python
    r"|.*\b(INFO|WARN|WARNING|DEBUG|TRACE)\b"
    r'|.*"level": ?"(info|warn|debug)"'
    r"|goroutine \d+ |created by |[\w./*()]+\(.*\)$"  # a stack trace of Go
)


def failure_line(text: str, failure: DiskFailureMode) -> str | None:
    """Return the line by which a node ended because of its disk; None if its last words differ.

    Args:
        text: What the node has printed since the disk began to fail.
        failure: The failure of the disk.
    """
    lines = (line for line in reversed(text.splitlines()) if line.strip())
    last = next((line for line in lines if _NO_REASON.match(line) is None), "")
    return last.strip() if ERROR_TEXTS[failure] in last.lower() else None
