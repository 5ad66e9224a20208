"""Follow whether this node is the active controller, and refuse requests otherwise (KIP-631).

The quorum's leader becomes the active controller (631-09) after its LeaderChange record has
committed and been applied: only then the image holds every change that earlier leaders
acknowledged. Requests wait in between. See active.py for the decisions.
"""

from typing import TYPE_CHECKING

from msgspec import Struct

from kraftproof.node.core.base.config import NodeConfig
from kraftproof.node.core.base.types import Epoch, Instant, Monotonic, Offset, earliest
from kraftproof.node.core.controller.active import ActiveController
from kraftproof.node.core.controller.refusals import not_controller
from kraftproof.node.core.controller.timed_request import TimedRequest, timed
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.raft.raft import Raft
from kraftproof.node.core.security.authorizer import Authorizer

if TYPE_CHECKING:
    from random import Random


class Standby:
    """Another node is the active controller, or none is known."""


class Activating(Struct, kw_only=True):
    """The node leads `epoch`, but its LeaderChange has not committed yet."""

    epoch: Epoch
    leader_change: Offset
    waiting: list[TimedRequest]


class Active(Struct, frozen=True, kw_only=True):
    """The node is the active controller of `epoch`."""

    epoch: Epoch
    controller: ActiveController


class Controller:
    """The controller part of a node."""

    def __init__(
        self,
        config: NodeConfig,
        raft: Raft,
        committed: CommittedImage,
        outbox: Outbox,
        random: "Random",
        *,
        authorizer: Authorizer | None = None,
    ) -> None:
        self._config = config
        self._raft = raft
        self._committed = committed
        self._outbox = outbox
        self._random = random
        self._authorizer = authorizer
        self._state: Standby | Activating | Active = Standby()

    @property
    def is_active(self) -> bool:
        """Return whether the node answers as the active controller."""
        return isinstance(self._state, Active)

    def receive(self, event: Received, now: Instant) -> None:
        """Handle a request of the controller listener, other than the quorum's own requests."""
        self._check_leadership()
        match self._state:
            case Standby():
                self._outbox.reply(event, not_controller(event))
            case Activating() as activating:
                activating.waiting.append(timed(event, now, self._config.timeouts))
            case Active() as active:
                active.controller.receive(timed(event, now, self._config.timeouts), now)

    def advance(self, now: Instant) -> None:
        """Follow the quorum's step: activate, resign, answer."""
        self._check_leadership()
        if isinstance(self._state, Standby):
            if not self._raft.is_leader:
                return
            self._state = Activating(
                epoch=self._raft.epoch,
                leader_change=self._raft.epoch_start_offset,
                waiting=[],
            )
        if type(self._state) is Activating and self._has_committed(self._state):
            self._activate(self._state, now)
        if isinstance(self._state, Active):
            self._state.controller.advance(now)

    def tick(self, now: Instant) -> None:
        """Handle expired requests and leases."""
        self._check_leadership()
        match self._state:
            case Active() as active:
                active.controller.tick(now)
            case Activating() as activating:
                self._expire(activating, now)
            case Standby():
                pass

    def deadline(self) -> Monotonic | None:
        """Return the time of the next tick."""
        match self._state:
            case Standby():
                return None
            case Active() as active:
                return active.controller.deadline()
            case Activating() as activating:
                return earliest(*(request.expires for request in activating.waiting))

    def _expire(self, activating: Activating, now: Instant) -> None:
        """Refuse expired requests; no request was tried, so NOT_CONTROLLER is the true answer."""
        for request in [entry for entry in activating.waiting if entry.is_over(now)]:
            activating.waiting.remove(request)
            self._outbox.reply(request.event, not_controller(request.event))

    def _activate(self, activating: Activating, now: Instant) -> None:
        controller = ActiveController(
            self._config,
            self._raft,
            self._committed,
            self._outbox,
            random=self._random,
            now=now,
            authorizer=self._authorizer,
        )
        self._state = Active(epoch=activating.epoch, controller=controller)
        controller.receive_all(activating.waiting, now)

    def _has_committed(self, activating: Activating) -> bool:
        return self._committed.offset > activating.leader_change

    def _check_leadership(self) -> None:
        """Resign as soon as the node no longer leads the epoch."""
        state = self._state
        if isinstance(state, Standby) or (self._raft.is_leader and self._raft.epoch == state.epoch):
            return
        self._state = Standby()
        match state:
            case Activating():
                for request in state.waiting:
                    self._outbox.reply(request.event, not_controller(request.event))
            case Active():
                state.controller.resign()
