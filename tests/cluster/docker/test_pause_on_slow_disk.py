"""A node is paused although its threads wait for a slow disk."""

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from confluent_kafka.admin import AdminClient, NewTopic

from kraftproof.cluster.capabilities import DiskFault
from kraftproof.cluster.protocol import Capability
from tests.cluster.docker.conftest import Driver, make, running

pytestmark = [
    pytest.mark.docker,
    pytest.mark.skipif(os.geteuid() != 0, reason="a mount needs root"),
]

SLOW = DiskFault(slow_ns=6_000_000_000)
"""Longer than runc tries to freeze a container."""


@pytest.fixture
def with_disks(tmp_path: Path) -> Iterator[Driver]:
    """A controller and a broker on disks that can be slow."""
    yield from running(make(tmp_path, 1, 1, needs=frozenset({Capability.SLOW_DISK})))


def test_a_node_in_the_middle_of_an_fsync_is_paused(with_disks: Driver):
    driver, cluster = with_disks, with_disks.cluster
    driver.until_ready()
    driver.run(cluster.add_disk_fault(1, SLOW))
    client = AdminClient({"bootstrap.servers": cluster.bootstrap()})
    client.create_topics([NewTopic(f"topic-{number}", 1, 1) for number in range(20)])

    async def is_slow() -> bool:
        return await cluster.disk_fault_count(1) > 0

    assert driver.until(is_slow)
    driver.run(cluster.pause(1))
    assert driver.run(cluster.is_paused(1))
    driver.run(cluster.resume(1))
    assert not driver.run(cluster.is_paused(1))
