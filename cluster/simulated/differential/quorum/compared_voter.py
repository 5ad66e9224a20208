"""Compare a member of the quorum with its model after each step of an election."""

from random import Random

from msgspec import Struct
from typing_extensions import override

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.differential.quorum.bare_member import (
    START_NS,
    BareMember,
    batch_of,
)
from kraftproof.cluster.simulated.differential.quorum.fetching_model import MS, NOBODY, Held
from kraftproof.cluster.simulated.differential.quorum.voter_state import (
    ANY,
    LAST_EPOCH,
    LEAST,
    MOST,
    Span,
)
from kraftproof.cluster.simulated.differential.quorum.voting_draws import (
    OBSERVER,
    draw_voter,
)
from kraftproof.cluster.simulated.differential.quorum.voting_messages import (
    BEGIN,
    END,
    KINDS,
    VOTE,
    own_request,
)
from kraftproof.cluster.simulated.differential.quorum.voting_model import (
    Asking,
    VotingModel,
)
from kraftproof.node.core.base.log_id import METADATA_LOG
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import Epoch, NodeId, Offset
from kraftproof.node.core.effects import Send
from kraftproof.node.core.events import Flushed
from kraftproof.node.core.log.log import Log
from kraftproof.node.wire.messages import Message, fetch_request
from kraftproof.node.wire.records.control import LeaderChange, LeaderChangeVoter


class Chances(Random):
    """Draws whole numbers at the begin, at the end, or anywhere in their range."""

    chances = ANY

    @override
    def randint(self, a: int, b: int) -> int:
        """Return a number from a to b."""
        if self.chances == ANY:
            return super().randint(a, b)
        return a if self.chances == LEAST else b


class Open(Struct):
    """A request without an answer."""

    sent: Send
    kind: str
    epoch: int


