"""Send random cases to a target until enough frames are sent, or a problem is found."""

from collections.abc import Callable
from dataclasses import dataclass, field
from random import Random

from kraftproof.cluster.scope import Task
from kraftproof.cluster.systems.reference.requests.case import Case, Send
from kraftproof.cluster.systems.reference.requests.drawing import CaseShape, draw_case
from kraftproof.cluster.systems.reference.requests.player import play
from kraftproof.cluster.systems.reference.requests.target import Target
from kraftproof.fuzz.watch import Sight, Watch

SHAPE = CaseShape(most_connections=4, most_frames=30)
LOOK_FRAMES = 2_000
"""Frames between two looks at the processes of the nodes."""
LANES = 4
"""Cases that are played at the same time: a case mostly waits, for a node or between its sends."""
SERVE_FRAMES = 10_000
"""Frames between two visits of the honest client."""
SLACK_MS = 30_000
"""Time for an answer beyond the time that the request allows; the machine may be busy."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """A problem of a node or an answer, with the frames sent before."""

    node_id: int
    """The node; 0 for the whole cluster."""
    reason: str
    case: Case

    @property
    def kind(self) -> str:
        """The reason without numbers and names, equal in all replays of a case."""
        head, _, _ = self.reason.partition(":")
        return "".join(one for one in head if not one.isdigit() and one not in "-'")


@dataclass(slots=True)
class Progress:
    """The frames sent so far."""

    frames: int = 0
    connections: int = 0
    grown_bytes: int = 0
    recent: list[Case] = field(default_factory=list)
    """The cases since the last look at the nodes."""


class Campaign:
    """Random cases to one target."""

    def __init__(self, target: Target, progress: Progress) -> None:
        self._target = target
        self._progress = progress
        self._watch = Watch(target)
        self._playing: list[Case] = []
        """The cases that have not ended."""

    async def run(
        self, seed: int, frames: int, is_over: Callable[[], bool], tell: Callable[[int], None]
    ) -> Finding | None:
        """Send frames; return the first finding."""
        target, progress = self._target, self._progress
        await target.learn()
        begun = await self._watch.start()
        if begun is not None:
            return self._finding(begun)
        random = Random(f"fuzz {seed}")
        lanes: list[Task[Finding | None]] = []
        looked = served = 0
        found: Finding | None = None
        while found is None and progress.frames < frames and not is_over():
            while len(lanes) < LANES:
                case = draw_case(target.nodes, target.vocabulary, SHAPE, random)
                lanes.append(target.scope.spawn(self._play(case)))
            ended = await target.scope.select(lanes)
            lanes.remove(ended)
            found = await ended
            if found is None and progress.frames - looked >= LOOK_FRAMES:
                looked = progress.frames
                found = await self._look(is_serving=looked - served >= SERVE_FRAMES)
                served = looked if looked - served >= SERVE_FRAMES else served
                tell(progress.frames)
        last = [await one for one in lanes]
        found = found or next((one for one in last if one is not None), None)
        return found or await self._look(is_serving=True)

    async def replay(self, case: Case) -> Finding | None:
        """Send the frames of a case; return the first finding."""
        await self._target.learn()
        begun = await self._watch.start()
        if begun is not None:
            return self._finding(begun)
        return await self._play(case) or await self._look(is_serving=True)

    async def _play(self, case: Case) -> Finding | None:
        target, progress = self._target, self._progress
        progress.recent.append(case)
        self._playing.append(case)
        problems = await play(
            case, target.streams, target.scope, target.vocabulary, slack_ms=SLACK_MS
        )
        self._playing.remove(case)
        progress.frames += len(case.sends)
        progress.connections += len(case.nodes)
        if not problems:
            return None
        first = problems[0]
        return Finding(node_id=first.node_id, reason=first.reason, case=case)

    async def _look(self, *, is_serving: bool) -> Finding | None:
        seen = await self._watch.look()
        if seen is None and is_serving:
            seen = await self._watch.serves() or await self._watch.look()
        self._progress.grown_bytes = self._watch.grown_bytes
        if seen is not None:
            return self._finding(seen)
        self._progress.recent[:] = self._playing
        return None

    def _finding(self, seen: Sight) -> Finding:
        return Finding(node_id=seen.node_id, reason=seen.reason, case=joined(self._progress.recent))


def joined(cases: list[Case]) -> Case:
    """Return a case with the connections and sends of several cases, in order."""
    nodes: list[int] = []
    sends: list[Send] = []
    for case in cases:
        moved = len(nodes)
        nodes.extend(case.nodes)
        sends.extend(
            Send(
                connection=send.connection + moved,
                frame=send.frame,
                expects=send.expects,
                about=send.about,
                within_ms=send.within_ms,
                after_ms=send.after_ms,
                cuts=send.cuts,
            )
            for send in case.sends
        )
    return Case(nodes=tuple(nodes), sends=tuple(sends))
