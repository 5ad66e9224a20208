"""An aimed crash comes at the moment of the node's work, after so many changes of the disk."""

import pytest

from kraftproof.cluster.capabilities import CrashAim
from tests.cluster.simulated.faults.test_simulated_faults import Rig
from tests.cluster.simulated.test_conditions import led_by

pytestmark = pytest.mark.simulation
LOG = "/data/__cluster_metadata-0"


def crashed(directory, aim, seed=3):
    """Aim at the leader of a cluster in which topics are made, and return the aim's machine."""
    rig = Rig(directory, seed)
    seen = {}

    async def main():
        (leader,) = led_by(rig.cluster)
        machine = rig.machine(leader)
        seen["before"] = machine.restart_count
        await rig.cluster.arm_crash(leader, aim)
        task = rig.cluster.scope.spawn(rig.create())
        await rig.sleep(1)
        seen["down"] = machine.process is None
        seen["restarts"] = machine.restart_count - seen["before"]
        seen["synced"] = machine.disk.is_synced(LOG)
        await rig.cluster.disarm_crash(leader)
        assert machine.disk.disk_faults is None
        assert machine.env.on_disk_work is None
        if machine.process is None:
            await rig.cluster.start_node(leader)
        await task

    rig.run(main)
    return seen


def test_a_node_dies_at_the_moment(tmp_path):
    seen = crashed(tmp_path, CrashAim(moment="appending", operations=0))
    assert seen["down"]
    assert seen["restarts"] == 0


def test_a_node_loses_power_at_the_moment(tmp_path):
    seen = crashed(tmp_path, CrashAim(moment="appending", operations=1, loses_power=True))
    assert seen["down"]
    assert seen["synced"]


@pytest.mark.parametrize("again", [0, 1])
def test_a_node_dies_again_within_its_recovery(tmp_path, again):
    """The recovery changes the disk, so the second crash needs no work after the start."""
    aim = CrashAim(moment="appending", operations=1, operations_again=again)
    seen = crashed(tmp_path, aim)
    assert seen["down"]
    assert seen["restarts"] == 0


def test_a_node_dies_again_after_its_recovery(tmp_path):
    aim = CrashAim(moment="appending", operations=1, operations_again=40)
    seen = crashed(tmp_path, aim)
    assert seen["restarts"] == 1


def test_without_the_moment_nothing_happens(tmp_path):
    seen = crashed(tmp_path, CrashAim(moment="truncating", operations=0))
    assert not seen["down"]
