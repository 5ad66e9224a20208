"""Runs a command as a node's process that dies with the harness.

`python -I -S launch.py PARENT COMMAND ARGUMENT...` asks the kernel for a SIGKILL when the thread
that started it ends, then becomes the command. Linux only.
"""

import ctypes
import os
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Tie this process's life to the parent's, then become the command."""
    parent, *command = arguments
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(parent):
        sys.exit(1)  # the harness died before the kernel was asked
    try:
        os.execvp(command[0], command)  # noqa: S606 - the system says which command
    except OSError as error:
        sys.exit(f"{command[0]}: {error.strerror}")


if __name__ == "__main__":
    main(sys.argv[1:])
