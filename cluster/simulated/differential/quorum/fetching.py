"""Compare the requests and the log of a replica of the metadata log with plain rules."""

from random import Random
from typing import Final

from msgspec import Struct

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.quorum.bare_member import BareMember, batch_of
from kraftproof.cluster.simulated.differential.quorum.fetching_answers import (
    INVALID,
    NO_SLICE,
    draw_slice,
    draw_told,
    empty_answer,
    fetch_answer,
    slice_answer,
)
from kraftproof.cluster.simulated.differential.quorum.fetching_model import (
    MS,
    NOBODY,
    FetchingModel,
    Held,
    Told,
)
from kraftproof.cluster.simulated.differential.quorum.fetching_requests import (
    CLUSTER,
    VERSIONS,
    fetch_request_of,
    slice_request,
)
from kraftproof.cluster.simulated.differential.quorum.fetching_values import Download
from kraftproof.node.core.base.config import NodeConfig, SnapshotPolicy, Timeouts, Voter
from kraftproof.node.core.base.log_id import METADATA_LOG
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import SnapshotId, StoredSnapshot
from kraftproof.node.core.base.types import Epoch, NodeId, Offset
from kraftproof.node.core.events import Flushed, SnapshotChecked
from kraftproof.node.core.log.log import Log
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.metadata.snapshot import LoadedSnapshot
from kraftproof.node.core.raft.roles import Follower
from kraftproof.node.wire.messages import Message

HISTORIES: Final = 16
STEPS: Final = 60
UNKNOWN: Final = "a record of a newer node"


class Asked(Struct):
    """A request without an answer."""

    correlation: int
    target: int
    ends: int
    """The end of its time-out."""
    download: Download | None
    is_current: bool = True


