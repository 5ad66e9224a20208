"""Crashes happen between any two effects of a step, and between any two operations of the disk."""

import pytest

from kraftproof.cluster.simulated.faults.crash_points import (
    MAX_OPERATIONS,
    crash_after_disk_operations,
    crash_after_effects,
    crash_at_random_point,
)
from kraftproof.node.core.effects import Append, Flush
from kraftproof.node.wire.errors import ErrorCode
from tests.cluster.simulated.faults.test_simulated_faults import Rig
from tests.cluster.simulated.test_conditions import led_by

pytestmark = pytest.mark.simulation


def carried_out(machine):
    """The types of the effects that the machine's process carries out from now on."""
    done, executor = [], machine.process._shell._executor

    def noted(kind, handler):
        def handle(effect):
            done.append(kind)
            handler(effect)

        return handle

    handlers = executor._handlers
    executor._handlers = {kind: noted(kind, handler) for kind, handler in handlers.items()}
    return done


def deal(directory, crash, seed=3):
    """Deal a crash to the leader of a cluster in which topics are made; what it still did."""
    rig = Rig(directory, seed)
    seen = {}

    async def topics():
        for _ in range(3):
            await rig.create()

    async def main():
        (leader,) = led_by(rig.cluster)
        machine = rig.machine(leader)
        seen["effects"], seen["disk"] = carried_out(machine), machine.disk
        task = rig.cluster.scope.spawn(topics())
        await crash(rig.cluster.scope, machine)
        assert machine.process is None
        seen["unsynced"] = not machine.disk.is_synced("/data/__cluster_metadata-0")
        assert machine.disk.disk_faults is None
        assert machine.env.on_effect is None
        await rig.sleep(1)
        await rig.cluster.start_node(leader)
        await task
        return await rig.create()

    assert rig.run(main) is ErrorCode.NONE
    return seen


def test_a_kill_may_come_between_append_and_flush(tmp_path):
    seen = deal(tmp_path, lambda scope, machine: crash_after_effects(scope, machine, 0))
    assert seen["effects"][-1] is Append
    assert Flush not in seen["effects"]
    assert seen["unsynced"]


def test_a_kill_may_come_after_any_number_of_effects(tmp_path):
    lasts = []
    for effects in range(5):
        seen = deal(
            tmp_path, lambda scope, machine, n=effects: crash_after_effects(scope, machine, n)
        )
        first = seen["effects"].index(Append)
        assert len(seen["effects"]) == first + effects + 1
        lasts.append(seen["effects"][-1])
    assert lasts[:2] == [Append, Flush]
    assert len(set(lasts)) > 2


def test_a_kill_may_come_before_any_operation_of_the_disk(tmp_path):
    ended = set()
    for operations in range(4):
        seen = deal(
            tmp_path,
            lambda scope, machine, n=operations: crash_after_disk_operations(scope, machine, n),
        )
        ended.add((seen["effects"][-1], seen["unsynced"]))
    assert (Append, False) in ended, "before the write"
    assert any(unsynced for _, unsynced in ended), "after the write, before its fsync"
    assert MAX_OPERATIONS > 4


def test_where_nothing_is_written_a_blow_falls_after_a_while(tmp_path):
    rig = Rig(tmp_path)
    dealt = []

    async def main():
        for _ in range(12):
            machine = rig.machine(3 if led_by(rig.cluster) != [3] else 2)
            await rig.sleep(0.3)
            restart_count = machine.restart_count
            await crash_at_random_point(rig.cluster.scope, machine, machine.lose_power)
            dealt.append((machine.process, machine.restart_count - restart_count))
            await rig.cluster.start_node(machine.info.node_id)
        return True

    assert rig.run(main)
    assert dealt == [(None, 0)] * 12
