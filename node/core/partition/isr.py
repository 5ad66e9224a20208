"""Change the ISR of a partition as the leader: the state machine of KIP-497.

The leader proposes a change to the controller and goes on serving. The controller alone changes the
ISR (497-07), and the leader may not know for a while whether a proposal was applied. Meanwhile the
leader assumes the maximal ISR: a joiner counts from the proposal on, and a leaver counts until its
removal is committed (497-08). At most one proposal is open per partition (497-11).

ACTIONS is the whole machine: the state, the kind of the controller's answer, and the action.
"""

from collections.abc import Mapping
from enum import Enum
from typing import Final

from msgspec import Struct
from msgspec.structs import replace

from kraftproof.node.core.base.types import Epoch, NodeId
from kraftproof.node.core.metadata.image import Partition
from kraftproof.node.wire.errors import ErrorCode


class Phase(Enum):
    """The knowledge of the leader about the proposal."""

    COMMITTED = "no proposal is open"
    PENDING_EXPAND = "a proposal with a joiner may be applied"
    PENDING_SHRINK = "a proposal with fewer members may be applied"


class AnswerKind(Enum):
    """The meaning of the controller's answer for the proposal."""

    ACCEPTED = "the answer is the state after the change"
    NOT_APPLIED = "the controller has certainly not applied the proposal"
    MAYBE_APPLIED = "the proposal or another change was applied; a record will tell"
    NOT_DECIDED = "the controller has not judged the proposal, as far as the leader knows"


class Action(Enum):
    """The reaction of the leader."""

    ADOPT = "take over the state of the answer"
    REVERT = "return to the last committed ISR"
    WAIT = "keep the proposal open until the image has a newer partition epoch"
    RESEND = "send the same proposal again"
    IGNORE = "the answer belongs to no open proposal"


ACTIONS: Final[Mapping[tuple[Phase, AnswerKind], Action]] = {
    (Phase.COMMITTED, AnswerKind.ACCEPTED): Action.IGNORE,
    (Phase.COMMITTED, AnswerKind.NOT_APPLIED): Action.IGNORE,
    (Phase.COMMITTED, AnswerKind.MAYBE_APPLIED): Action.IGNORE,
    (Phase.COMMITTED, AnswerKind.NOT_DECIDED): Action.IGNORE,
    (Phase.PENDING_EXPAND, AnswerKind.ACCEPTED): Action.ADOPT,
    (Phase.PENDING_EXPAND, AnswerKind.NOT_APPLIED): Action.REVERT,
    (Phase.PENDING_EXPAND, AnswerKind.MAYBE_APPLIED): Action.WAIT,
    (Phase.PENDING_EXPAND, AnswerKind.NOT_DECIDED): Action.RESEND,
    (Phase.PENDING_SHRINK, AnswerKind.ACCEPTED): Action.ADOPT,
    (Phase.PENDING_SHRINK, AnswerKind.NOT_APPLIED): Action.REVERT,
    (Phase.PENDING_SHRINK, AnswerKind.MAYBE_APPLIED): Action.WAIT,
    (Phase.PENDING_SHRINK, AnswerKind.NOT_DECIDED): Action.RESEND,
}
_KINDS: Final[Mapping[int, AnswerKind]] = {
    ErrorCode.NONE: AnswerKind.ACCEPTED,
    ErrorCode.INELIGIBLE_REPLICA: AnswerKind.NOT_APPLIED,
    ErrorCode.OPERATION_NOT_ATTEMPTED: AnswerKind.NOT_APPLIED,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION: AnswerKind.MAYBE_APPLIED,
    ErrorCode.UNKNOWN_TOPIC_ID: AnswerKind.MAYBE_APPLIED,
    ErrorCode.FENCED_LEADER_EPOCH: AnswerKind.MAYBE_APPLIED,
    ErrorCode.INVALID_UPDATE_VERSION: AnswerKind.MAYBE_APPLIED,
    ErrorCode.INVALID_REQUEST: AnswerKind.MAYBE_APPLIED,
    ErrorCode.NEW_LEADER_ELECTED: AnswerKind.MAYBE_APPLIED,
}


