"""Disks that fail, in scenarios of whole nodes. Not: the simulator's own (cluster/simulated)."""

from random import Random

from kraftproof.cluster.capabilities import DiskFault
from kraftproof.cluster.disk_faults import DiskFaults
from tests.support.node.snapshot_world import DiskWorld

FORGETS = 1
"""A seed by which a failed fsync leaves pages that no later one writes, and a crash takes all."""


class BadDiskWorld(DiskWorld):
    """Nodes end when their disks fail, as node/server ends."""

    def __init__(self, *arguments, **options):
        self.failures = []
        super().__init__(*arguments, **options)

    def take_one(self, node_id, effect):
        try:
            super().take_one(node_id, effect)
        except OSError as error:
            self.failures.append(f"{node_id}: the disk failed: {error.strerror}")
            self.kill(node_id)


class BadDisks:
    """Commands of a scenario."""

    def disk(self, arguments):
        disk = self.world.disks[self.node(arguments[0])]
        (state,) = arguments[1:]
        if state == "well":
            disk.disk_faults = None
        else:
            disk.disk_faults = DiskFaults(Random(FORGETS))
            disk.disk_faults.faults.append(DiskFault(failure=state))

    def power(self, arguments):
        """A node that runs is killed; what its disk had not synced is gone."""
        node_id = self.node(arguments[0])
        if node_id in self.world.nodes:
            self.world.kill(node_id)
        self.world.disks[node_id].fsync_directory("/")  # where the disk is mounted
        lost = self.world.disks[node_id].crash(Random(FORGETS))
        return [f"{node_id}: {'something' if lost else 'nothing'} was lost"]

    def disk_news(self):
        failures, self.world.failures = self.world.failures, []
        return failures
