"""Compare the answers and the commits of a leader of the metadata log with plain rules."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.quorum.bare_member import (
    START_NS,
    BareMember,
    batch_of,
)
from kraftproof.cluster.simulated.differential.quorum.fetching_model import MS, NOBODY, Held
from kraftproof.cluster.simulated.differential.quorum.serving_messages import (
    CLUSTER,
    describe_answer,
    describe_request,
    fetch_answer,
    fetch_request_of,
    received,
    slice_answer,
    slice_request,
    votes_for,
)
from kraftproof.cluster.simulated.differential.quorum.serving_model import (
    Fetch,
    Given,
    ServingModel,
    SliceOf,
)
from kraftproof.node.core.base.config import NodeConfig, SnapshotPolicy, Timeouts, Voter
from kraftproof.node.core.base.log_id import METADATA_LOG
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import SnapshotId, StoredSnapshot
from kraftproof.node.core.base.types import Epoch, NodeId, Offset
from kraftproof.node.core.events import Flushed
from kraftproof.node.core.log.log import Log
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.records.metadata import NoOpRecord

HISTORIES: Final = 8
STEPS: Final = 50
OWN: Final = 1
OBSERVERS: Final = (7, 8)
WRONG: Final = 0.05
"""The share of requests that name another cluster or no log."""


class Served:
    """A leader beside its model; the other members and the disk are this class."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._voters = tuple(range(OWN, random.randint(1, 5) + 1))
        self._slice_bytes = random.randint(1, 60)
        times = Timeouts(fetch_ns=random.choice((400, 2000)) * MS)
        config = NodeConfig(
            node_id=NodeId(OWN),
            cluster_id=CLUSTER,
            is_controller=True,
            is_broker=False,
            voters=tuple(Voter(node_id=NodeId(v), host=f"h{v}", port=v) for v in self._voters),
            endpoints=(),
            timeouts=times,
            snapshots=SnapshotPolicy(slice_bytes=self._slice_bytes),
        )
        start = random.choice(((0, 0), (random.randint(1, 9), random.randint(1, 2))))
        held: list[Held] = []
        epoch = start[1]
        for _ in range(random.randint(0, 4)):
            base = held[-1].end if held else start[0]
            epoch = max(epoch + random.choice((0, 1, 2)), 1)
            held.append(Held(base, base + random.randint(1, 4), epoch))
        begin = SnapshotId(Offset(start[0]), Epoch(start[1]))
        log = Log([batch_of(*batch) for batch in held], begin)
        size = random.randint(1, 99)
        stored = [StoredSnapshot(snapshot=begin, size=size)] if start[0] else []
        durable = QuorumState(epoch=Epoch(epoch))
        self._member = BareMember(config, durable, log, random, stored)
        self._requests = 0
        self._flushes: list[tuple[int, int]] = []
        self._elect()
        model = ServingModel(OWN, self._voters, times.fetch_ns, self._member.now_ns)
        model.start, model.batches, model.epoch = start, held, epoch + 1
        model.watermark = model.flushed = start[0]
        model.opened = model.end
        model.batches.append(Held(model.end, model.end + 1, model.epoch))
        model.snapshots = [(start, size)] if start[0] else []
        self._model = model

    def _elect(self) -> None:
        """Let the time-out pass, and give every vote."""
        member = self._member
        member.raft.start(member.now)
        member.settle()
        self._note_flushes(member.done())
        if len(self._voters) > 1:
            member.now_ns = int(member.raft.deadline() or 0)
            while not member.raft.is_leader and member.now_ns < 1 << 40:
                member.settle()
                self._note_flushes(member.done())
                asked = [sent for sent in member.sent if type(sent.message).__name__[:4] == "Vote"]
                for sent in asked:
                    answer = votes_for(member.raft.epoch)
                    member.outbox.resume(sent.correlation, answer, member.now)
                if not asked:
                    member.now_ns = int(member.raft.deadline() or 0)
            member.settle()
            self._note_flushes(member.done())
        check("a candidate with all votes leads", member.raft.is_leader)

    def run(self) -> None:
        """Take drawn steps."""
        steps = (self._fetch,) * 5 + (self._slice,) * 2
        others = (self._describe, self._propose, self._flush, self._wait, self._write_snapshot)
        for _ in range(STEPS):
            self._member.raft.check_leadership(self._member.now)
            self._model.check_majority(self._member.now_ns)
            self._random.choice((*steps, *others))()
            self._compare()

    # The steps

    def _wait(self) -> None:
        member, model = self._member, self._model
        ends = [asked.due for asked in model.waiting.values()]
        if model.is_leader and model.replicas:
            ends.append(model.until)
        deadline = member.raft.deadline()
        check("a leader wakes in time", not ends or (deadline or 1 << 62) <= min(ends))
        if not model.is_leader:
            return
        wanted = (
            *ends,
            *(at - 1 for at in ends),
            member.now_ns + self._random.randint(0, 200 * MS),
        )
        member.now_ns = max(member.now_ns, self._random.choice(wanted))
        member.raft.check_leadership(member.now)
        model.check_majority(member.now_ns)

    def _now_ms(self) -> int:
        return (START_NS + self._member.now_ns) // MS

    def _fetch(self) -> None:
        random, model = self._random, self._model
        at = random.choice((*model.batches, Held(0, *model.start)))
        replica = random.choice((*self._voters[1:], *OBSERVERS, NOBODY))
        asked = Fetch(
            request=self._number(),
            version=random.randint(11, 18),
            replica=replica,
            epoch=model.epoch,
            offset=at.end,
            last_epoch=at.epoch,
            watermark=random.choice((0, model.watermark, model.watermark - 1, (1 << 63) - 1)),
            most_bytes=random.choice((0, 128, 640, 641, 1 << 20)),
            wait_ms=random.choice((0, 100, 500, 501, -1)),
        )
        if random.random() < 0.25:
            asked.offset += random.choice((-1, 1, 3))
        if random.random() < 0.15:
            asked.last_epoch += random.choice((-1, 1))
        if random.random() < 0.1:
            asked.epoch += random.choice((-1, 1))
        if random.random() < 0.03:
            asked.epoch = asked.last_epoch = -1
        self._ask_fetch(asked, WRONG)

    def _ask_fetch(self, asked: Fetch, wrong_share: float) -> None:
        model = self._model
        message, wrong = fetch_request_of(self._random, asked, wrong_share)
        self._receive(message, asked.request, asked.version)
        if wrong is not ErrorCode.NONE:
            model.answers.append((asked, Given(error=wrong, whole_error=wrong)))
        else:
            model.fetch(asked, self._member.now_ns, self._now_ms())

    def _slice(self) -> None:
        random, model = self._random, self._model
        known = [*model.snapshots, ((model.end, model.epoch), 9)]
        snapshot, size = random.choice(known)
        asked = SliceOf(
            request=self._number(),
            replica=random.choice((*self._voters[1:], *OBSERVERS, NOBODY)),
            epoch=model.epoch + random.choice((0,) * 9 + (-1, 1)),
            snapshot=snapshot,
            position=random.choice((0, 0, size - 1, size, -1, random.randrange(size))),
            most_bytes=random.choice((1, self._slice_bytes, self._slice_bytes + 1, 1 << 20, 0)),
        )
        self._ask_slice(asked, size)

    def _ask_slice(self, asked: SliceOf, size: int, wrong_share: float = WRONG) -> None:
        model = self._model
        message, wrong = slice_request(self._random, asked, wrong_share)
        self._receive(message, asked.request, 1)
        if wrong is ErrorCode.NONE and asked.most_bytes < 1:
            wrong = ErrorCode.INVALID_REQUEST
        if wrong is not ErrorCode.NONE:
            answer = slice_answer(model, None, wrong, 0)
            model.effects.append(("reply", asked.request, answer))
            return
        error, size = model.slice(asked, self._member.now_ns)
        answer = slice_answer(model, asked, error, size)
        if error is not ErrorCode.NONE:
            model.effects.append(("reply", asked.request, answer))
            return
        most = min(asked.most_bytes, self._slice_bytes)
        place = (*asked.snapshot, asked.position, most)
        model.effects.append(("reply with slice", asked.request, answer, *place))

    def _describe(self) -> None:
        number, version = self._number(), self._random.randint(0, 2)
        is_known = self._random.random() < 0.8
        self._receive(describe_request(is_known=is_known), number, version)
        answer = describe_answer(self._model, version, self._now_ms(), is_known=is_known)
        self._model.effects.append(("reply", number, answer))

    def _propose(self) -> None:
        model = self._model
        if not model.is_leader:
            return
        count = self._random.randint(1, 4)
        last = self._member.raft.propose([NoOpRecord()] * count, self._member.now)
        added = Held(model.end, model.end + count, model.epoch)
        same("the last offset of a batch", last, added.end - 1)
        model.batches.append(added)
        model.effects += [("append", *added), ("flush", model.generation, model.end)]

    def _flush(self) -> None:
        if not self._flushes:
            return
        generation, end = self._flushes.pop(self._random.randrange(len(self._flushes)))
        self._member.raft.flushed_event(
            Flushed(log=METADATA_LOG, generation=generation, end_offset=Offset(end))
        )
        self._model.flushed = max(self._model.flushed, end)
        self._model.commit()

    def _write_snapshot(self) -> None:
        model = self._model
        at = [batch for batch in model.batches if batch.end <= model.watermark]
        if not at:
            return
        self._take_snapshot(self._random.choice(at), self._random.randint(1, 99))

    def _take_snapshot(self, of: Held, size: int) -> None:
        snapshot = SnapshotId(Offset(of.end), Epoch(of.epoch))
        self._member.raft.snapshot_written(
            StoredSnapshot(snapshot=snapshot, size=size), self._member.now
        )
        self._model.snapshot((of.end, of.epoch), size, self._member.now_ns)

    def _number(self) -> int:
        self._requests += 1
        return self._requests

    def _receive(self, message: Message, number: int, version: int) -> None:
        self._member.raft.receive(received(message, number, version), self._member.now)

    # The comparison

    def _compare(self) -> None:
        member, model = self._member, self._model
        member.raft.settle(member.now)
        done = member.done()
        self._note_flushes(done)
        model.settle(member.now_ns)
        for asked, given in model.answers:
            model.effects.append(("reply", asked.request, fetch_answer(model, asked, given)))
        same("the effects", done, model.effects)
        model.answers, model.effects = [], []
        raft, log = member.raft, member.raft.log
        found = (raft.is_leader, raft.epoch, raft.leader, raft.high_watermark, raft.flushed)
        expected = (model.is_leader, model.epoch, model.leader, model.watermark, model.flushed)
        same("leadership, high watermark and flushed", found, expected)
        place = (log.start.end_offset, log.start.epoch, log.end_offset)
        same("the log", place, (*model.start, model.end))
        newest = model.snapshots[-1][0][0] if model.snapshots else 0
        same("the newest snapshot", raft.snapshot_end, newest)

    def _note_flushes(self, done: list[tuple[object, ...]]) -> None:
        found = [effect for effect in done if effect[0] == "flush"]
        self._flushes += [(int(str(flush[1])), int(str(flush[2]))) for flush in found]


def compare_serving(random: Random) -> None:
    """Ask leaders of drawn quorums.

    Raises:
        DifferenceError: an answer, an effect or a high watermark is not what the rules demand.
    """
    for _ in range(HISTORIES):
        Served(random).run()
