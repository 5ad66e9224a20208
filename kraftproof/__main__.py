"""Run the command line, for `python -m kraftproof` and the script, with Ctrl-C from the start.

The imports of the command line take a while, and Ctrl-C during the imports would print a traceback.
"""

import os
import signal
from types import FrameType

STATUS = 130
"""Exit code after Ctrl-C; errors.py has the same number, but is not imported yet."""


def _leave(number: int, frame: FrameType | None) -> None:
    del number, frame
    os.write(2, b"kraftproof: interrupted\n")
    os._exit(STATUS)  # no process, file or thread is open yet


def main() -> None:
    """Run the command line."""
    if signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, _leave)
    signal.signal(signal.SIGTERM, _leave)
    from kraftproof import cli

    if signal.getsignal(signal.SIGINT) is _leave:
        signal.signal(signal.SIGINT, signal.default_int_handler)
    cli.main()


if __name__ == "__main__":
    main()
