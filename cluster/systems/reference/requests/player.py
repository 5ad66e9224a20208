"""Play a case: send its frames to a cluster over byte streams, and judge what comes back."""

from collections.abc import Callable
from typing import Protocol

from msgspec import Struct

from kraftproof.cluster.connection import ConnectionFailed
from kraftproof.cluster.scope import Promise, Scope
from kraftproof.cluster.systems.reference.requests.answers import ConnectionJudge
from kraftproof.cluster.systems.reference.requests.case import Case
from kraftproof.cluster.systems.reference.requests.vocabulary import Vocabulary
from kraftproof.node.wire.messages import Message, create_topics_response
from kraftproof.node.wire.types import ZERO_UUID

OPEN_TIMEOUT_NS = 2_000_000_000
LOOK_NS = 500_000_000
"""Longest wait before the clock is read again, while nothing arrives."""
MOST_WAITED_NS = 10_000_000_000
"""Longest wait for the answers of a case beyond the slack, by the player's own clock."""
LINGER_NS = 5_000_000
"""Time after the last answer in which an answer too many would arrive."""
SLACK_MS = 3_000
"""Time for an answer beyond the time that the request itself allows: a forwarding broker's
time-outs, the controller's, and the way."""
SEGMENT_NS = 1_000_000
"""Pause between two segments of a frame."""


class ByteStream(Protocol):
    """A client's end of a connection that carries bytes."""

    node_id: int

    def write(self, data: bytes) -> None:
        """Send bytes; a stream that has ended takes them in silence."""
        ...

    def take(self) -> bytes:
        """Return and remove the bytes that have arrived."""
        ...

    def close(self) -> None:
        """End the connection at once."""
        ...

    @property
    def end(self) -> "bool | None":
        """None while the connection stands; else whether the node has wrongly ended it."""
        ...

    def now_ns(self) -> int:
        """Return the time in which the node could work, by which lateness is counted."""
        ...

    def on_change(self, action: Callable[[], None]) -> None:
        """Call `action` whenever bytes arrive and when the connection ends."""
        ...


class OpensStreams(Protocol):
    """A cluster to whose nodes byte streams can be opened."""

    async def open_stream(self, node_id: int, timeout_ns: int) -> ByteStream:
        """Open a connection to the node's listener.

        Raises:
            ConnectionFailed: refused or no answer.
        """
        ...


class Problem(Struct, frozen=True, kw_only=True):
    """An answer that was wrong, late or missing."""

    node_id: int
    reason: str
    """One line."""


async def play(
    case: Case,
    cluster: OpensStreams,
    scope: Scope,
    vocabulary: Vocabulary,
    *,
    slack_ms: int = SLACK_MS,
) -> list[Problem]:
    """Send the frames of a case in order, wait for the answers, and return the problems.

    A node that does not listen is left out. The ids that answers show go into the vocabulary.
    """
    player = _Player(scope, vocabulary, slack_ms)
    try:
        for index, node_id in enumerate(case.nodes):
            try:
                await player.open(index, cluster, node_id)
            except ConnectionFailed:
                continue
        await player.send(case)
        await player.wait()
        return player.problems()
    finally:
        player.close()


class _Player:
    """The connections of a case that is being played."""

    def __init__(self, scope: Scope, vocabulary: Vocabulary, slack_ms: int) -> None:
        self._scope = scope
        self._slack_ms = slack_ms
        self._vocabulary = vocabulary
        self._streams: dict[int, tuple[ByteStream, ConnectionJudge]] = {}
        self._unsent: dict[int, bytearray] = {}
        """Bytes that leave with the next segment, by connection."""
        self._changed: Promise[bool] | None = None

    async def open(self, index: int, cluster: OpensStreams, node_id: int) -> None:
        stream = await cluster.open_stream(node_id, OPEN_TIMEOUT_NS)
        stream.on_change(self._wake)
        self._streams[index] = (stream, ConnectionJudge(self._learn, self._slack_ms))

    async def send(self, case: Case) -> None:
        """Send the frames; frames without a pause between them leave in one segment."""
        for one in case.sends:
            if one.connection not in self._streams:
                continue
            stream, judge = self._streams[one.connection]
            if one.after_ms:
                self._flush()
                await self._scope.sleep(one.after_ms * 1_000_000)
            for number, segment in enumerate(one.segments):
                if number:
                    self._flush()
                    await self._scope.sleep(SEGMENT_NS)
                self._unsent.setdefault(one.connection, bytearray()).extend(segment)
            judge.sent(one, stream.now_ns())
        self._flush()

    def _flush(self) -> None:
        for connection, data in self._unsent.items():
            self._streams[connection][0].write(bytes(data))
        self._unsent.clear()

    async def wait(self) -> None:
        """Wait until every connection has all answers, an end or a problem."""
        until_ns = self._scope.now() + MOST_WAITED_NS + self._slack_ms * 1_000_000
        while not self._look() and self._scope.now() < until_ns:
            self._changed = self._scope.promise()
            await self._scope.wait(self._changed, LOOK_NS)
        self._changed = None
        await self._scope.sleep(LINGER_NS)
        self._look()

    def problems(self) -> list[Problem]:
        return [
            Problem(node_id=stream.node_id, reason=judge.problem)
            for stream, judge in self._streams.values()
            if judge.problem is not None
        ]

    def close(self) -> None:
        for stream, _ in self._streams.values():
            stream.close()

    def _look(self) -> bool:
        """Read what has arrived; return whether nothing more has to come."""
        for stream, judge in self._streams.values():
            judge.received(stream.take(), stream.now_ns())
            if stream.end is not None and not judge.is_done:
                judge.ended(by_node=stream.end)
            judge.overdue(stream.now_ns())
        return all(judge.is_done for _, judge in self._streams.values())

    def _wake(self) -> None:
        if self._changed is not None:
            self._changed.set(True)

    def _learn(self, answer: Message) -> None:
        """Remember ids of own topics; Metadata also tells those of the workload's topics."""
        if not isinstance(answer, create_topics_response.CreateTopicsResponse):
            return
        for topic in answer.topics[:3]:
            if topic.topic_id != ZERO_UUID and topic.topic_id not in self._vocabulary.topic_ids:
                self._vocabulary.remember(topic.topic_id)