class ComparedVoter:
    """A member of the quorum beside its model."""

    def __init__(self, random: Random) -> None:
        self._random, self._chances = random, Chances(random.random())
        self._losses = random.choice((0.1, 0.3, 0.8))
        """The share of lost answers."""
        self._config, own, voters = draw_voter(random)
        held: list[Held] = []
        for _ in range(random.randint(1, 3)):
            base = held[-1].end if held else 0
            epoch = (held[-1].epoch if held else 1) + random.randint(0, 2)
            held.append(Held(base, base + random.randint(1, 4), epoch))
        last = held[-1].epoch
        at = random.choice(
            (*(last + more for more in (0, 0, 1, 2) * 3), LAST_EPOCH - 1, LAST_EPOCH)
        )
        others = (NOBODY, NOBODY, *voters)
        voted, led_by = random.choice(others), random.choice(others)
        if led_by == own:
            voted = own
        if own == OBSERVER:
            voted = NOBODY
        log = Log([batch_of(*batch) for batch in held])
        durable = QuorumState(epoch=Epoch(at), voted_for=NodeId(voted), leader=NodeId(led_by))
        self._chances.chances = random.choice((LEAST, ANY, MOST))
        self._member = BareMember(self._config, durable, log, self._chances, ())
        self._model = VotingModel(own, voters, self._config.timeouts)
        model = self._model
        model.chances, model.batches = self._chances.chances, held
        model.epoch, model.voted, model.led_by = at, voted, led_by
        model.effects.append(("flush", 0, model.end))
        model.begin(self._member.now_ns)
        self._is_flushing = random.random() < 0.5
        """Whether a disk flushes the log; without a flush a voter sends no Fetch."""
        self._open: list[Open] = []
        self._fetches: list[Open] = []
        self._fetched: set[int] = set()
        """The numbers of the received Fetches, whose answers are compared elsewhere."""
        self._requests = 0
        self._successors: tuple[int, ...] = ()
        self._member.raft.start(self._member.now)

    def compare(self) -> None:
        """End a step, and compare it with the model."""
        member, model = self._member, self._model
        member.raft.settle(member.now)
        done = [
            effect
            for effect in member.done()
            if effect[0] != "reply" or effect[1] not in self._fetched
        ]
        same("the effects", done, model.effects)
        model.effects = []
        found = member.raft.status(Offset(0), 0, None)
        same(
            "role, epoch, leader and vote",
            (found.role, found.epoch, found.leader, found.voted_for),
            (model.role, model.epoch, model.leader, model.voted),
        )
        same("the log", (found.log_end, found.last_epoch), (model.end, model.last_epoch))
        self._compare_first_record()
        self._compare_requests()
        self._compare_deadlines()
        if self._is_flushing:
            end = Offset(model.end)
            member.raft.flushed_event(Flushed(log=METADATA_LOG, generation=0, end_offset=end))

    def _compare_first_record(self) -> None:
        """Compare the record with which a new leader opens its epoch."""
        model, member = self._model, self._member
        if model.elected is None:
            return
        batch = member.appended[0]
        change = LeaderChange(
            leader_id=model.own,
            voters=tuple(LeaderChangeVoter(voter_id=voter) for voter in model.voters),
            granting_voters=tuple(LeaderChangeVoter(voter_id=voter) for voter in model.elected),
        )
        same("the first records of a leader", batch.records, (change,))
        check("the first record is a control record", batch.is_control)
        same("its time", batch.timestamp_ms, (START_NS + member.now_ns) // MS)
        same("the offset of the first record", member.raft.epoch_start_offset, batch.base_offset)
        model.elected = None

    def compare_election_deadline(self) -> None:
        """Compare a random deadline with its bounds; it is known from then on."""
        member, model = self._member, self._model
        ends = getattr(member.raft.role, "election_deadline", None)
        if model.deadline is None:
            check("a leader and an observer have no election deadline", ends is None)
            return
        low, high = model.deadline
        check(f"a deadline of {ends} ns from {low} to {high}", low <= (ends or -1) <= high)
        model.deadline = Span(ends or 0, ends or 0)
        if model.role == "follower" and not model.fetch_timeout:
            model.fetch_timeout = (ends or 0) - member.now_ns

    def _compare_deadlines(self) -> None:
        member, model = self._member, self._model
        self.compare_election_deadline()
        expected = self._next_times()
        deadline = member.raft.deadline()
        is_exact = not self._is_flushing and model.is_voter and model.role != "leader"
        if is_exact:
            same("the next event", deadline, min(expected, default=None))
        elif expected:
            check("the node wakes in time", deadline is not None and deadline <= min(expected))
        if model.is_stopping:
            is_over = not model.ends_open or member.now_ns >= model.stops_at
            same("the node has stopped", member.raft.has_stopped(member.now), is_over)

    def _next_times(self) -> list[int]:
        model = self._model
        times = [model.deadline.low] if model.can_campaign() and model.deadline else []
        if model.role == "leader" or (model.role == "candidate" and not model.is_stopping):
            times += [one.due for one in model.repeated.values() if one.due is not None]
        if (until := model.majority_until()) is not None:
            times.append(until)
        return [*times, model.stops_at] if model.is_stopping else times

    def _compare_requests(self) -> None:
        member, model = self._member, self._model
        kind = VOTE if model.role == "candidate" else BEGIN
        due = [(kind, peer) for peer in model.take_due(member.now_ns)]
        if self._successors:
            due += [(END, peer) for peer in model.peers]
        mine = [sent for sent in member.sent if type(sent.message) in KINDS]
        asked = [(KINDS[type(sent.message)], sent.destination) for sent in mine]
        same("the requests", sorted(asked), sorted(due))
        for sent in mine:
            self._compare_request(sent, KINDS[type(sent.message)])
        self._successors = ()
        for sent in member.sent:
            if isinstance(sent.message, fetch_request.FetchRequest):
                check("only others fetch", model.role not in {"candidate", "leader"})
                self._fetches.append(Open(sent, "Fetch", model.epoch))

    def _compare_request(self, sent: Send, kind: str) -> None:
        model = self._model
        asking = Asking(
            epoch=model.epoch,
            other=model.own,
            voter=sent.destination,
            log=(model.last_epoch, model.end),
            successors=self._successors,
        )
        listeners = tuple(
            (one.name, one.host, one.port) for one in self._config.endpoints if one.name != "CLIENT"
        )
        expected: Message = own_request(kind, asking, listeners)
        same(f"a {kind}", sent.message, expected)
        same("its version", sent.version, 1)
        same("its time-out", sent.timeout_ns, self._config.timeouts.request_ns)
        self._open.append(Open(sent, kind, model.epoch))
