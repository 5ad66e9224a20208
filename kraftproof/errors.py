"""User errors, which are one line with exit code 3, and the other exit codes without a verdict."""

import errno
import os
from pathlib import Path

from kraftproof.cluster.plugin import HarnessError

USAGE_EXIT_CODE = 3
INTERRUPTED_EXIT_CODE = 130
"""Exit code after Ctrl-C or SIGTERM, by the convention of shells."""

CRASH_EXIT_CODE = 70
"""Exit code of a bug in Kraftproof itself (EX_SOFTWARE of sysexits.h); never a verdict."""

BROKEN_PIPE_EXIT_CODE = 141
"""Exit code after the reader of the output closed the pipe, by the convention of shells."""


OWN_MISTAKE = "this is a mistake in Kraftproof itself, please report it"
TRACEBACK_ABOVE = f"{OWN_MISTAKE}, with the traceback above: "
"""The begin of the last line of a process that ends with CRASH_EXIT_CODE; the error follows."""
DISK_ERRORS = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG, errno.EROFS, errno.EIO})
"""Error numbers of failed writes to a disk."""


class UsageError(ValueError):
    """The request can't be fulfilled; the message is one line with the subject and the reason."""


class RunFileError(HarnessError):
    """A file of a run can't be written, for example on a full disk; the message is one line."""

    def __init__(self, path: Path, error: OSError) -> None:
        reason = error.strerror if error.errno is None else os.strerror(error.errno)
        super().__init__(f"{path}: {reason}")
