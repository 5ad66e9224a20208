"""Compare the answers to Produce and InitProducerId's users with the model of a leader."""

import struct
from random import Random
from typing import Final

from msgspec import Struct

from kraftproof.cluster.simulated.background.client_batches import (
    CONTROL,
    TRANSACTIONAL,
    ClientRecord,
    Header,
    encode_batch,
)
from kraftproof.cluster.simulated.differential.bare_data_plane import START_MS
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.leaders.leader_model import (
    ModelBatch,
    ModelLeader,
    Producer,
)
from kraftproof.cluster.simulated.differential.leaders.leader_rig import LeaderRig
from kraftproof.cluster.simulated.differential.one_partition import NAME
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import produce_request, produce_response

ACKS: Final = (-1, -1, -1, 1, 1, 0)
VERSION: Final = 11
_ID_BYTES: Final = 8
_PLAIN: Final = (-1, -1, -1)
Expected = ModelBatch | ErrorCode


class _Waiting(Struct, kw_only=True):
    """A Produce without an answer."""

    batch: ModelBatch
    acks: int
    log_start: int
    deadline_ms: int


class Produces:
    """The producers of the partition, and their requests under way."""

    def __init__(self, rig: LeaderRig, model: ModelLeader, random: Random) -> None:
        self._rig, self._model, self._random = rig, model, random
        self._waiting: dict[int, _Waiting] = {}

    def produce(self) -> None:
        """Send a batch, right or wrong, and compare the answer."""
        random = self._random
        values = [
            b"v" * random.choice((1, 1, 20, 200)) for _ in range(random.choice((1, 1, 1, 1, 2, 3)))
        ]
        time_ms = START_MS + self._rig.time_ms + random.randrange(3)
        producer, count = self._draw_producer(len(values))
        values = values[:1] * count
        if random.random() < 0.15:
            self._send_wrong(producer, time_ms)
            return
        data = _encoded(values, time_ms, Header(producer=producer))
        if len(data) > self._model.largest:
            self._send(data, ErrorCode.MESSAGE_TOO_LARGE)
            return
        judged = self._model.judge(producer, count)
        if judged is None:
            model = self._model
            judged = ModelBatch(
                base=model.end,
                count=count,
                epoch=model.epoch,
                data=placed(data, model.end, model.epoch),
                producer=producer,
                time_ms=time_ms,
            )
            self._model.batches.append(judged)
        self._send(data, judged)

    def _draw_producer(self, count: int) -> tuple[Producer, int]:
        """Return the producer and the number of records of a batch: right, repeated or wrong."""
        random = self._random
        producer_id = random.choice((-1, 5, 5, 6, 7))
        known = [batch for batch in self._model.batches if batch.producer[0] == producer_id]
        if producer_id < 0:
            return _PLAIN, count
        if not known:
            return (producer_id, 0, 0), count
        _, epoch, _ = known[-1].producer
        following = known[-1].last_sequence + 1
        kind = random.random()
        if kind < 0.25:
            again = random.choice(known[-7:])
            return again.producer, again.count
        if kind < 0.3:
            return (producer_id, epoch, following + random.choice((1, 2))), count
        if kind < 0.45:
            return (producer_id, epoch + 1, random.choice((0, 0, following))), count
        if kind < 0.5 and epoch:
            return (producer_id, epoch - 1, following), count
        return (producer_id, epoch, following), count

    def _send_wrong(self, producer: Producer, time_ms: int) -> None:
        """Send a batch that no leader appends."""
        values = [b"wrong"]
        data = _encoded(values, time_ms, Header(producer=producer))
        kind = self._random.randrange(5)
        if kind == 0:
            self._send(data[:-1] + bytes([data[-1] ^ 1]), ErrorCode.CORRUPT_MESSAGE)
        elif kind == 1:
            flag = self._random.choice((CONTROL, TRANSACTIONAL))
            wrong = _encoded(values, time_ms, Header(producer=producer, flags=flag))
            nameless = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
            self._send(wrong, ErrorCode.INVALID_RECORD if flag == CONTROL else nameless)
        elif kind == 2:
            self._send(data, ErrorCode.INVALID_REQUIRED_ACKS, acks=2)
        elif kind == 3:
            self._send(data, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, index=7)
        else:
            self._send(data + data, ErrorCode.INVALID_RECORD)

    def _send(self, data: bytes, expected: Expected, *, acks: int = 9, index: int = 0) -> None:
        random = self._random
        acks = random.choice(ACKS) if acks == 9 else acks
        timeout_ms = random.choice((0, 50, 300))
        part = produce_request.PartitionProduceData(index=index, records=data)
        topic = produce_request.TopicProduceData(name=NAME, partition_data=(part,))
        request = produce_request.ProduceRequest(
            acks=acks, timeout_ms=timeout_ms, topic_data=(topic,)
        )
        log_start = self._model.start
        token = self._rig.ask_anonymously(request, VERSION)
        self._model.settle()
        if acks == 0:
            check("a Produce without acks has no answer", self._rig.answers.pop(token, 0) is None)
        elif isinstance(expected, ErrorCode):
            found = self._result(token)
            same("the error of a refused batch", found.error_code, int(expected))
            same("the offset of a refused batch", found.base_offset, -1)
        else:
            self._waiting[token] = _Waiting(
                batch=expected,
                acks=acks,
                log_start=log_start,
                deadline_ms=self._rig.time_ms + timeout_ms,
            )

    def settle(self) -> None:
        """Compare the answers with the acknowledgements, and the log with the model."""
        model = self._model
        found = [batch.data for batch in self._rig.batches]
        same("the log", found, [batch.data for batch in model.batches])
        for token, waiting in list(self._waiting.items()):
            own = model.own_end if waiting.acks == 1 else model.high_watermark
            is_late = waiting.deadline_ms <= self._rig.time_ms and token in self._rig.answers
            if own >= waiting.batch.end:
                self._acknowledged(token, waiting)
            elif is_late:
                result = self._result(token)
                same("the error after the time-out", result.error_code, ErrorCode.REQUEST_TIMED_OUT)
            else:
                end, high_watermark = waiting.batch.end, model.high_watermark
                what = f"acks={waiting.acks} up to {end} waits at high watermark {high_watermark}"
                check(what, token not in self._rig.answers)
                continue
            del self._waiting[token]

    def _acknowledged(self, token: int, waiting: _Waiting) -> None:
        result = self._result(token)
        what = f"the answer to acks={waiting.acks}"
        found = (result.error_code, result.base_offset, result.log_start_offset)
        same(what, found, (int(ErrorCode.NONE), waiting.batch.base, waiting.log_start))

    def expire(self) -> None:
        """Compare the time-outs of the requests that still wait."""
        for token, waiting in list(self._waiting.items()):
            if waiting.deadline_ms <= self._rig.time_ms:
                check("a Produce ends at its time-out", token in self._rig.answers)
        self.settle()

    def lose(self) -> None:
        """Compare the answers to the requests that wait when the leadership ends."""
        for token in self._waiting:
            result = self._result(token)
            found = result.error_code, result.base_offset
            same("a Produce at the end", found, (int(ErrorCode.NOT_LEADER_OR_FOLLOWER), -1))
        self._waiting.clear()

    def _result(self, token: int) -> produce_response.PartitionProduceResponse:
        answer = self._rig.answers.pop(token, None)
        check("a Produce is answered", isinstance(answer, produce_response.ProduceResponse))
        assert isinstance(answer, produce_response.ProduceResponse), "checked"
        return answer.responses[0].partition_responses[0]


def _encoded(values: list[bytes], time_ms: int, header: Header) -> bytes:
    return encode_batch([ClientRecord(value, time_ms) for value in values], header)


def placed(data: bytes, offset: int, epoch: int) -> bytes:
    """Return the bytes of a batch at its offset, in the epoch of its leader."""
    return struct.pack(">q", offset) + data[8:12] + struct.pack(">i", epoch) + data[16:]
