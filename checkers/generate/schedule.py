"""Virtual times of invocation, effect and completion for the operations of a chunk, vectorised.

Every key has separate clients. A client invokes, waits for the completion, pauses for a tenth of
that time and invokes again, so that nearly all clients have an operation open at any moment. An
operation takes effect at a moment between its two events, its linearization point: a history with
answers in the order of these points is linearizable by construction. The client of an indeterminate
operation gives up; the effect comes at any time after the invocation, also long after the client
gave up, or never. The process is then retired, as Jepsen does, and the client goes on as a new one.
It does not know objects or answers.
"""

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.random import Generator
from numpy.typing import NDArray

from kraftproof.checkers.generate.options import GenerateOptions
from kraftproof.checkers.generate.portions import Portions
from kraftproof.checkers.history.columns import FAIL, INFO, OK

LATENCY_NS: Final = 1_000_000
PAUSE_NS: Final = 100_000
PATIENCE: Final = 3
"""The client of an indeterminate operation waits this much longer than for an answer."""
LATENESS: Final = 10
"""An indeterminate effect comes this many latencies after the invocation, on average."""
NEVER_SHARE: Final = 0.5
"""The share of indeterminate operations that never take effect."""
SILENT_SHARE: Final = 0.25
"""The share of indeterminate operations without even an info event."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Schedule:
    """The operations of one chunk: n rows, by (key, linearization point).

    Attributes:
        key: int64[n], the number of the key.
        first: bool[n], whether the row is the first row of its key in this chunk.
        is_fresh: bool[n], whether all earlier operations on the key are in this chunk.
        process: int64[n].
        status: int8[n], OK, FAIL or INFO of `checkers.history.columns`, as far as chance decides.
        has_effect: bool[n]; false where it fails, or is indeterminate and never happens.
        invoke: int64[n], the index of the invocation's event in the history.
        complete: int64[n], the index of the completion's event; -1 where there is none.
        invoke_time: int64[n], ns.
        complete_time: int64[n], ns; of no meaning where there is no completion.
    """

    key: NDArray[np.int64]
    first: NDArray[np.bool_]
    is_fresh: NDArray[np.bool_]
    process: NDArray[np.int64]
    status: NDArray[np.int8]
    has_effect: NDArray[np.bool_]
    invoke: NDArray[np.int64]
    complete: NDArray[np.int64]
    invoke_time: NDArray[np.int64]
    complete_time: NDArray[np.int64]

    def __len__(self) -> int:
        return len(self.key)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Fates:
    """The random choices for each operation: n rows, by (key, client, turn)."""

    status: NDArray[np.int8]
    has_effect: NDArray[np.bool_]
    is_silent: NDArray[np.bool_]


class Scheduler:
    """Makes the schedules of a history's chunks; it carries time, event indexes and processes on.

    Its memory is bounded by a chunk and by the number of clients.
    """

    def __init__(self, options: GenerateOptions, random: Generator) -> None:
        self._options = options
        self._random = random
        self._clients = options.keys * options.concurrency
        self._retired = np.zeros(self._clients, dtype=np.int32)
        self._events = 0
        self._time_ns = 0

    def schedule(self, portions: Portions) -> Schedule:
        """Return the schedule of the next chunk."""
        rows = int(portions.count.sum())
        portion = np.repeat(np.arange(len(portions.key)), portions.count)
        local = np.arange(rows) - np.repeat(_starts(portions.count), portions.count)
        client = local * self._options.concurrency // portions.count[portion]
        client += portions.key[portion] * self._options.concurrency
        fates = self._fates(rows)
        invoke_time, complete_time = self._times(portion, client, fates)
        point = self._points(invoke_time, complete_time, fates)
        process = self._processes(client, fates)
        invoke, complete, place = self._events_of(invoke_time, point, complete_time, fates)
        order = np.lexsort((place, portion))
        key = portions.key[portion[order]]
        return Schedule(
            key=key,
            first=np.diff(key, prepend=-1) != 0,
            is_fresh=portions.first[portion[order]] == 0,
            process=process[order],
            status=fates.status[order],
            has_effect=fates.has_effect[order],
            invoke=invoke[order],
            complete=complete[order],
            invoke_time=invoke_time[order],
            complete_time=complete_time[order],
        )

    def _fates(self, rows: int) -> _Fates:
        options = self._options
        chance = self._random.random(rows)
        status = np.full(rows, OK, dtype=np.int8)
        status[chance < options.indeterminate + options.failed] = FAIL
        status[chance < options.indeterminate] = INFO
        is_lost = status == INFO
        happens = self._random.random(rows) >= NEVER_SHARE
        is_silent = self._random.random(rows) < SILENT_SHARE
        return _Fates(
            status=status,
            has_effect=(status == OK) | (is_lost & happens),
            is_silent=is_lost & is_silent,
        )

    def _times(
        self, portion: NDArray[np.int64], client: NDArray[np.int64], fates: _Fates
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return when each operation is invoked and completed: int64[n] each, ns."""
        rows = len(client)
        took = self._random.exponential(LATENCY_NS, rows).astype(np.int64) + 1
        took[fates.status == INFO] *= PATIENCE
        pause = self._random.exponential(PAUSE_NS, rows).astype(np.int64) + 1
        complete = np.cumsum(took + pause)
        is_first = np.diff(client, prepend=-1) != 0
        before = (complete - took - pause)[is_first]
        complete -= np.repeat(before, _counts(is_first))
        complete += self._offsets(portion, complete)[portion] + self._time_ns
        self._time_ns = int(complete.max(initial=self._time_ns)) + 1
        return complete - took, complete

    def _offsets(
        self, portion: NDArray[np.int64], complete: NDArray[np.int64]
    ) -> NDArray[np.int64]:
        """Return when each key's clients begin: small keys somewhere along the largest, ns."""
        spans = np.maximum.reduceat(complete, _starts(np.bincount(portion)))
        capacity: NDArray[np.int64] = (
            self._random.random(len(spans)) * (spans.max() - spans)
        ).astype(np.int64)
        return capacity

    def _points(
        self, invoke: NDArray[np.int64], complete: NDArray[np.int64], fates: _Fates
    ) -> NDArray[np.int64]:
        """Return when each operation takes effect, if it does: int64[n], ns."""
        share = self._random.random(len(invoke))
        point = invoke + (share * (complete - invoke)).astype(np.int64)
        is_lost = fates.status == INFO
        late = self._random.exponential(LATENESS * LATENCY_NS, int(is_lost.sum()))
        point[is_lost] = invoke[is_lost] + late.astype(np.int64)
        return point

    def _processes(self, client: NDArray[np.int64], fates: _Fates) -> NDArray[np.int64]:
        """Return the process of each operation: a client's next one after each retirement."""
        is_lost = fates.status == INFO
        retired = np.cumsum(is_lost) - is_lost
        is_first = np.diff(client, prepend=-1) != 0
        counts = _counts(is_first)
        retired += np.repeat(self._retired[client[is_first]] - retired[is_first], counts)
        last = np.cumsum(counts) - 1
        self._retired[client[last]] = retired[last] + is_lost[last]
        processes: NDArray[np.int64] = client + retired * self._clients
        return processes

    def _events_of(
        self,
        invoke_time: NDArray[np.int64],
        point: NDArray[np.int64],
        complete_time: NDArray[np.int64],
        fates: _Fates,
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Sort the events by time.

        At equal times invocations come first, then effects, then completions.

        Returns:
            The index of each invocation, of each completion (-1 if none), and the place of each
            linearization point among all of these: int64[n] each.
        """
        rows = len(point)
        moments = np.concatenate([invoke_time * 4, point * 4 + 1, complete_time * 4 + 2])
        order = np.argsort(moments, kind="stable")
        counts = np.ones(3 * rows, dtype=np.int64)
        counts[rows : 2 * rows] = 0
        counts[2 * rows :][fates.is_silent] = 0
        index = np.empty(3 * rows, dtype=np.int64)
        index[order] = np.cumsum(counts[order]) - 1 + self._events
        place = np.empty(3 * rows, dtype=np.int64)
        place[order] = np.arange(3 * rows)
        complete = index[2 * rows :]
        complete[fates.is_silent] = -1
        self._events += int(counts.sum())
        return index[:rows], complete, place[rows : 2 * rows]


def _starts(counts: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return where each run of that many rows starts."""
    starts: NDArray[np.int64] = np.cumsum(counts) - counts
    return starts


def _counts(is_first: NDArray[np.bool_]) -> NDArray[np.int64]:
    """Return the length of each run of rows, given the first rows of the runs."""
    return np.diff(np.append(np.flatnonzero(is_first), len(is_first)))
