"""Send requests and Envelopes of each kind of principal to a controller in each of its states.

A controller has no image yet, is a standby, waits for the first record of its leadership, or is
active. The broker of an Envelope is judged first, by its own principal and host (KIP-590, 590-03):
a node without an image knows only super users. Then the client of the request is judged, and only
by the active controller. A node that decides nothing sends the broker elsewhere.
"""

from random import Random
from typing import Any, Final, cast

from kraftproof.cluster.simulated.differential.core.bare_controller import QuorumOfOne
from kraftproof.cluster.simulated.differential.core.required_rights import CONTROLLERS
from kraftproof.cluster.simulated.differential.difference import DifferenceError, same
from kraftproof.cluster.simulated.invariants.answers import OF_THE_CONTROLLER
from kraftproof.cluster.simulated.invariants.security.authorized_answers import (
    ALL,
    ALLOW,
    ALTER,
    CLUSTER,
    CLUSTER_ACTION,
    CLUSTER_NAME,
    DENY,
    allowed,
)
from kraftproof.cluster.simulated.invariants.security.error_codes import error_codes
from kraftproof.node.core.base.config import AuthorizerPolicy, NodeConfig, Timeouts, Voter
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, WallClock
from kraftproof.node.core.controller.controller import Controller
from kraftproof.node.core.effects import Reply
from kraftproof.node.core.events import Received
from kraftproof.node.core.gate import HangUp, refused_at_once
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.metadata.version import LARGEST_LEVEL, METADATA_VERSION
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.codec import REQUESTS
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message, envelope_response
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import Uuid

REQUESTS_EACH: Final = 12
"""Number of requests to a controller."""
SUPER: Final = "admin"
USERS: Final = (SUPER, "a", "b", "c")
HOSTS: Final = ("h1", "h2")
BLANK, STANDBY, ACTIVATING, ACTIVE = "blank", "standby", "activating", "active"
ELSEWHERE, DENIED = ErrorCode.NOT_CONTROLLER, ErrorCode.CLUSTER_AUTHORIZATION_FAILED
NOW: Final = Instant(Monotonic(0), WallClock(1_767_225_600_000_000_000))
KINDS: Final = tuple(
    cast("Message", schema.message())
    for schema in REQUESTS.values()
    if issubclass(schema.message, OF_THE_CONTROLLER)
)


def compare_envelopes(random: Random) -> None:
    """Ask controllers in each state, and compare who is refused with which error.

    Raises:
        DifferenceError: a request has another answer, or none.
    """
    for state in (BLANK, STANDBY, ACTIVATING, ACTIVE):
        run = _Run(random, state)
        for _ in range(REQUESTS_EACH):
            run.ask()


