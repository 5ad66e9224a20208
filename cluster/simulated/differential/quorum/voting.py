"""Compare the elections of a voter with plain rules."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.quorum.compared_voter import ComparedVoter
from kraftproof.cluster.simulated.differential.quorum.fetching_answers import fetch_answer
from kraftproof.cluster.simulated.differential.quorum.fetching_model import MS, Told
from kraftproof.cluster.simulated.differential.quorum.serving_messages import (
    fetch_request_of,
    received,
)
from kraftproof.cluster.simulated.differential.quorum.serving_model import Fetch
from kraftproof.cluster.simulated.differential.quorum.voter_state import (
    ANY,
    LEAST,
    MOST,
)
from kraftproof.cluster.simulated.differential.quorum.voting_draws import (
    draw_asking,
    draw_heard,
)
from kraftproof.cluster.simulated.differential.quorum.voting_messages import (
    BEGIN,
    END,
    VOTE,
    answer_of,
    draw_frame,
    request_of,
    useless_answer,
)
from kraftproof.cluster.simulated.differential.quorum.voting_model import (
    Heard,
)
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.records.metadata import NoOpRecord

HISTORIES: Final = 10
STEPS: Final = 40
WRONG: Final = 0.04


class Member(ComparedVoter):
    """A voter, whose other members and disk are this class."""

    def run(self) -> None:
        """Take drawn steps until the node has stopped."""
        self.compare()
        for _ in range(STEPS):
            steps = [self._wait] * 4 + [self._receive] * 3 + [self._answer] * (8 * bool(self._open))
            if self._fetches and self._model.role == "follower":
                steps += [self._answer_fetch] * 4
            if self._model.role == "leader":
                steps += [self._propose, *[self._receive_fetch] * 4]
            step = self._random.choice(steps)
            if not self._model.is_stopping and self._random.random() < 0.02:
                step = self._stop
            step()
            self.compare()
            if self._model.is_stopping and not self._model.ends_open:
                return

    # The steps

    def _pass_to(self, at: int) -> None:
        """Let time pass to the begin of a step."""
        member, model = self._member, self._model
        member.now_ns = max(member.now_ns, at)
        self._chances.chances = model.chances = self._random.choice((LEAST, ANY, MOST))
        member.raft.check_leadership(member.now)
        model.check_majority(member.now_ns)
        self.compare_election_deadline()

    def _pass_a_little(self) -> None:
        self._pass_to(
            self._member.now_ns + self._random.choice((0, self._random.randint(0, 9))) * MS
        )

    def _wait(self) -> None:
        model, now = self._model, self._member.now_ns
        due = [one.due for one in model.repeated.values() if one.due is not None]
        if model.role not in {"candidate", "leader"}:
            due = []
        if model.deadline is not None:
            due.append(model.deadline.low)
        if (until := model.majority_until()) is not None:
            due.append(until)
        if model.is_stopping:
            due.append(model.stops_at)
        wanted = [at - early for at in due for early in (0, 0, 1)]
        self._pass_to(self._random.choice((*wanted, now + self._random.randint(0, 99 * MS))))
        self._member.raft.tick(self._member.now)
        model.tick(self._member.now_ns)

    def _stop(self) -> None:
        self._pass_a_little()
        self._member.raft.stop(self._member.now)
        self._successors = self._model.stop(self._member.now_ns)

    def _propose(self) -> None:
        self._pass_a_little()
        if self._model.role == "leader":
            count = self._random.randint(1, 3)
            self._member.raft.propose([NoOpRecord()] * count, self._member.now)
            self._model.append(count)

    def _number(self) -> int:
        self._requests += 1
        return self._requests

    def _receive(self) -> None:
        self._pass_a_little()
        random, model, now = self._random, self._model, self._member.now_ns
        kind = random.choice((VOTE, VOTE, BEGIN, END))
        asking = draw_asking(random, model, kind)
        frame = draw_frame(random, WRONG)
        version = 0 if kind == END and random.random() < 0.5 else 1
        message = request_of(kind, asking, frame, has_candidates=version > 0)
        number = self._number()
        self._member.raft.receive(received(message, number, version), self._member.now)
        if frame.error:
            answer = answer_of(kind, Heard(), frame.error)
            model.effects.append(("reply", number, answer))
            return
        is_granted = False
        if kind == VOTE:
            error, is_granted = model.vote(asking, now)
        elif kind == BEGIN:
            error = model.announced(asking, now)
        else:
            error = model.ended(asking, now)
        heard = Heard(error=error, leader=model.leader, epoch=model.epoch, is_granted=is_granted)
        model.effects.append(("reply", number, answer_of(kind, heard)))
        if kind == END and error is ErrorCode.NONE:
            model.succeed(asking, now)

    def _receive_fetch(self) -> None:
        """Let a voter fetch from the leader, from an end of its log."""
        self._pass_a_little()
        model, number = self._model, self._number()
        if model.role != "leader" or not model.peers:
            return
        at, peer = self._random.choice(model.batches), self._random.choice(model.peers)
        asked = Fetch(
            request=number,
            version=18,
            replica=peer,
            epoch=model.epoch,
            offset=at.end,
            last_epoch=at.epoch,
            watermark=0,
            most_bytes=1,
            wait_ms=500,
        )
        message, _ = fetch_request_of(self._random, asked, 0)
        self._fetched.add(number)
        self._member.raft.receive(received(message, number, 18), self._member.now)
        model.fetched(peer, at.end, self._member.now_ns)

    def _answer(self) -> None:
        asked = self._open.pop(self._random.randrange(len(self._open)))
        is_lost = self._random.random() < self._losses
        self._pass_a_little()
        member, model = self._member, self._model
        heard = None if is_lost else draw_heard(self._random, model, asked.kind, asked.epoch)
        message = None if heard is None else answer_of(asked.kind, heard)
        if heard is not None and asked.kind != END and self._random.random() < 0.08:
            message = useless_answer(self._random, asked.kind, heard)
            heard = Heard(error=ErrorCode.INVALID_REQUEST)
        member.outbox.resume(asked.sent.correlation, message, member.now)
        if asked.kind == VOTE:
            model.vote_answered(asked.sent.destination, asked.epoch, heard, member.now_ns)
        elif asked.kind == BEGIN:
            model.begin_answered(asked.sent.destination, asked.epoch, heard, member.now_ns)
        else:
            model.ends_open -= 1

    def _answer_fetch(self) -> None:
        """Let the leader answer a Fetch without news."""
        self._pass_a_little()
        asked, member, model = self._fetches.pop(), self._member, self._model
        is_current = (asked.epoch, asked.sent.destination) == (model.epoch, model.led_by)
        told = Told(leader=model.led_by, epoch=model.epoch)
        member.outbox.resume(
            asked.sent.correlation, fetch_answer(told) if is_current else None, member.now
        )
        if is_current:
            model.renewed(member.now_ns)


def compare_voting(random: Random) -> None:
    """Let members of drawn quorums vote, campaign, lead and stop.

    Raises:
        DifferenceError: a role, a request, an answer or a time is not what the rules demand.
    """
    for _ in range(HISTORIES):
        Member(random).run()
