"""What the simulator does to whole nodes beyond kills: and that they survive it as real ones do."""

import pytest

from kraftproof.cluster.capabilities import (
    ClockFaultCapable,
    DiskFault,
    DiskFaultCapable,
    LinkFault,
    LinkFaultCapable,
)
from kraftproof.cluster.protocol import ClusterOptions, Link, nodes_of
from kraftproof.cluster.simulated.simulated_cluster import InvariantViolatedError, SimulatedCluster
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import create_topics_request
from tests.cluster.simulated.test_conditions import led_by

pytestmark = pytest.mark.simulation
SECOND_NS = 1_000_000_000
BROKER = 4


class Rig:
    """Three controllers and a broker, with a client that creates topics."""

    def __init__(self, directory, seed=3, brokers=1):
        options = ClusterOptions(
            nodes=nodes_of(controller=3, broker=brokers), seed=seed, directory=directory
        )
        self.cluster = SimulatedCluster(options)
        self.made = 0

    def run(self, main):
        async def whole():
            await self.cluster.start()
            result = await main()
            await self.cluster.quiesce()
            return result

        return self.cluster.run(whole())

    def machine(self, node_id):
        return self.cluster.world.machines[node_id]

    async def sleep(self, seconds):
        await self.cluster.scope.sleep(int(seconds * SECOND_NS))

    async def create(self, node_id=BROKER):
        self.made += 1
        topic = create_topics_request.CreatableTopic(
            name=f"topic-{self.made}", num_partitions=1, replication_factor=1
        )
        request = create_topics_request.CreateTopicsRequest(topics=(topic,), timeout_ms=5000)
        connection = await self.cluster.connect(node_id, SECOND_NS)
        answer = await connection.call(request, 7, 6 * SECOND_NS)
        connection.close()
        return ErrorCode(answer.topics[0].error_code)


def test_the_simulator_fulfils_every_optional_ability(tmp_path):
    cluster = Rig(tmp_path).cluster
    assert isinstance(cluster, LinkFaultCapable)
    assert isinstance(cluster, DiskFaultCapable)
    assert isinstance(cluster, ClockFaultCapable)


def test_a_forward_that_never_left_is_tried_again_at_the_next_controller(tmp_path):
    rig = Rig(tmp_path)

    async def main():
        (leader,) = led_by(rig.cluster)
        rig.machine(leader).kill()
        await rig.sleep(0.1)
        return await rig.create()

    assert rig.run(main) is ErrorCode.NONE


@pytest.mark.parametrize(
    ("role", "failure"),
    [
        ("leader", "full"),
        ("leader", "write"),
        ("leader", "fsync"),
        ("broker", "full"),
        ("broker", "write"),
    ],
)
def test_a_node_whose_disk_fails_ends_and_joins_again_when_it_is_mended(tmp_path, failure, role):
    rig = Rig(tmp_path)
    fault = DiskFault(failure=failure)

    async def main():
        victim = BROKER if role == "broker" else led_by(rig.cluster)[0]
        assert await rig.create() is ErrorCode.NONE
        await rig.cluster.add_disk_fault(victim, fault)
        if role == "broker":
            await rig.sleep(3)
        else:
            await rig.create()
        assert await rig.cluster.process_id(victim) is None
        assert await rig.cluster.disk_fault_count(victim) >= 1
        await rig.cluster.start_node(victim)
        await rig.sleep(0.1)
        if role == "broker" and failure != "full":
            assert await rig.cluster.process_id(victim) is None, "it can't start on such a disk"
        await rig.cluster.remove_disk_fault(victim, fault)
        await rig.cluster.start_node(victim)
        await rig.sleep(4)
        assert await rig.cluster.process_id(victim) is not None
        return await rig.create()

    assert rig.run(main) is ErrorCode.NONE


def test_a_node_that_ends_by_a_disk_that_is_well_is_a_violation(tmp_path):
    rig = Rig(tmp_path)

    async def main():
        machine = rig.machine(BROKER)
        machine.env.on_disk_error(machine.process, OSError(5, "Input/output error"))

    with pytest.raises(InvariantViolatedError, match="NoUnhandledException"):
        rig.run(main)


