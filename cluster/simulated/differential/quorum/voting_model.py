"""State how a voter answers Vote, BeginQuorumEpoch and EndQuorumEpoch, and takes answers."""

from msgspec import Struct

from kraftproof.cluster.simulated.differential.quorum.fetching_model import NOBODY
from kraftproof.cluster.simulated.differential.quorum.voter_state import Span, VoterState
from kraftproof.node.wire.errors import ErrorCode


class Asking(Struct, kw_only=True):
    """The content of a Vote, a BeginQuorumEpoch or an EndQuorumEpoch."""

    epoch: int
    other: int
    """The candidate or the leader."""
    voter: int = NOBODY
    """The voter to which the request is addressed."""
    log: tuple[int, int] = (0, 0)
    """The epoch and the end of the candidate's log."""
    is_pre_vote: bool = False
    successors: tuple[int, ...] = ()


class Heard(Struct, kw_only=True):
    """The content of an answer to one of the three requests."""

    error: int = 0
    leader: int = NOBODY
    epoch: int = 0
    is_granted: bool = False


class VotingModel(VoterState):
    """A member of the quorum and its talk with the other members."""

    # Answers to this node's requests

    def _repeat(self, peer: int, now: int) -> None:
        one = self.repeated.get(peer)
        if one is not None:
            one.due = now + self.backoff(one.times)

    def vote_answered(self, peer: int, epoch: int, heard: Heard | None, now: int) -> None:
        """Take the answer to a Vote of an epoch, or its loss."""
        if heard is not None:
            self.learn(heard.epoch, heard.leader, now)
        if self.role != "candidate" or self.epoch != epoch:
            return
        if heard is None:
            self._repeat(peer, now)
            return
        del self.repeated[peer]
        (self.granted if heard.is_granted else self.refused).add(peer)
        self._count(now)

    def begin_answered(self, peer: int, epoch: int, heard: Heard | None, now: int) -> None:
        """Take the answer to a BeginQuorumEpoch of an epoch, or its loss."""
        if heard is not None:
            self.learn(heard.epoch, heard.leader, now)
        if self.role != "leader" or self.epoch != epoch:
            return
        if heard is not None and heard.error == 0:
            self.repeated.pop(peer, None)
        else:
            self._repeat(peer, now)

    def fetched(self, peer: int, offset: int, now: int) -> None:
        """Take a valid Fetch of a voter from the leader: the voter knows the leader."""
        self.repeated.pop(peer, None)
        self.contacts[peer], self.acknowledged[peer] = now, offset

    def renewed(self, now: int) -> None:
        """Take a good answer of the leader to a Fetch."""
        if not self.is_deadline_fixed:
            self.deadline = Span(now + self.fetch_timeout, now + self.fetch_timeout)

    # Requests of other voters

    def vote(self, asking: Asking, now: int) -> tuple[ErrorCode, bool]:
        """Decide a Vote; return the error, and whether the vote is granted."""
        if not self.is_voter:
            return ErrorCode.INCONSISTENT_VOTER_SET, False
        if asking.voter not in {NOBODY, self.own}:
            return ErrorCode.INVALID_VOTER_KEY, False
        if asking.is_pre_vote:
            return ErrorCode.INVALID_REQUEST, False
        if asking.epoch < self.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH, False
        is_newer = asking.epoch > self.epoch
        if asking.other not in self.voters:
            if is_newer:
                self._keep(asking.epoch, NOBODY, NOBODY)
                self._become("unattached", self._pause(now))
            return ErrorCode.INCONSISTENT_VOTER_SET, False
        is_free = is_newer or (self.led_by == NOBODY and self.voted in {NOBODY, asking.other})
        is_granted = is_free and asking.log >= (self.last_epoch, self.end)
        if is_granted and (is_newer or self.voted == NOBODY):
            self._keep(asking.epoch, asking.other, NOBODY)
            self._become("voted", self._election(now))
        elif is_newer:
            self.enter(asking.epoch, NOBODY, now)
        return ErrorCode.NONE, is_granted

    def announced(self, asking: Asking, now: int) -> ErrorCode:
        """Take a BeginQuorumEpoch; return the error."""
        if asking.voter not in {NOBODY, self.own}:
            return ErrorCode.INVALID_VOTER_KEY
        if not self.is_voter or asking.other not in self.voters:
            return ErrorCode.INCONSISTENT_VOTER_SET
        if error := self._judge_leader(asking):
            return error
        self.learn(asking.epoch, asking.other, now)
        return ErrorCode.NONE

    def _judge_leader(self, asking: Asking) -> ErrorCode:
        if asking.epoch < self.epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        is_other = asking.epoch == self.epoch and self.led_by not in {NOBODY, asking.other}
        is_wrong = asking.other in {NOBODY, self.own} or is_other
        return ErrorCode.INVALID_REQUEST if is_wrong else ErrorCode.NONE

    def ended(self, asking: Asking, now: int) -> ErrorCode:
        """Take an EndQuorumEpoch; return the error."""
        if not self.is_voter or asking.other not in (NOBODY, *self.voters):
            return ErrorCode.INCONSISTENT_VOTER_SET
        if error := self._judge_leader(asking):
            return error
        if self.own not in asking.successors:
            return ErrorCode.INCONSISTENT_VOTER_SET
        self.learn(asking.epoch, asking.other, now)
        return ErrorCode.NONE

    def succeed(self, asking: Asking, now: int) -> None:
        """Campaign at once as the first successor, and as a later one after a wait."""
        place = asking.successors.index(self.own)
        if self.is_stopping:
            return
        if place == 0:
            self.campaign(now)
        else:
            at = now + self.backoff(place)
            self.deadline, self.is_deadline_fixed = Span(at, at), True

    def stop(self, now: int) -> tuple[int, ...]:
        """Stop; return the successors that a leader names, the longest log first."""
        self.is_stopping = True
        self.stops_at = now + min(self.times.request_ns, self.times.election_ns)
        if self.role != "leader" or not self.peers:
            return ()
        self.ends_open = len(self.peers)
        self._become("resigned", self._pause(now))
        return tuple(sorted(self.peers, key=lambda peer: (-self.acknowledged[peer], peer)))