def kind_of(error: int) -> AnswerKind:
    """Return the meaning of a partition's error; an unknown error is no decision."""
    return _KINDS.get(error, AnswerKind.NOT_DECIDED)


class IsrAnswer(Struct, frozen=True, kw_only=True):
    """The controller's answer about a partition."""

    error: int
    leader_epoch: Epoch = Epoch(-1)
    partition_epoch: int = -1
    isr: tuple[NodeId, ...] = ()


class IsrState(Struct, frozen=True, kw_only=True):
    """The ISR as known to the leader; each change returns another state."""

    leader_epoch: Epoch
    partition_epoch: int
    committed: tuple[NodeId, ...]
    phase: Phase = Phase.COMMITTED
    proposed: tuple[NodeId, ...] = ()
    """The members of the open proposal."""
    is_unsent: bool = False
    """Whether the proposal has to be sent, for the first time or again."""

    @property
    def maximal(self) -> frozenset[NodeId]:
        """Return the largest possible ISR, the bound of the high watermark."""
        return frozenset(self.committed) | frozenset(self.proposed)

    @property
    def is_pending(self) -> bool:
        """Return whether a proposal is open."""
        return self.phase is not Phase.COMMITTED

    def expand(self, joiner: NodeId) -> "IsrState":
        """Propose a further member."""
        assert not self.is_pending, "one proposal at a time"
        assert joiner not in self.committed, "a member cannot join"
        proposed = (*self.committed, joiner)
        return replace(self, phase=Phase.PENDING_EXPAND, proposed=proposed, is_unsent=True)

    def shrink(self, leavers: frozenset[NodeId]) -> "IsrState":
        """Propose the ISR without the leavers."""
        assert not self.is_pending, "one proposal at a time"
        proposed = tuple(member for member in self.committed if member not in leavers)
        assert proposed, "the leader stays in the ISR"
        return replace(self, phase=Phase.PENDING_SHRINK, proposed=proposed, is_unsent=True)

    def sent(self) -> "IsrState":
        """Return the state while the proposal is under way."""
        return replace(self, is_unsent=False)

    def answered(self, sent: "IsrState", answer: IsrAnswer) -> "IsrState":
        """Return the state after the answer to the proposal of the state `sent`.

        A late answer to an earlier proposal has no effect: the image has overtaken the proposal.
        """
        if self != sent:
            return self
        match ACTIONS[self.phase, kind_of(answer.error)]:
            case Action.ADOPT:
                return self._adopt(answer)
            case Action.REVERT:
                return self._committed_only()
            case Action.RESEND:
                return replace(self, is_unsent=True)
            case Action.WAIT | Action.IGNORE:
                return self

    def unanswered(self, sent: "IsrState") -> "IsrState":
        """Return the state after a lost answer: the proposal may have been applied."""
        return replace(self, is_unsent=True) if self == sent else self

    def followed(self, partition: Partition) -> "IsrState":
        """Return the state after a newer image: a newer partition epoch ends the proposal.

        At the same partition epoch the proposal stays open: only the answer came before the record.
        """
        if partition.partition_epoch <= self.partition_epoch:
            return self
        return committed_isr(partition)

    def _adopt(self, answer: IsrAnswer) -> "IsrState":
        is_old = answer.partition_epoch < self.partition_epoch
        if answer.leader_epoch != self.leader_epoch or is_old:
            return self
        return replace(
            self._committed_only(), committed=answer.isr, partition_epoch=answer.partition_epoch
        )

    def _committed_only(self) -> "IsrState":
        return replace(self, phase=Phase.COMMITTED, proposed=(), is_unsent=False)


def committed_isr(partition: Partition) -> IsrState:
    """Return the state of a partition without a proposal."""
    return IsrState(
        leader_epoch=partition.leader_epoch,
        partition_epoch=partition.partition_epoch,
        committed=partition.isr,
    )
