"""Runs a module as a node's process that dies with the harness.

`python -m kraftproof.cluster.local.launch PARENT MODULE ARGUMENT...` asks the kernel for a SIGKILL
when the thread that started it ends, then becomes the module. It imports nothing of the node
before that, so that a mutant's import hook comes first. Linux only.
"""

import ctypes
import os
import runpy
import signal
import sys

PR_SET_PDEATHSIG = 1


def main(arguments: list[str]) -> None:
    """Tie this process's life to the parent's, then run the module."""
    parent, module, *rest = arguments
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != int(parent):
        sys.exit(1)  # the harness died before the kernel was asked
    sys.argv = [module, *rest]
    runpy.run_module(module, run_name="__main__", alter_sys=True)


if __name__ == "__main__":
    main(sys.argv[1:])
