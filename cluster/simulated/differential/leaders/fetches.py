"""Compare the answers to Fetch of consumers and followers with the model of a leader."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.bare_data_plane import FIRST_BROKER_EPOCH
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.leaders.leader_model import ModelLeader
from kraftproof.cluster.simulated.differential.leaders.leader_rig import BROKERS, LeaderRig
from kraftproof.cluster.simulated.differential.one_partition import NAME, TOPIC
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import fetch_request, fetch_response

CONSUMER: Final = -1
STRANGER: Final = 9
"""A broker that is not registered."""
NO_EPOCH: Final = -1
BY_NAME, BY_ID = 12, 16
"""Versions with the name of the topic, and with its id and the broker epoch of a follower."""
Part = fetch_response.PartitionData


class Fetches:
    """The consumers and the followers of the partition."""

    def __init__(self, rig: LeaderRig, model: ModelLeader, random: Random) -> None:
        self._rig, self._model, self._random = rig, model, random

    def consume(self) -> None:
        """Fetch as a consumer."""
        offset = self._random.randint(0, self._model.end + 1)
        last_epoch = self._draw_last_epoch(offset, right=0.1)
        self._fetch(CONSUMER, offset, last_epoch, self._draw_known_epoch(), -1)

    def follow(self) -> None:
        """Fetch as a follower, in most cases from the end of a right copy."""
        random, model = self._random, self._model
        replica = random.choice((*[*model.followers] * 4, *BROKERS[1:], STRANGER))
        ends = [batch.end for batch in model.batches]
        offset = random.choice((0, model.end, model.end, *ends[-3:], model.end + 1))
        last_epoch = self._draw_last_epoch(offset, right=0.8)
        start = random.choice((0, model.start, model.start))
        self._fetch(replica, offset, last_epoch, self._draw_known_epoch(), start)

    def follow_at_end(self, replica: int, *, tells_start: bool) -> None:
        """Fetch as a follower that has the leader's log, with the leader's start or an older one.

        The start is the only news of a follower that has fetched from the end before.
        """
        model = self._model
        told = model.followers[replica].start if replica in model.followers else 0
        start = model.start if tells_start else self._random.choice((0, max(told, 0)))
        last_epoch = self._draw_last_epoch(model.end, right=1)
        self._fetch(replica, model.end, last_epoch, model.epoch, start)

    def _draw_last_epoch(self, offset: int, *, right: float) -> int:
        """Return the epoch of the record before an offset, or another one."""
        model = self._model
        if self._random.random() < right:
            return max((b.epoch for b in model.batches if b.end <= offset), default=NO_EPOCH)
        return self._random.choice((NO_EPOCH, NO_EPOCH, model.epoch - 1, model.epoch + 1))

    def _draw_known_epoch(self) -> int:
        """Return the leader epoch that a client knows."""
        epoch = self._model.epoch
        return self._random.choice((NO_EPOCH, epoch, epoch, epoch, 0, 99))

    def _fetch(
        self, replica: int, offset: int, last_epoch: int, known_epoch: int, start: int
    ) -> None:
        random, model = self._random, self._model
        most = random.choice((0, 1, 100, 300, 1 << 20))
        most_of_all = random.choice((1, 250, 1 << 20))
        part = fetch_request.FetchPartition(
            partition=0,
            current_leader_epoch=known_epoch,
            fetch_offset=offset,
            last_fetched_epoch=last_epoch,
            log_start_offset=start,
            partition_max_bytes=most,
        )
        version = random.choice((BY_NAME, BY_ID))
        broker_epoch = FIRST_BROKER_EPOCH + replica - (random.random() < 0.1)
        topic = fetch_request.FetchTopic(topic=NAME, topic_id=TOPIC, partitions=(part,))
        request = fetch_request.FetchRequest(
            replica_id=replica if version == BY_NAME else CONSUMER,
            replica_state=fetch_request.ReplicaState(
                replica_id=replica, replica_epoch=broker_epoch if replica >= 0 else NO_EPOCH
            ),
            max_wait_ms=0,
            min_bytes=1,
            max_bytes=most_of_all,
            session_epoch=-1,
            topics=(topic,),
        )
        is_stale = (
            version == BY_ID
            and replica in BROKERS[1:]
            and broker_epoch < FIRST_BROKER_EPOCH + replica
        )
        error = self._error(replica, known_epoch, is_stale=is_stale)
        diverging = None if error else self._diverging(offset, last_epoch)
        if not error and diverging is None and self._is_outside(offset, last_epoch):
            error = ErrorCode.OFFSET_OUT_OF_RANGE
        if not error and diverging is None and replica >= 0:
            model.followers[replica].end, model.followers[replica].start = offset, start
        what = f"a Fetch of {replica} from {offset} after epoch {last_epoch}"
        token = self._rig.ask_anonymously(request, version)
        model.settle()
        found = self._part(token, what)
        same(f"the error of {what}", found.error_code, int(error))
        if not error:
            self._compare(what, found, replica, (offset, diverging, min(most, most_of_all)))

    def _error(self, replica: int, known_epoch: int, *, is_stale: bool) -> ErrorCode:
        """Return the error of a Fetch, whatever its offset."""
        model = self._model
        if is_stale:
            return ErrorCode.NOT_LEADER_OR_FOLLOWER
        if NO_EPOCH < known_epoch < model.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        if known_epoch > model.epoch:
            return ErrorCode.UNKNOWN_LEADER_EPOCH
        if replica >= 0 and replica not in model.followers:
            is_known = known_epoch != NO_EPOCH
            moved, unknown = ErrorCode.NOT_LEADER_OR_FOLLOWER, ErrorCode.UNKNOWN_LEADER_EPOCH
            return unknown if is_known else moved
        return ErrorCode.NONE

    def _diverging(self, offset: int, last_epoch: int) -> tuple[int, int] | None:
        """Return the epoch and the end that a diverged copy is told, unless it begins again."""
        if offset < self._model.start:
            return None
        epoch, end = self._model.end_of(last_epoch)
        is_known = epoch >= 0
        return (epoch, end) if is_known and (epoch < last_epoch or end < offset) else None

    def _is_outside(self, offset: int, last_epoch: int) -> bool:
        is_later = last_epoch > self._model.epoch
        return is_later or not self._model.start <= offset <= self._model.end

    def _compare(
        self, what: str, found: Part, replica: int, asked: tuple[int, tuple[int, int] | None, int]
    ) -> None:
        """Compare an answer without an error; asked are offset, divergence and bytes."""
        model, (offset, diverging, most) = self._model, asked
        ends = (found.high_watermark, found.last_stable_offset, found.log_start_offset)
        expected = (model.high_watermark, model.high_watermark, model.start)
        same(f"high watermark, last stable offset and start of {what}", ends, expected)
        told = (found.diverging_epoch.epoch, found.diverging_epoch.end_offset)
        same(f"the divergence of {what}", told, diverging or (-1, -1))
        end = model.end if replica >= 0 else model.high_watermark
        records = b"" if diverging else model.read(offset, end, most)
        same(f"the records of {what}", found.records or b"", records)

    def _part(self, token: int, what: str) -> Part:
        answer = self._rig.answers.pop(token, None)
        check(f"{what} is answered", isinstance(answer, fetch_response.FetchResponse))
        assert isinstance(answer, fetch_response.FetchResponse), "checked"
        return answer.responses[0].partitions[0]
