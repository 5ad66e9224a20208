"""The number of random cases of a test: a part in `make test`, all in `make test-long`."""

import os

LONG = "KRAFTPROOF_TEST_LONG"


def is_long() -> bool:
    """Return whether `make test-long` runs."""
    return os.environ.get(LONG) == "1"


def random_cases(count: int, share: int = 12) -> int:
    """Return how many of `count` cases to draw; the first ones are the same for both targets.

    Args:
        count: Cases in `make test-long`.
        share: In `make test` one case of so many is drawn.
    """
    return count if is_long() else count // share
