"""Mistakes of the user: one clear line and exit code 3."""

USAGE_EXIT_CODE = 3


class UsageError(ValueError):
    """What was asked for can't be done; the text is one line that names what and why."""
