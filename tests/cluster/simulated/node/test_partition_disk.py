"""Partition logs of a simulated broker: its shell, its disk, losses of power, and the trace."""

import pytest

from kraftproof.cluster.protocol import ClusterOptions, nodes_of
from kraftproof.cluster.simulated.simulated_cluster import InvariantViolatedError, SimulatedCluster
from kraftproof.cluster.simulated.trace.recorder import Recorder
from kraftproof.node.core.base.log_id import METADATA_LOG, LogId
from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.effects import Append, Flush, Truncate
from kraftproof.node.core.events import Flushed, TimestampFound
from kraftproof.node.core.log_effects import (
    CreateLog,
    DeleteLog,
    FindTimestamp,
    NoteEpoch,
    RaiseLogStart,
    RestartLog,
    WriteCheckpoints,
)
from kraftproof.node.core.node import Node
from kraftproof.node.storage.partitions import partition_log
from kraftproof.node.wire.types import Uuid
from tests.support.node.raw_batches import raw

BROKER = 2
LOG = LogId(Uuid(b"topic of the log"), 0)
OTHER = LogId(Uuid(b"another topic id"), 1)
SECOND_NS = 1_000_000_000
EVENTS = (Flushed, TimestampFound)


class Broker:
    """A broker of a simulated cluster whose shell executes the test's effects."""

    def __init__(self, tmp_path, monkeypatch, seed=0, *, has_data=False):
        options = ClusterOptions(
            nodes=nodes_of(controller=1, broker=1),
            seed=seed,
            directory=tmp_path,
            has_data=has_data,  # with replicas, the invariants of partitions watch
        )
        self.cluster = SimulatedCluster(options)
        self.machine = self.cluster.world.machines[BROKER]
        self.events = []
        events, step = self.events, Node.step

        def keep_apart(node, event, now):
            """Keep the events about partitions from the node, which has not asked."""
            if isinstance(event, EVENTS) and getattr(event, "log", LOG) in (LOG, OTHER):
                events.append(event)
                return []
            return step(node, event, now)

        monkeypatch.setattr(Node, "step", keep_apart)

    def run(self, scenario):
        async def main():
            await self.cluster.start()
            await scenario(self)

        self.cluster.run(main())

    async def does(self, *effects, wait_ns=SECOND_NS):
        process = self.machine.process
        process._shell._executor.add(effects)
        process._shell._execute(process._clock.now())
        await self.cluster.scope.sleep(wait_ns)

    async def starts_again(self, end):
        end()
        self.machine.start()
        await self.cluster.scope.sleep(SECOND_NS)

    @property
    def logs(self):
        return self.machine.env.partitions


def flush(log, end_offset, generation=0):
    return Flush(log=log, generation=generation, end_offset=Offset(end_offset))


@pytest.mark.simulation
@pytest.mark.parametrize("seed", range(8))
def test_a_flushed_log_survives_a_loss_of_power(tmp_path, monkeypatch, seed):
    async def scenario(broker):
        await broker.does(CreateLog(log=LOG, topic="t"), CreateLog(log=OTHER, topic="u"))
        await broker.does(Append(LOG, raw(0, b"a", b"b")), Append(LOG, raw(2)), flush(LOG, 3))
        assert broker.events == [Flushed(log=LOG, generation=0, end_offset=3)]
        await broker.does(Append(LOG, raw(3)), Append(OTHER, raw(0)), wait_ns=0)
        await broker.starts_again(broker.machine.lose_power)
        assert broker.logs.of(LOG).end_offset in (3, 4)
        assert broker.logs.get(OTHER) is None or broker.logs.of(OTHER).end_offset <= 1

    Broker(tmp_path, monkeypatch, seed).run(scenario)


