"""Mistakes of the user: one clear line and exit code 3."""

USAGE_EXIT_CODE = 3
INTERRUPTED_EXIT_CODE = 130
"""Ctrl-C where nothing is left to be judged, as shells have it."""

BROKEN_PIPE_EXIT_CODE = 141
"""Whoever read the output has gone, as shells have it; no verdict may be told by that."""


class UsageError(ValueError):
    """What was asked for can't be done; the text is one line that names what and why."""
