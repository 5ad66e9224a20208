"""A metadata log that every controller of a run has on its disk before its first start.

The log comes from another controller: its epochs lie before those of the run, all of it is on every
voter, and so it counts as committed. See inherited_records.py for the records.
"""

from collections.abc import Sequence
from random import Random
from typing import Final

from kraftproof.cluster.simulated.inherited.inherited_records import NAME, draw_groups, draw_uuid
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import Epoch
from kraftproof.node.storage.batch_codec import BatchCodec
from kraftproof.node.storage.filesystem import FileSystem
from kraftproof.node.storage.log import MetadataLog
from kraftproof.node.storage.quorum_state import write_quorum_state
from kraftproof.node.storage.stored import StorageConfig, log_directory, quorum_state_path
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch, Record
from kraftproof.node.wire.records.control import LeaderChange, LeaderChangeVoter

SHARE: Final = 0.15
"""Share of runs with an inherited log."""
OPEN_SHARE: Final = 0.5
"""Share of inherited logs that end within a metadata transaction."""
TIMESTAMP_MS: Final = 1_760_000_000_000
"""The time of the first batch, before the start of every run."""


def draw_inherited_log(random: Random, voters: Sequence[int]) -> tuple[Batch, ...]:
    """Return the batches of a log; no batch in most runs."""
    if random.random() >= SHARE:
        return ()
    return inherited_log(random, voters)


def inherited_log(random: Random, voters: Sequence[int]) -> tuple[Batch, ...]:
    """Return the batches of a log with several epochs."""
    log = _Writer(random, voters)
    log.elect()
    for broker_id in (901, 902):
        log.register(broker_id)
    for group in draw_groups(random):
        if random.random() < 0.2:
            log.elect()
        for written in group:
            log.append(written)
    if random.random() < OPEN_SHARE:
        topic = records.TopicRecord(name=f"{NAME}.lost", topic_id=draw_uuid(random))
        log.append((records.BeginTransactionRecord(name="lost"), topic))
        log.append((records.ConfigRecord(resource_type=4, name="metrics", value="lost"),))
    return tuple(log.batches)


class _Writer:
    """The batches so far, and the epoch of the next batch."""

    def __init__(self, random: Random, voters: Sequence[int]) -> None:
        self.batches: list[Batch] = []
        self._random = random
        self._voters = tuple(LeaderChangeVoter(voter_id=voter) for voter in voters)
        self._epoch = 0
        self._end = 0

    def append(self, written: tuple[Record, ...], *, is_control: bool = False) -> None:
        """Append a batch in the present epoch."""
        batch = Batch(
            base_offset=self._end,
            epoch=self._epoch,
            timestamp_ms=TIMESTAMP_MS + 100 * len(self.batches),
            is_control=is_control,
            records=written,
        )
        self.batches.append(batch)
        self._end = batch.next_offset

    def elect(self) -> None:
        """Begin a later epoch."""
        self._epoch += self._random.randint(1, 2)
        leader = self._random.choice(self._voters)
        change = LeaderChange(
            leader_id=leader.voter_id, voters=self._voters, granting_voters=self._voters
        )
        self.append((change,), is_control=True)

    def register(self, broker_id: int) -> None:
        """Append the life of a broker that is gone: registered, changed, and fenced or removed."""
        random, epoch = self._random, self._end
        directory = draw_uuid(random)
        self.append(
            (
                records.RegisterBrokerRecord(
                    broker_id=broker_id,
                    incarnation_id=draw_uuid(random),
                    broker_epoch=epoch,
                    end_points=(records.BrokerEndpoint(name="OTHER", host="h", port=1),),
                    features=(records.BrokerFeature(name="f", max_supported_version=2),),
                    rack=random.choice((None, "south")),
                    log_dirs=(directory,),
                    cordoned_log_dirs=random.choice((None, (), (directory,))),
                ),
            )
        )
        self.append((records.UnfenceBrokerRecord(id=broker_id, epoch=epoch),))
        change = records.BrokerRegistrationChangeRecord(
            broker_id=broker_id,
            broker_epoch=epoch,
            in_controlled_shutdown=1,
            log_dirs=random.choice(((), (draw_uuid(random),))),
            cordoned_log_dirs=random.choice((None, ())),
        )
        self.append((change,))
        self.append((records.FenceBrokerRecord(id=broker_id, epoch=epoch),))
        if random.random() < 0.4:
            gone = records.UnregisterBrokerRecord(broker_id=broker_id, broker_epoch=epoch)
            self.append((gone,))


def write_inherited_log(
    filesystem: FileSystem,
    config: StorageConfig,
    cluster_id: str,
    batches: Sequence[Batch],
    codec: BatchCodec,
) -> None:
    """Write the log and the quorum-state to a formatted disk, durably."""
    directory = log_directory(config)
    log, _ = MetadataLog.open(filesystem, directory, config.segment_bytes, codec=codec)
    for batch in batches:
        log.append(batch)
    log.start_flush()()
    log.close()
    write_quorum_state(
        filesystem,
        quorum_state_path(config),
        QuorumState(epoch=Epoch(batches[-1].epoch)),
        cluster_id=cluster_id,
        node_id=config.node_id,
        voter_ids=config.voter_ids,
    )
