"""The story of a leader whose majority depends on a standby that copies a snapshot."""

from random import Random

import pytest

from kraftproof.cluster.protocol import nodes_of
from kraftproof.nemesis.degrade import Stall
from kraftproof.nemesis.kill import Kill
from kraftproof.nemesis.partition import Cut
from kraftproof.nemesis.scenarios.snapshots import lone_copier
from kraftproof.nemesis.scenarios.stories import stories_of


@pytest.mark.parametrize("voters", [3, 5])
def test_one_standby_copies_and_the_rest_of_the_majority_is_dead(voters) -> None:
    for seed in range(20):
        steps = lone_copier(Random(seed), nodes_of(controller=voters, broker=1))
        behind = next(step for step in steps if isinstance(step[2], Cut))
        copies = next(step for step in steps if isinstance(step[2], Stall))
        dead = [step for step in steps if isinstance(step[2], Kill)]
        assert len(dead) == voters // 2
        assert behind[2].around == copies[2].target
        assert behind[1] == copies[0]
        others = {step[2].target.choice % (voters - 1) for step in dead}
        assert len(others) == len(dead)
        assert copies[2].target.choice % (voters - 1) not in others
        assert all(copies[0] - 0.2 <= begin <= copies[0] < end for begin, end, _ in dead)


def test_the_story_needs_three_voters() -> None:
    assert lone_copier in stories_of(nodes_of(controller=3, broker=1))
    assert lone_copier not in stories_of(nodes_of(controller=1, broker=2))
