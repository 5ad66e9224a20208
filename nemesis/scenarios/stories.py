"""The stories: scenarios for nodes with frequent snapshots.

See kraftproof/search/scenario.py for the seeds with stories, and for the nodes.
"""

from collections.abc import Callable, Sequence
from random import Random
from typing import Final

from kraftproof.cluster.protocol import NodeInfo
from kraftproof.nemesis.scenarios.snapshots import (
    copier_dies,
    dies_twice_after_truncation,
    leader_dies_while_serving,
    lone_copier,
    slow_copy,
    snapshot_amid_changes,
)
from kraftproof.nemesis.scenarios.steps import FaultStep

Story = Callable[[Random, Sequence[NodeInfo]], list[FaultStep]]
STORIES: Final[tuple[Story, ...]] = (
    leader_dies_while_serving,
    copier_dies,
    copier_dies,
    slow_copy,
    snapshot_amid_changes,
)
"""Stories of every cluster; the repetition is a weight."""
WITH_THREE_VOTERS: Final[tuple[Story, ...]] = (
    dies_twice_after_truncation,
    dies_twice_after_truncation,
    lone_copier,
)
"""Stories with a successor of the leader."""
THREE: Final = 3


def stories_of(nodes: Sequence[NodeInfo]) -> tuple[Story, ...]:
    """Return the stories with an effect on the nodes, each as often as the weight."""
    voters = sum(node.has("controller") for node in nodes)
    return (*STORIES, *WITH_THREE_VOTERS) if voters >= THREE else STORIES