@pytest.mark.simulation
def test_every_change_of_a_log_is_followed_and_outlives_the_process(tmp_path, monkeypatch):
    async def scenario(broker):
        await broker.does(CreateLog(log=LOG, topic="t"), CreateLog(log=OTHER, topic="u"))
        await broker.does(*[Append(LOG, raw(offset)) for offset in range(9)])
        await broker.does(
            Truncate(LOG, Offset(7)),
            NoteEpoch(log=LOG, epoch=2, start_offset=Offset(7)),
            Append(LOG, raw(7, epoch=2)),
            RaiseLogStart(log=LOG, start_offset=Offset(4)),
            RestartLog(log=OTHER, start_offset=Offset(50)),
            Append(OTHER, raw(50)),
            WriteCheckpoints(high_watermarks=((LOG, Offset(6)),)),
            FindTimestamp(
                token=9, log=LOG, timestamp_ms=0, start_offset=Offset(5), end_offset=Offset(8)
            ),
        )
        assert [(event.token, event.offset) for event in broker.events] == [(9, 5)]
        await broker.starts_again(broker.machine.kill)
        log, other = broker.logs.of(LOG), broker.logs.of(OTHER)
        assert (log.start_offset, log.end_offset) == (4, 8)
        assert [batch.epoch for batch in log.batches] == [1, 1, 1, 2]
        assert (other.start_offset, other.end_offset) == (50, 51)
        checkpoint = broker.machine.disk.read("/data/replication-offset-checkpoint")
        assert checkpoint == b"0\n2\nt 0 6\nu 1 0\n"
        await broker.does(DeleteLog(log=LOG))
        assert list(broker.logs) == [OTHER]
        names = broker.machine.disk.list_directory("/data")
        assert "t-0" not in names
        assert not any(name.endswith("-delete") for name in names)

    Broker(tmp_path, monkeypatch).run(scenario)


@pytest.mark.simulation
def test_an_fsync_that_is_left_out_is_noticed(tmp_path, monkeypatch):
    def nothing(self):
        return lambda: None

    monkeypatch.setattr(partition_log.PartitionLog, "_start_fsync", nothing)

    async def scenario(broker):
        await broker.does(CreateLog(log=LOG, topic="t"))
        for offset in range(0, 40, 2):
            await broker.does(Append(LOG, raw(offset, b"a", b"b")), flush(LOG, offset + 2))
            await broker.starts_again(broker.machine.lose_power)
            broker.machine.env.partitions.of(LOG)

    with pytest.raises(InvariantViolatedError, match="FlushedPartitionsAreKept"):
        Broker(tmp_path, monkeypatch, has_data=True).run(scenario)


@pytest.mark.simulation
def test_the_trace_names_the_log(tmp_path, monkeypatch):
    broker = Broker(tmp_path, monkeypatch)
    recorder = Recorder(broker.cluster.world)

    async def scenario(broker):
        await broker.does(
            CreateLog(log=LOG, topic="t"),
            Append(LOG, raw(0, b"a", b"b")),
            Append(LOG, raw(2)),
            Truncate(LOG, Offset(2)),
            DeleteLog(log=LOG, is_stray=True),
        )

    broker.run(scenario)
    texts = [event.text for event in recorder.events if "t-0: " in event.text]
    assert texts == [
        "t-0: creates the log",
        "t-0: appends 0-1@1",
        "t-0: appends 2@1",
        "t-0: truncates to 2",
    ]
    assert any("sets the stray log aside" in event.text for event in recorder.events)


@pytest.mark.simulation
@pytest.mark.parametrize("seed", range(4))
def test_an_orderly_exit_makes_every_log_durable(tmp_path, monkeypatch, seed):
    async def scenario(broker):
        await broker.does(CreateLog(log=LOG, topic="t"), CreateLog(log=OTHER, topic="u"))
        await broker.does(Append(LOG, raw(0, b"a", b"b")), Append(OTHER, raw(0)))
        broker.machine.stop()
        await broker.cluster.scope.sleep(5 * SECOND_NS)
        assert broker.machine.process is None
        assert broker.logs.of(LOG).durable_end == 2
        assert broker.machine.disk.exists("/data/.kafka_cleanshutdown")
        await broker.starts_again(broker.machine.lose_power)
        assert broker.logs.of(LOG).end_offset == 2
        assert broker.logs.of(OTHER).end_offset == 1

    Broker(tmp_path, monkeypatch, seed).run(scenario)


@pytest.mark.simulation
def test_the_quorum_truncates_while_a_partition_is_flushed(tmp_path, monkeypatch):
    async def scenario(broker):
        await broker.does(CreateLog(log=LOG, topic="t"), Append(LOG, raw(0)))
        process = broker.machine.process
        await broker.does(flush(LOG, 1), Truncate(METADATA_LOG, process.log.end_offset), wait_ns=0)

    Broker(tmp_path, monkeypatch).run(scenario)
