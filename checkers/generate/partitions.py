"""Makes histories of partitions: sends in virtual time, polls that follow, and final reads.

A send is appended at a moment between its two events, in the order of the moments, so that a
history is valid by construction. Readers poll at the end of each chunk, when no send is open, and
the final reads come last. `checkers.generate.spoiled_partitions` makes one answer wrong.
"""

from collections.abc import Iterator
from typing import Final, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from kraftproof.checkers.generate.options import GenerateOptions
from kraftproof.checkers.generate.spoiled_partitions import CORRUPTIONS, Corrupted, spoil
from kraftproof.checkers.history.columns import FAIL, INFO, OK
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.schema import OPERATION_STATUSES, table_schema
from kraftproof.checkers.verdict import CheckerInputError
from kraftproof.spelling import nearest

MODEL: Final = "log"
RUN: Final = "made"
POLLED: Final = 500
"""Records of a poll."""
_STEP_NS: Final = 10_000
"""Time between two appends."""
_ACKS: Final = np.asarray([-1, -1, -1, -1, -1, -1, -1, 1, 1, 0])

Ints = NDArray[np.int64]


class _Sends(NamedTuple):
    """The sends of a chunk, int64[n], in the order of their appends."""

    key: Ints
    session: Ints
    sequence: Ints
    offset: Ints
    status: Ints
    acks: Ints
    idempotent: Ints


