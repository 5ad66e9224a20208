"""Compare the answers about offsets, epochs, producers and sizes with the model of a leader."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.bare_data_plane import START_MS
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.leaders.leader_model import ModelLeader
from kraftproof.cluster.simulated.differential.leaders.leader_rig import LeaderRig
from kraftproof.cluster.simulated.differential.one_partition import NAME
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    describe_log_dirs_request,
    describe_log_dirs_response,
    describe_producers_request,
    describe_producers_response,
    list_offsets_request,
    list_offsets_response,
    offset_for_leader_epoch_request,
    offset_for_leader_epoch_response,
)

LATEST, EARLIEST, LOCAL_EARLIEST, TIERED = -1, -2, -4, -5
TIMES_VERSIONS: Final = (3, 4, 4, 5, 5, 7, 8, 9, 9)
EPOCHS_FROM, NOT_AVAILABLE_FROM = 4, 5
"""Versions of ListOffsets from which answers name epochs, and OFFSET_NOT_AVAILABLE (KIP-207)."""
FIRST_VERSIONS: Final = {LOCAL_EARLIEST: 8, TIERED: 9}
EPOCHS_VERSION: Final = 4
NO_EPOCH: Final = -1
NONE: Final = int(ErrorCode.NONE)
_ESTIMATE: Final = 8_192
"""Bytes by which the size may be wrong after a deletion: the index knows each span of 4,096."""

_Offsets = tuple[int, int, int, int]
"""The error, the offset, the time and the epoch of an answer."""


class LookUps:
    """Tools and consumers that ask about the partition."""

    def __init__(self, rig: LeaderRig, model: ModelLeader, random: Random) -> None:
        self._rig, self._model, self._random = rig, model, random
        self._waiting: dict[int, tuple[str, _Offsets]] = {}
        """The expected answer of each ListOffsets under way."""

    def offsets(self) -> None:
        """Ask for an end of the log, or for a time."""
        random, model = self._random, self._model
        latest = START_MS + self._rig.time_ms + 3
        time_ms = random.randint(latest - 500, latest)
        ends = (LATEST, LATEST, EARLIEST, LOCAL_EARLIEST, TIERED, -9)
        timestamp = time_ms if random.random() < 0.5 else random.choice(ends)
        is_replica = random.random() < 0.3
        version = random.choice(TIMES_VERSIONS)
        known_epoch = random.choice((NO_EPOCH, NO_EPOCH, model.epoch, 0, 99))
        known_epoch = known_epoch if version >= EPOCHS_FROM else NO_EPOCH
        part = list_offsets_request.ListOffsetsPartition(
            partition_index=0, current_leader_epoch=known_epoch, timestamp=timestamp
        )
        topic = list_offsets_request.ListOffsetsTopic(name=NAME, partitions=(part,))
        request = list_offsets_request.ListOffsetsRequest(
            replica_id=2 if is_replica else -1, topics=(topic,)
        )
        token = self._rig.ask_anonymously(request, version)
        asked = timestamp, known_epoch, version
        *expected, epoch = self._offsets(*asked, is_replica=is_replica)
        epoch = epoch if version >= EPOCHS_FROM else NO_EPOCH
        what = f"ListOffsets v{version} {timestamp} in epoch {known_epoch}"
        self._waiting[token] = what, (expected[0], expected[1], expected[2], epoch)
        self.settle()

    def settle(self) -> None:
        """End some searches of the disk, in any order, and compare the answers."""
        rig = self._rig
        while rig.open_searches and self._random.random() < 0.1:
            rig.find(self._random.choice(rig.open_searches))
        for token in [token for token in self._waiting if token in rig.answers]:
            what, expected = self._waiting.pop(token)
            answer = rig.answers.pop(token)
            assert isinstance(answer, list_offsets_response.ListOffsetsResponse), "its answer"
            found = answer.topics[0].partitions[0]
            told = (found.error_code, found.offset, found.timestamp, found.leader_epoch)
            same(what, told, expected)
        same("the requests that wait for a search", len(self._waiting), len(rig.open_searches))

    def _offsets(
        self, timestamp: int, known_epoch: int, version: int, *, is_replica: bool
    ) -> _Offsets:
        """Return the error, the offset, the time and the epoch of an answer."""
        model = self._model
        error = _epoch_error(model, known_epoch)
        is_new = version >= NOT_AVAILABLE_FROM
        early = ErrorCode.OFFSET_NOT_AVAILABLE if is_new else ErrorCode.LEADER_NOT_AVAILABLE
        if timestamp < TIERED or version < FIRST_VERSIONS.get(timestamp, 0):
            error = ErrorCode.UNSUPPORTED_VERSION
        end = model.end if is_replica else model.high_watermark
        is_early = end < model.epoch_start
        if not error and timestamp == LATEST and is_early:
            error = early
        if error or timestamp == TIERED:
            return (int(error), -1, -1, -1)
        if timestamp == LATEST:
            return (NONE, end, -1, model.epoch_at(end))
        if timestamp in {EARLIEST, LOCAL_EARLIEST}:
            return (NONE, model.start, -1, model.epoch_at(model.start))
        search = self._rig.searches.pop()
        same("the searched offsets", (search.start_offset, search.end_offset), (model.start, end))
        found = model.first_at(timestamp, end)
        error = early if found[0] < 0 and is_early else ErrorCode.NONE
        return (int(error), *found)

    def epoch_ends(self) -> None:
        """Ask for the end of an epoch."""
        module, model = offset_for_leader_epoch_request, self._model
        known_epoch = self._random.choice((NO_EPOCH, NO_EPOCH, model.epoch, 0, 99))
        epoch = self._random.randint(-1, model.epoch + 1)
        part = module.OffsetForLeaderPartition(
            partition=0, current_leader_epoch=known_epoch, leader_epoch=epoch
        )
        topic = module.OffsetForLeaderTopic(topic=NAME, partitions=(part,))
        request = module.OffsetForLeaderEpochRequest(replica_id=-1, topics=(topic,))
        answer = self._ask(request, EPOCHS_VERSION)
        response = offset_for_leader_epoch_response.OffsetForLeaderEpochResponse
        assert isinstance(answer, response), "its answer"
        found = answer.topics[0].partitions[0]
        error = _epoch_error(model, known_epoch)
        same(f"the error beside epoch {known_epoch}", found.error_code, int(error))
        if not error:
            told = (found.leader_epoch, found.end_offset)
            same(f"the end of epoch {epoch}", told, model.end_of(epoch))

    def producers(self) -> None:
        """Ask for the producers of the partition."""
        module = describe_producers_request
        topic = module.TopicRequest(name=NAME, partition_indexes=(0,))
        answer = self._ask(module.DescribeProducersRequest(topics=(topic,)), 0)
        assert isinstance(answer, describe_producers_response.DescribeProducersResponse), (
            "its answer"
        )
        found = [
            (each.producer_id, each.producer_epoch, each.last_sequence, each.last_timestamp)
            for each in answer.topics[0].partitions[0].active_producers
        ]
        expected = [
            (batch.producer[0], batch.producer[1], batch.last_sequence, batch.time_ms)
            for batch in self._model.last_batches()
        ]
        same("the producers", found, expected)

    def sizes(self) -> None:
        """Ask for the size of the partition's log."""
        request = describe_log_dirs_request.DescribeLogDirsRequest(topics=None)
        answer = self._ask(request, 4)
        assert isinstance(answer, describe_log_dirs_response.DescribeLogDirsResponse), "its answer"
        (directory,) = answer.results
        (topic,) = directory.topics
        (part,) = topic.partitions
        same("the described log", (topic.name, part.partition_index, part.offset_lag), (NAME, 0, 0))
        model = self._model
        size = sum(len(batch.data) for batch in model.batches if batch.end > model.start)
        what = f"a log of {size} bytes is described with {part.partition_size}"
        check(what, abs(part.partition_size - size) <= (_ESTIMATE if model.start else 0))
        check(what, (part.partition_size == 0) == (model.start == model.end))

    def _ask(self, request: Message, version: int) -> Message:
        answer = self._rig.answers.pop(self._rig.ask_anonymously(request, version), None)
        assert answer is not None, "a look-up is answered at once"
        return answer


def _epoch_error(model: ModelLeader, known_epoch: int) -> ErrorCode:
    if NO_EPOCH < known_epoch < model.epoch:
        return ErrorCode.FENCED_LEADER_EPOCH
    return ErrorCode.UNKNOWN_LEADER_EPOCH if known_epoch > model.epoch else ErrorCode.NONE