class Replica:
    """A member of the quorum beside its model."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._losses = random.choice((0.1, 0.2, 0.7))
        voters = tuple(range(1, random.randint(2, 5) + 1))
        own = random.choice((*voters[:1], 8))
        times = Timeouts(
            election_ns=random.choice((300, 1000)) * MS,
            fetch_ns=random.choice((400, 900, 2001)) * MS,
            request_ns=random.choice((350, 2000)) * MS,
            retry_backoff_ns=random.choice((7, 20)) * MS,
            retry_backoff_max_ns=random.choice((100, 1000)) * MS,
        )
        self._config = NodeConfig(
            node_id=NodeId(own),
            cluster_id=CLUSTER,
            is_controller=own in voters,
            is_broker=own not in voters or random.random() < 0.5,
            voters=tuple(Voter(node_id=NodeId(v), host=f"h{v}", port=v) for v in voters),
            endpoints=(),
            timeouts=times,
            snapshots=SnapshotPolicy(slice_bytes=random.randint(1, 99)),
        )
        self._begin(own, voters, times)

    def _begin(self, own: int, voters: tuple[int, ...], times: Timeouts) -> None:
        random = self._random
        start = random.choice(((0, 0), (random.randint(1, 9), 1)))
        held: list[Held] = []
        epoch = start[1]
        for _ in range(random.randint(0, 4)):
            base = held[-1].end if held else start[0]
            epoch = max(epoch + random.choice((0, 0, 1, 2)), 1)
            held.append(Held(base, base + random.randint(1, 4), epoch))
        begin = SnapshotId(Offset(start[0]), Epoch(start[1]))
        log = Log([batch_of(*batch) for batch in held], begin)
        stored = [StoredSnapshot(snapshot=begin, size=9)] if start[0] else []
        epoch = max(epoch + random.randint(0, 1), 1)
        durable = QuorumState(epoch=Epoch(epoch))
        self._member = BareMember(self._config, durable, log, random, stored)
        model = FetchingModel(own, voters, times, self._member.now_ns)
        model.start, model.batches, model.epoch = start, held, epoch
        model.watermark = model.flushed = start[0]
        model.snapshots = [start] if stored else []
        self._model = model
        self._open: list[Asked] = []
        self._flushes: list[tuple[int, int]] = []
        self._checks: list[int] = []
        self._member.raft.start(self._member.now)
        if model.flushed < model.end:
            model.effects.append(("flush", 0, model.end))

    def run(self) -> None:
        """Take drawn steps until the node exits, or stands for election."""
        self._compare()
        for _ in range(STEPS):
            if self._is_over():
                return
            choices = [*(self._wait,) * 4, self._write_snapshot]
            if self._open:
                choices += [self._answer] * 16
            if self._flushes:
                choices += [self._flush] * 4
            if self._checks:
                choices += [self._check] * 4
            self._random.choice(choices)()
            if self._compare():
                return

    def _is_over(self) -> bool:
        """Return whether the replica becomes a candidate before anything else happens."""
        deadline = self._member.raft.deadline()
        return (
            deadline is not None and deadline > self._member.now_ns and self._is_election(deadline)
        )

    def _is_election(self, at: int) -> bool:
        due = self._model.due()
        return self._model.is_voter and not self._open and (due is None or at < due)

    def _latest(self) -> int:
        """Return the time up to which a voter does not stand for election."""
        role = self._member.raft.role
        ends = getattr(role, "election_deadline", None)
        return 1 << 62 if ends is None else ends - 1

    # The steps

    def _wait(self) -> None:
        due = self._model.due()
        if due is None or due <= self._member.now_ns:
            wanted = self._member.now_ns + self._random.randint(0, 40 * MS)
        else:
            wanted = self._random.choice((due, due, due - 1, due + 3 * MS))
        self._pass_to(wanted)

    def _pass_to(self, wanted: int) -> None:
        now = self._member.now_ns
        self._member.now_ns = max(now, min(wanted, self._latest()))

    def _answer(self) -> None:
        asked = self._random.choice(self._open)
        self._open.remove(asked)
        model, random = self._model, self._random
        is_lost = random.random() < self._losses
        if is_lost and random.random() < 0.6:
            self._pass_to(asked.ends - random.randint(0, 1))
        else:
            self._pass_to(self._member.now_ns + random.randint(0, 30 * MS))
        now = self._member.now_ns
        message: Message | None = None
        if asked.download is not None:
            part = None if is_lost else draw_slice(random, model, asked.download)
            if part is not None:
                message = slice_answer(part)
                if random.random() < 0.03:
                    message, part = empty_answer(is_slice=True), NO_SLICE
            model.sliced(asked.download, part, now)
        else:
            told = None if is_lost else draw_told(random, model, asked.target)
            if told is not None:
                message = fetch_answer(told)
                if random.random() < 0.03:
                    message = empty_answer(is_slice=False)
                    told = Told(error=INVALID, leader=NOBODY, epoch=-1)
            model.fetched(told, asked.target, now, is_current=asked.is_current)
        self._member.outbox.resume(asked.correlation, message, self._member.now)

    def _flush(self) -> None:
        generation, end = self._flushes.pop(0)
        self._member.raft.flushed_event(
            Flushed(log=METADATA_LOG, generation=generation, end_offset=Offset(end))
        )
        if generation == self._model.generation:
            self._model.flushed = max(self._model.flushed, end)

    def _write_snapshot(self) -> None:
        """End the writing of a snapshot, which a downloaded snapshot may have overtaken."""
        committed = min(self._model.watermark, self._model.flushed)
        ends = [(one.end, one.epoch) for one in self._model.batches if one.end <= committed]
        end, epoch = self._random.choice([*ends[-2:], self._model.start])
        stored = StoredSnapshot(snapshot=SnapshotId(Offset(end), Epoch(epoch)), size=9)
        if end:
            self._member.raft.snapshot_written(stored, self._member.now)
            self._model.written((end, epoch))

    def _check(self) -> None:
        number = self._checks.pop(0)
        model, random = self._model, self._random
        is_whole, is_known = random.random() < 0.8, random.random() < 0.9
        loaded = None
        of = model.download
        if is_whole and is_known and of is not None and of.number == number:
            of_snapshot = SnapshotId(Offset(of.snapshot[0]), Epoch(of.snapshot[1]))
            stored = StoredSnapshot(snapshot=of_snapshot, size=of.position)
            loaded = LoadedSnapshot(stored=stored, timestamp_ms=0, image=EMPTY_IMAGE)
        event = SnapshotChecked(
            copy=number, loaded=loaded, unsupported=None if is_known else UNKNOWN
        )
        self._member.raft.snapshot_checked(event, self._member.now)
        model.checked(number, self._member.now_ns, is_whole=loaded is not None, is_known=is_known)

    # The comparison

    def _compare(self) -> bool:
        """Compare a step with the model; return whether the node exits."""
        member, model = self._member, self._model
        member.settle()
        same("the effects", member.done(), model.effects)
        if ("exit", 1) in model.effects:
            return True
        for effect in model.effects:
            if effect[0] == "flush":
                self._flushes.append((int(str(effect[1])), int(str(effect[2]))))
            elif effect[0] == "check":
                self._checks.append(int(str(effect[1])))
        model.effects = []
        self._compare_requests()
        raft, log = member.raft, member.raft.log
        found = (raft.epoch, raft.leader, raft.high_watermark, raft.flushed, raft.snapshot_end)
        expected = (model.epoch, model.leader, model.watermark, model.flushed, model.snapshot_end)
        same("epoch, leader, high watermark, flushed and snapshot", found, expected)
        ends = (log.start_offset, log.end_offset, log.last_epoch, log.generation)
        same("the log", ends, (model.start[0], model.end, model.last_epoch, model.generation))
        self._compare_deadlines()
        return False

    def _compare_deadlines(self) -> None:
        role, times = self._member.raft.role, self._config.timeouts
        due = self._model.due()
        if isinstance(role, Follower):
            wait = role.election_deadline - self._model.renewed
            longest = times.fetch_ns + times.election_backoff_max_ns // 2
            check(f"a fetch time-out of {wait} ns", times.fetch_ns <= wait <= longest)
            same("the fetch time-out of an epoch", wait, role.fetch_timeout_ns)
        ends = getattr(role, "election_deadline", None)
        times_of_events = [at for at in (due, ends) if at is not None]
        same("the next event", self._member.raft.deadline(), min(times_of_events, default=None))

    def _compare_requests(self) -> None:
        """Compare the requests of the step, and note which of the older ones still count."""
        member, model = self._member, self._model
        due = model.due()
        is_due = due is not None and due <= member.now_ns
        for asked in self._open:
            if asked.download is None and not model.is_open:
                asked.is_current = False
        same("the number of requests", len(member.sent), int(is_due))
        for sent in member.sent:
            download = model.download if model.is_downloading else None
            if download is not None:
                same("who has the snapshot", sent.destination, model.leader)
                expected: Message = slice_request(
                    self._model, download, self._config.snapshots.slice_bytes
                )
                patience = min(self._config.timeouts.request_ns, self._config.timeouts.fetch_ns)
            else:
                names = model.targets(member.now_ns)
                check(f"a Fetch from {sent.destination}, not {names}", sent.destination in names)
                expected = fetch_request_of(model, is_broker=self._config.is_broker)
                patience = model.patience(sent.destination)
            same("a request", sent.message, expected)
            same("its version", sent.version, VERSIONS[type(expected)])
            same("its time-out", sent.timeout_ns, patience)
            ends = member.now_ns + sent.timeout_ns
            self._open.append(Asked(sent.correlation, sent.destination, ends, download))
            model.sends(sent.destination, member.now_ns)


def compare_fetching(random: Random) -> None:
    """Let replicas of drawn quorums fetch from drawn voters.

    Raises:
        DifferenceError: a request, an effect or a time is another one than the rules demand.
    """
    for _ in range(HISTORIES):
        Replica(random).run()