class PartitionChunks:
    """The tables of operations of one history of partitions, in order; to be iterated once.

    Attributes:
        corrupted: the operation with the wrong answer, once its chunk has been made.
    """

    def __init__(self, options: GenerateOptions, chunk: int) -> None:
        """Check what is asked for.

        Raises: CheckerInputError: the kind of corruption is unknown.
        """
        self._options = options
        self._chunk = chunk
        self._random = np.random.Generator(np.random.PCG64(options.seed))
        self._sessions = max(2, options.concurrency)
        self._logs: list[list[Ints]] = [[] for _ in range(options.keys)]
        self._ends = np.zeros(options.keys, dtype=np.int64)
        self._made = self._events = 0
        self.corrupted: Operation | None = None
        if options.corrupt is not None and options.corrupt not in CORRUPTIONS:
            known = ", ".join(CORRUPTIONS)
            near = nearest(options.corrupt, CORRUPTIONS)
            raise CheckerInputError(f"--corrupt {options.corrupt}{near}: {MODEL} has {known}")

    @property
    def verdict(self) -> str:
        """The expected verdict on the whole history."""
        return "valid" if self._options.corrupt is None else "invalid"

    def __iter__(self) -> Iterator[pa.Table]:
        done = 0
        while done < self._options.operations:
            count = min(self._chunk, self._options.operations - done)
            begins = self._ends.copy()
            yield self._sends_table(self._sends(done, count))
            yield self._polls_table(begins)
            done += count
        logs = [np.concatenate([_NONE, *parts]) for parts in self._logs]
        wrong = Corrupted(logs, {}) if self._options.corrupt is None else self._spoiled(logs)
        yield self._finals_table(wrong)

    def _spoiled(self, logs: list[Ints]) -> Corrupted:
        assert self._options.corrupt is not None
        return spoil(self._options.corrupt, logs, self._random)

    def _sends(self, first: int, count: int) -> _Sends:
        random, options = self._random, self._options
        number = np.arange(first, first + count)
        key = random.integers(0, options.keys, count)
        drawn = random.random(count)
        unsure = drawn < options.indeterminate
        failed = ~unsure & (drawn < options.indeterminate + options.failed)
        session = number % self._sessions
        by_session = _ACKS[np.arange(self._sessions) % len(_ACKS)]
        status = np.where(unsure, INFO, np.where(failed, FAIL, OK))
        is_there = ~failed & ~(unsure & (random.random(count) < 0.5))
        offset = np.full(count, -1, dtype=np.int64)
        value = session << 32 | number // self._sessions
        for one in range(options.keys):
            rows = np.flatnonzero(is_there & (key == one))
            offset[rows] = self._ends[one] + np.arange(len(rows))
            self._ends[one] += len(rows)
            self._logs[one].append(value[rows])
        acks = by_session[session]
        idempotent = ((acks == -1) & (session % 2 == 0)).astype(np.int64)
        return _Sends(key, session, number // self._sessions, offset, status, acks, idempotent)

    def _sends_table(self, sends: _Sends) -> pa.Table:
        count = len(sends.key)
        at = np.arange(count, dtype=np.int64) * _STEP_NS
        most = self._sessions * _STEP_NS // 2
        begin = np.maximum(at - self._random.integers(1, most, count), 0)
        end = np.minimum(at + self._random.integers(1, most, count), count * _STEP_NS)
        order = np.argsort(begin, kind="stable")
        value = _values(sends.session, sends.sequence)
        asked = pc.binary_join_element_wise(
            pa.array(['{"value":']).take(pa.array(np.zeros(count, dtype=np.int64))),
            value,
            pa.array([',"acks":-1', ',"acks":0', ',"acks":1']).take(pa.array(sends.acks + 1)),
            pa.array([',"idempotent":false}', ',"idempotent":true}']).take(
                pa.array(sends.idempotent)
            ),
            "",
        )
        told = pc.binary_join_element_wise('{"offset":', _texts(sends.offset), "}", "")
        told = pc.if_else(pa.array(sends.acks == 0), '{"offset":null}', told)
        told = pc.if_else(pa.array(sends.status == OK), told, "null")
        rows = pa.array(order)
        return self._table(
            pa.array(["send"]).take(pa.array(np.zeros(count, dtype=np.int64))),
            sends.key[order],
            sends.session[order],
            asked.take(rows),
            told.take(rows),
            sends.status[order],
            begin[order],
            end[order],
        )

    def _polls_table(self, begins: Ints) -> pa.Table:
        """Return the polls of one reader a partition, and one poll without records."""
        answers = [
            _answers(np.concatenate(parts[-1:]), int(begin), int(end), int(end))
            for parts, begin, end in zip(self._logs, begins, self._ends, strict=True)
        ]
        return self._reads_table("poll", answers, 1)

    def _finals_table(self, wrong: Corrupted) -> pa.Table:
        ends = [int(end) for end in self._ends]
        answers = [
            _answers(log, 0, len(log), end, wrong.offsets.get(key))
            for key, (log, end) in enumerate(zip(wrong.logs, ends, strict=True))
        ]
        return self._reads_table("final", answers, 2)

    def _reads_table(self, f: str, answers: list[tuple[pa.Array, pa.Array]], by: int) -> pa.Table:
        counts = [len(asked) for asked, _ in answers]
        key = np.repeat(np.arange(len(answers)), counts)
        count = len(key)
        begin = np.arange(count, dtype=np.int64) * _STEP_NS
        return self._table(
            pa.array([f]).take(pa.array(np.zeros(count, dtype=np.int64))),
            key,
            key + self._sessions * by,
            pa.concat_arrays([asked for asked, _ in answers]),
            pa.concat_arrays([told for _, told in answers]),
            np.full(count, OK),
            begin,
            begin + _STEP_NS // 2,
        )

    def _table(
        self,
        f: pa.Array,
        key: Ints,
        process: Ints,
        asked: pa.Array,
        told: pa.Array,
        status: Ints,
        begin: Ints,
        end: Ints,
    ) -> pa.Table:
        count = len(key)
        ranks = np.empty(2 * count, dtype=np.int64)
        ranks[np.argsort(np.concatenate((begin, end)), kind="stable")] = np.arange(2 * count)
        clock = self._events * _STEP_NS
        invoke, complete = ranks[:count] + self._events, ranks[count:] + self._events
        columns = {
            "index": pa.array(np.arange(self._made, self._made + count)),
            "process": pa.array(process),
            "f": f,
            "key": pc.binary_join_element_wise("made", _texts(key), "-"),
            "input": asked,
            "output": told,
            "status": pa.array(OPERATION_STATUSES).take(pa.array(status)),
            "invoke_time": pa.array(begin + clock),
            "complete_time": pa.array(end + clock),
            "invoke_index": pa.array(invoke),
            "complete_index": pa.array(complete),
            "node": pa.nulls(count, pa.string()),
            "error": pa.nulls(count, pa.string()),
        }
        self._made += count
        self._events += 2 * count
        schema = table_schema("operations")
        return pa.Table.from_arrays([columns[name] for name in schema.names], schema=schema)


_NONE: Final = np.zeros(0, dtype=np.int64)


def _answers(
    values: Ints, begin: int, end: int, high_watermark: int, offsets: Ints | None = None
) -> tuple[pa.Array, pa.Array]:
    """Return the inputs and the answers of the reads of some records, POLLED each, and of none."""
    offset = np.arange(begin, end) if offsets is None else offsets
    records = pc.binary_join_element_wise(
        "[", _texts(offset), ",", _values(values >> 32, values & 0xFFFFFFFF), "]", ""
    )
    cuts = np.append(np.arange(0, len(offset), POLLED), len(offset)).astype(np.int32)
    lists = pa.ListArray.from_arrays(pa.array(cuts), records)
    joined = pa.concat_arrays([pc.binary_join(lists, ","), pa.array([""])])
    told = pc.binary_join_element_wise(
        '{"records":[', joined, f'],"log_start":0,"end":{high_watermark}}}', ""
    )
    position = np.append(offset[cuts[:-1]], offset[-1] + 1 if len(offset) else begin)
    asked = pc.binary_join_element_wise('{"position":', _texts(position), "}", "")
    return asked, told


def _values(session: Ints, sequence: Ints) -> pa.Array:
    return pc.binary_join_element_wise('"', _texts(session), ".", _texts(sequence), f'@{RUN}"', "")


def _texts(numbers: Ints) -> pa.Array:
    return pc.cast(pa.array(numbers), pa.string())