def test_a_slow_disk_delays_what_is_acknowledged(tmp_path):
    rig = Rig(tmp_path)
    fault = DiskFault(slow_ns=SECOND_NS // 2)

    async def main():
        async def time_of_five():
            start_ns = rig.cluster.scope.now()
            for _ in range(5):
                assert await rig.create() is ErrorCode.NONE
            return rig.cluster.scope.now() - start_ns

        spent = [await time_of_five()]
        for voter in (1, 2, 3):
            await rig.cluster.add_disk_fault(voter, fault)
        spent.append(await time_of_five())
        for voter in (1, 2, 3):
            await rig.cluster.remove_disk_fault(voter, fault)
            assert rig.machine(voter).env.disk_faults is None
        return spent

    quick_ns, slow_ns = rig.run(main)
    assert slow_ns > 3 * quick_ns


def test_a_broker_whose_disk_is_wiped_comes_back_with_everything(tmp_path):
    rig = Rig(tmp_path)

    async def main():
        for _ in range(5):
            await rig.create()
        assert rig.machine(BROKER).env.log.end_offset > 5
        await rig.cluster.wipe(BROKER)
        assert await rig.cluster.process_id(BROKER) is None
        assert rig.machine(BROKER).env.log.end_offset == 0
        await rig.cluster.start_node(BROKER)
        await rig.sleep(5)
        return await rig.create()

    assert rig.run(main) is ErrorCode.NONE
    names = {topic.name for topic in rig.machine(BROKER).process.image.sorted_topics()}
    assert {f"topic-{number}" for number in range(1, 7)} <= names


def test_a_process_waits_by_its_own_clock_from_the_moment_its_rate_changes(tmp_path):
    rig = Rig(tmp_path)

    async def main():
        await rig.cluster.set_clock_rate(BROKER, 50_000)
        assert await rig.cluster.clock_rate(BROKER) == 50_000
        process, clock = rig.machine(BROKER).process, rig.machine(BROKER).env.clock
        due_ns = clock.to_virtual(process._node.deadline())
        assert process._clock._timer.time_ns <= max(due_ns, process.now_ns())
        await rig.sleep(3)
        await rig.cluster.set_clock_rate(BROKER, 0)
        return await rig.create()

    assert rig.run(main) is ErrorCode.NONE
    assert rig.cluster.world.monitor.rate_error == 0.05


def test_a_strobe_of_the_wall_clock_is_reported_now_and_then_only(tmp_path):
    rig = Rig(tmp_path)

    async def main():
        await rig.cluster.strobe_clock(BROKER, 7 * SECOND_NS, 300_000_000)
        seen = set()
        for _ in range(20):
            await rig.sleep(0.05)
            seen.add(await rig.cluster.wall_clock_offset(BROKER))
        await rig.cluster.strobe_clock(BROKER, 0, 300_000_000)
        return seen, await rig.cluster.wall_clock_offset(BROKER)

    assert rig.run(main) == ({0, 7 * SECOND_NS}, 0)


def test_a_world_that_is_whole_again_has_no_trouble_left(tmp_path):
    rig = Rig(tmp_path)

    async def main():
        (leader,) = led_by(rig.cluster)
        await rig.cluster.add_disk_fault(leader, DiskFault(failure="full"))
        await rig.cluster.add_disk_fault(BROKER, DiskFault(slow_ns=SECOND_NS))
        await rig.cluster.set_clock_rate(BROKER, -50_000)
        await rig.cluster.strobe_clock(BROKER, SECOND_NS, 1_000_000)
        await rig.cluster.add_link_fault(frozenset({Link(leader, BROKER)}), LinkFault(loss=0.9))
        await rig.create()
        assert await rig.cluster.process_id(leader) is None

    rig.run(main)
    assert rig.cluster.world.links.link_faults is None
    for machine in rig.cluster.world.machines.values():
        assert machine.process is not None
        assert machine.disk_faults.is_empty
        assert machine.env.disk_faults is machine.disk.disk_faults is None
        assert machine.env.clock.injected_ns == machine.env.clock.rate_ppm == 0