class _Run:
    """A controller in one state, with drawn entries about the cluster."""

    def __init__(self, random: Random, state: str) -> None:
        self._random, self._state = random, state
        self._default = random.random() < 0.3
        self._image: MetadataImage = EMPTY_IMAGE
        self._quorum, self._committed = QuorumOfOne(), CommittedImage()
        self._quorum.leader = NodeId(2)
        self._outbox, self._requests = Outbox(), 0
        policy = AuthorizerPolicy(
            super_users=(f"User:{SUPER}",), allows_without_acl=self._default, logs_allowed=False
        )
        self._authorizer = Authorizer(policy, self._committed, self._outbox)
        config = NodeConfig(
            node_id=NodeId(1),
            cluster_id="c",
            is_controller=True,
            is_broker=False,
            voters=(Voter(node_id=NodeId(1), host="h", port=1),),
            endpoints=(),
            timeouts=Timeouts(),
            authorizer=policy,
        )
        parts: Any = (self._quorum, self._committed, self._outbox, random)
        self._controller = Controller(config, *parts, authorizer=self._authorizer)
        self._reach_state()

    def _reach_state(self) -> None:
        if self._state == BLANK:
            return
        level = records.FeatureLevelRecord(name=METADATA_VERSION, feature_level=LARGEST_LEVEL)
        entries = [_entry(self._random, one) for one in range(self._random.choice((0, 1, 2, 4)))]
        written: tuple[Record, ...] = (level, *entries)
        self._quorum.replicate(written)
        self._commit()
        self._image = self._committed.image
        if self._state != STANDBY:
            self._quorum.elect()
            self._quorum.leader = NodeId(1)
            self._controller.advance(NOW)
        if self._state == ACTIVE:
            self._commit()

    def _commit(self) -> None:
        self._quorum.high_watermark = self._quorum.log.end_offset
        self._committed.advance(cast("Any", self._quorum.log), self._quorum.high_watermark)
        self._controller.advance(NOW)

    def ask(self) -> None:
        """Send a request, alone or in an Envelope, and judge the answer."""
        random = self._random
        self._requests += 1
        message = random.choice(KINDS)
        event = Received(
            request=self._requests,
            message=message,
            version=message.MAX_VERSION,
            on_controller_listener=True,
            principal=_principal(random),
            client_host=random.choice(HOSTS),
            forwarded_by=_principal(random) if random.random() < 0.7 else None,
            forwarder_host=random.choice(HOSTS),
        )
        refused = refused_at_once(self._authorizer, event)
        if isinstance(refused, HangUp):
            raise DifferenceError(f"a controller hangs up on {event}")
        if refused is None:
            self._controller.receive(event, NOW)
            self._controller.advance(NOW)
        self._judge(event, self._answer_to(event) if refused is None else refused)

    def _answer_to(self, event: Received) -> Message | None:
        """Return the answer; an active controller may have to commit before."""
        if self._state == ACTIVE:
            self._commit()
        found = [one for one in self._outbox.drain() if isinstance(one, Reply)]
        same("the answered requests", {one.request for one in found} - {event.request}, set())
        return found[0].message if found else None

    def _judge(self, event: Received, found: Message | None) -> None:
        what = f"{type(event.message).__name__} of {event.principal} by {event.forwarded_by}"
        what = f"the answer of a controller that is {self._state} to {what}"
        if event.forwarded_by is not None:
            is_known = event.forwarded_by.name == SUPER or self._state != BLANK
            if not is_known:
                same(what, found, _envelope(ELSEWHERE))
                return
            if not self._allows(event.forwarded_by, event.forwarder_host, CLUSTER_ACTION):
                same(what, found, _envelope(DENIED))
                return
        if self._state == ACTIVATING:
            same(what, found, None)
        elif self._state != ACTIVE:
            if event.forwarded_by is not None:
                same(what, found, _envelope(ELSEWHERE))
            elif found is None:
                raise DifferenceError(f"{what}: none")
            else:
                same(what, error_codes(found) or {ELSEWHERE}, {ELSEWHERE})
        else:
            self._judge_decision(what, event, found)

    def _judge_decision(self, what: str, event: Received, found: Message | None) -> None:
        """Judge the answer of the active controller by the right for the whole request."""
        if found is None or isinstance(found, envelope_response.EnvelopeResponse):
            raise DifferenceError(f"{what}: {found}")
        operation, part = CONTROLLERS[event.message.API_KEY]
        if operation is None or part is not None:
            return  # each part is judged, and these requests have none
        is_allowed = self._allows(event.principal, event.client_host, operation)
        codes = error_codes(found)
        if codes:
            same(f"{what} is a denial, with {codes}", DENIED in codes, not is_allowed)

    def _allows(self, principal: Principal, host: str, operation: int) -> bool:
        name, right = f"User:{principal.name}", (operation, CLUSTER, CLUSTER_NAME)
        return principal.name == SUPER or allowed(
            self._image, name, host, right, default=self._default
        )


def _envelope(error: ErrorCode) -> Message:
    return envelope_response.EnvelopeResponse(error_code=error)


def _principal(random: Random) -> Principal:
    return Principal(type="User", name=random.choice(USERS))


def _entry(random: Random, number: int) -> records.AccessControlEntryRecord:
    return records.AccessControlEntryRecord(
        id=Uuid(number.to_bytes(16, "big")),
        resource_type=CLUSTER,
        resource_name=CLUSTER_NAME,
        pattern_type=3,
        principal=f"User:{random.choice((*USERS, '*'))}",
        host=random.choice((*HOSTS, "*")),
        operation=random.choice((ALL, ALTER, CLUSTER_ACTION, CLUSTER_ACTION)),
        permission_type=random.choice((ALLOW, ALLOW, DENY)),
    )
