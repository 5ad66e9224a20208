"""Defaults of the search that its options and its scenarios share."""

from typing import Final

TIME_LIMIT_S: Final = 60.0
"""Longest simulated time of a run, in seconds."""
