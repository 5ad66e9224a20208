"""Lines for whoever reads the process's output. Not: the trace, which is for programs."""

import sys


def say(line: str) -> None:
    """Write one line to standard error, at once."""
    sys.stderr.write(f"kraft-node: {line}\n")
    sys.stderr.flush()
