"""Runs the command, as `python -m kraftproof` and as the script: Ctrl-C works from the beginning.

The imports of the command line take a while, and Python would show where Ctrl-C met them.
"""

import os
import signal
from types import FrameType

STATUS = 130
"""Ctrl-C, as shells have it; errors.py, which has the number too, is not imported yet."""


def _leave(number: int, frame: FrameType | None) -> None:
    del number, frame
    os.write(2, b"kraftproof: interrupted\n")
    os._exit(STATUS)  # nothing has been begun that would have to be ended


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
