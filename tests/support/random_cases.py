"""The number of random cases of a test: an eighth in `make test`, all in `make test-long`."""

import os

LONG = "KRAFTPROOF_TEST_LONG"


def random_cases(count: int) -> int:
    """Return how many of `count` cases to draw; the first ones are the same for both targets."""
    return count if os.environ.get(LONG) == "1" else count // 8
