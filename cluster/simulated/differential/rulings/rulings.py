"""Compare the parts of a controller whose comparisons take long: limits and times of answers."""

from random import Random

from kraftproof.cluster.simulated.differential.rulings.answer_times import compare_answer_times
from kraftproof.cluster.simulated.differential.rulings.request_limits import (
    compare_request_limits,
)


def compare_rulings(random: Random) -> None:
    """Draw the comparison of the limits, and that of the times of answers.

    Raises:
        DifferenceError: an answer has another time, or a request at a limit another result.
    """
    compare_request_limits(random)
    compare_answer_times(random)
