"""Mistakes of the user, one clear line and exit code 3; the other exit codes without a verdict."""

import errno
import os
from pathlib import Path

from kraftproof.cluster.plugin import HarnessError

USAGE_EXIT_CODE = 3
INTERRUPTED_EXIT_CODE = 130
"""Ctrl-C or SIGTERM, as shells have it."""

CRASH_EXIT_CODE = 70
"""A mistake in Kraftproof itself, as sysexits.h has it; no verdict may be told by that."""

BROKEN_PIPE_EXIT_CODE = 141
"""Whoever read the output has gone, as shells have it; no verdict may be told by that."""


OWN_MISTAKE = "this is a mistake in Kraftproof itself, please report it"
DISK_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
"""The numbers of errors with which a disk refuses to be written."""


class UsageError(ValueError):
    """What was asked for can't be done; the text is one line that names what and why."""


class RunFileError(HarnessError):
    """A file of ours can't be written, such as on a full disk; the text is one line."""

    def __init__(self, path: Path, error: OSError) -> None:
        reason = error.strerror if error.errno is None else os.strerror(error.errno)
        super().__init__(f"{path}: {reason}")
