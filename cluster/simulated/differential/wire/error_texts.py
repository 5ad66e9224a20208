"""Judge the numbers in the text of an error about bytes, which an operator reads first."""

import re
from collections.abc import Callable
from typing import Final

from kraftproof.cluster.simulated.differential.difference import DifferenceError

Rule = tuple[re.Pattern[str], Callable[[list[int], int], bool]]

_RULES: Final[tuple[Rule, ...]] = (
    (
        re.compile(r"a length of (-?\d+) at byte (\d+), where (\d+) remain"),
        lambda n, size: n[1] + n[2] == size and (n[0] < 0 or n[0] > n[2]),
    ),
    (
        re.compile(r"(\d+) bytes expected at byte (\d+), of (\d+)"),
        lambda n, size: n[2] == size < n[1] + n[0],
    ),
    (
        re.compile(r"an array of (\d+) elements before byte (\d+), where (\d+) bytes remain"),
        lambda n, size: n[1] + n[2] == size,
    ),
    (re.compile(r"a varint cut off at byte (\d+)"), lambda n, size: n[0] == size),
    (re.compile(r"byte (\d+)"), lambda n, size: n[0] <= size),
)
"""The numbers of a text, and whether they are true for an input of a size; the first rule counts.
"""


def judge_numbers(text: str, size: int) -> None:
    """Check the numbers in the text of an error about an input of `size` bytes.

    Raises:
        DifferenceError: a number is wrong.
    """
    for pattern, is_true in _RULES:
        match = pattern.search(text)
        if match is not None:
            if not is_true([int(number) for number in match.groups()], size):
                raise DifferenceError(f"of {size} bytes: {text}")
            return
