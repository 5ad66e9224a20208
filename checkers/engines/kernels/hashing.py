"""Multiplicative hashing of the numbers of a state (Knuth, "The art of computer programming")."""

from typing import Any

import numpy as np

from kraftproof.checkers.kernels import bare_kernel


@bare_kernel
def mix(mixed: Any, number: Any) -> Any:  # noqa: ANN401 integers of any width
    """Return the hash of a sequence of numbers, given that of all but the last: both uint64."""
    mixed = (mixed + np.uint64(number)) * np.uint64(0x9E3779B97F4A7C15)
    return mixed ^ (mixed >> np.uint64(29))
