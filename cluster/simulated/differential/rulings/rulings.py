"""Compare each part of a node that decides, answers and writes snapshots with its rules."""

from random import Random

from kraftproof.cluster.simulated.differential.rulings.answer_times import compare_answer_times
from kraftproof.cluster.simulated.differential.rulings.applied_steps import (
    compare_applied_steps,
)
from kraftproof.cluster.simulated.differential.rulings.described_entries import (
    compare_described_entries,
)
from kraftproof.cluster.simulated.differential.rulings.inherited_images import (
    compare_inherited_images,
)
from kraftproof.cluster.simulated.differential.rulings.judged_senders import (
    compare_judged_senders,
)
from kraftproof.cluster.simulated.differential.rulings.request_limits import (
    compare_request_limits,
)
from kraftproof.cluster.simulated.differential.rulings.sent_requests import (
    compare_sent_requests,
)
from kraftproof.cluster.simulated.differential.rulings.snapshot_times import (
    compare_snapshot_times,
)


def compare_rulings(random: Random) -> None:
    """Draw each comparison of this package once.

    Raises:
        DifferenceError: a part has another result than its rules.
    """
    for compare in (
        compare_request_limits,
        compare_answer_times,
        compare_applied_steps,
        compare_snapshot_times,
        compare_sent_requests,
        compare_judged_senders,
        compare_described_entries,
        compare_inherited_images,
    ):
        compare(random)
