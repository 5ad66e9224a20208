"""A cluster that has written snapshots already."""

import pytest

from tests.support.node.snapshot_world import DiskWorld, fill


@pytest.fixture
def world():
    """Three controllers and a broker; the leader's log begins at a snapshot's end."""
    world = DiskWorld(3, 1)
    world.run(8000)
    fill(world, "kept", 30)
    return world
