"""Compare the answers to DeleteRecords with the model of a leader."""

from random import Random
from typing import Final

from msgspec import Struct

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.leaders.leader_model import ModelLeader
from kraftproof.cluster.simulated.differential.leaders.leader_rig import LeaderRig
from kraftproof.cluster.simulated.differential.one_partition import NAME
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import delete_records_request, delete_records_response

VERSION: Final = 2
HIGH_WATERMARK: Final = -1
Result = delete_records_response.DeleteRecordsPartitionResult


class _Waiting(Struct, frozen=True):
    """A deletion without an answer."""

    offset: int
    deadline_ms: int


class Deletions:
    """The clients that delete records, and their requests under way."""

    def __init__(self, rig: LeaderRig, model: ModelLeader, random: Random) -> None:
        self._rig, self._model, self._random = rig, model, random
        self._waiting: dict[int, _Waiting] = {}

    def delete(self) -> None:
        """Delete up to an offset, often to the end of a batch."""
        random, model = self._random, self._model
        ends = [batch.end for batch in model.batches if batch.end <= model.high_watermark]
        offset = random.choice((HIGH_WATERMARK, *ends[:2], model.start, model.end + 1, -2))
        timeout_ms = random.choice((0, 50, 300))
        part = delete_records_request.DeleteRecordsPartition(partition_index=0, offset=offset)
        topic = delete_records_request.DeleteRecordsTopic(name=NAME, partitions=(part,))
        request = delete_records_request.DeleteRecordsRequest(
            topics=(topic,), timeout_ms=timeout_ms
        )
        wanted = model.high_watermark if offset == HIGH_WATERMARK else offset
        is_legal = 0 <= wanted <= model.high_watermark
        token = self._rig.ask_anonymously(request, VERSION)
        if is_legal:
            model.start = max(model.start, wanted)
            self._waiting[token] = _Waiting(wanted, self._rig.time_ms + timeout_ms)
            return
        result = self._result(token)
        expected = (int(ErrorCode.OFFSET_OUT_OF_RANGE), -1)
        same(f"a deletion up to {offset}", (result.error_code, result.low_watermark), expected)

    def settle(self) -> None:
        """Compare the answers with the starts that the followers have told."""
        model = self._model
        for token, waiting in list(self._waiting.items()):
            low = model.low_watermark()
            what = f"a deletion up to {waiting.offset} at low watermark {low}"
            if low >= waiting.offset:
                result = self._result(token)
                same(what, (result.error_code, result.low_watermark), (int(ErrorCode.NONE), low))
            elif waiting.deadline_ms <= self._rig.time_ms and token in self._rig.answers:
                result = self._result(token)
                same(f"the end of {what}", result.error_code, ErrorCode.REQUEST_TIMED_OUT)
            else:
                check(f"{what} waits", token not in self._rig.answers)
                continue
            del self._waiting[token]

    def expire(self) -> None:
        """Compare the time-outs of the requests that still wait."""
        for token, waiting in self._waiting.items():
            if waiting.deadline_ms <= self._rig.time_ms:
                check("a deletion ends at its time-out", token in self._rig.answers)
        self.settle()

    def lose(self) -> None:
        """Compare the answers to the requests that wait when the leadership ends."""
        for token in self._waiting:
            result = self._result(token)
            found = result.error_code, result.low_watermark
            same("a deletion at the end", found, (int(ErrorCode.NOT_LEADER_OR_FOLLOWER), -1))
        self._waiting.clear()

    def _result(self, token: int) -> Result:
        answer = self._rig.answers.pop(token, None)
        is_answer = isinstance(answer, delete_records_response.DeleteRecordsResponse)
        check("a deletion is answered", is_answer)
        assert isinstance(answer, delete_records_response.DeleteRecordsResponse), "checked"
        return answer.topics[0].partitions[0]
