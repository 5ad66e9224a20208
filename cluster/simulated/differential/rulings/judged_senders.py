"""Compare who is refused at once, and the audit log, with the rules of KIP-590 and KIP-801.

An Envelope needs the right of its broker. A node without an image knows no entry: it judges super
users, sends an Envelope elsewhere, and lets others try again. The active controller decides later
about the requests that it decides.
"""

from random import Random
from typing import Final, NamedTuple

from kraftproof.cluster.simulated.differential.difference import DifferenceError, check, same
from kraftproof.cluster.simulated.invariants.security.authorized_answers import (
    ALL,
    ALLOW,
    ALTER,
    CLUSTER,
    CLUSTER_ACTION,
    CLUSTER_NAME,
    DENY,
    DESCRIBE,
    DESCRIBE_CONFIGS,
    allowed,
)
from kraftproof.cluster.simulated.invariants.security.error_codes import error_codes
from kraftproof.node.core.audit import Audited, audit_line
from kraftproof.node.core.base.config import AuthorizerPolicy
from kraftproof.node.core.base.types import Offset
from kraftproof.node.core.events import Received, RefusedEnvelope
from kraftproof.node.core.gate import HangUp, refused_at_once
from kraftproof.node.core.metadata.acls import Operation, ResourceKind
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    api_versions_request,
    create_topics_request,
    describe_acls_request,
    describe_client_quotas_request,
    describe_quorum_request,
    elect_leaders_request,
    envelope_response,
    metadata_request,
    sasl_handshake_request,
)
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.records.metadata import AccessControlEntryRecord
from kraftproof.node.wire.types import Uuid

ROUNDS: Final = 30
ADMIN: Final = "User:admin"
USERS: Final = ("User:a", "User:b", ADMIN)
HOSTS: Final = ("h1", "h2")
DENIED: Final = ErrorCode.CLUSTER_AUTHORIZATION_FAILED
NAMES: Final = {
    ALL: "ALL",
    ALTER: "ALTER",
    DESCRIBE: "DESCRIBE",
    CLUSTER_ACTION: "CLUSTER_ACTION",
    DESCRIBE_CONFIGS: "DESCRIBE_CONFIGS",
}
_ACLS: Final = describe_acls_request.DescribeAclsRequest(
    resource_type_filter=1, pattern_type_filter=1, operation=1, permission_type=1
)


class Case(NamedTuple):
    """A request with the right that it needs as a whole."""

    message: Message
    on_controller: bool
    right: int | None = None
    is_decided_later: bool = False
    has_part_rights: bool = False
    """Whether each part needs a right of its own."""


CASES: Final = (
    Case(api_versions_request.ApiVersionsRequest(), on_controller=True),
    Case(api_versions_request.ApiVersionsRequest(), on_controller=False),
    Case(sasl_handshake_request.SaslHandshakeRequest(mechanism="PLAIN"), on_controller=False),
    Case(_ACLS, on_controller=True, right=DESCRIBE),
    Case(_ACLS, on_controller=False, right=DESCRIBE),
    Case(describe_quorum_request.DescribeQuorumRequest(), on_controller=True, right=DESCRIBE),
    Case(describe_quorum_request.DescribeQuorumRequest(), on_controller=False),
    Case(
        describe_client_quotas_request.DescribeClientQuotasRequest(components=(), strict=False),
        on_controller=False,
        right=DESCRIBE_CONFIGS,
    ),
    Case(
        create_topics_request.CreateTopicsRequest(topics=()),
        on_controller=True,
        is_decided_later=True,
    ),
    Case(elect_leaders_request.ElectLeadersRequest(), on_controller=True, is_decided_later=True),
    Case(metadata_request.MetadataRequest(topics=None), on_controller=False, has_part_rights=True),
)
HANGS_UP: Final = metadata_request.MetadataRequest
"""A request without a refusal of the whole."""


def compare_judged_senders(random: Random) -> None:
    """Judge drawn senders and brokers, and compare the answers and the audit log.

    Raises:
        DifferenceError: a sender is judged in another way, or a judgement is not logged.
    """
    for _ in range(ROUNDS):
        _Judging(random).compare()
    _compare_line(random)


class _Judging:
    """A node with drawn entries, and an event."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._policy = AuthorizerPolicy(
            super_users=(ADMIN,),
            allows_without_acl=random.random() < 0.3,
            logs_allowed=random.random() < 0.5,
        )
        count = random.choice((0, 1, 2, 4))
        self._image = apply_all(EMPTY_IMAGE, tuple(_entry(random, one) for one in range(count)))
        self._is_ready = random.random() < 0.7
        committed = CommittedImage()
        committed.image, committed.offset = self._image, Offset(int(self._is_ready))
        if random.random() < 0.2:
            committed.offset, committed.is_behind, self._is_ready = Offset(1), True, False
        self._outbox = Outbox()
        self._authorizer = Authorizer(self._policy, committed, self._outbox)
        self._logged: list[tuple[str, str, str, bool]] = []

    def compare(self) -> None:
        """Judge an event, with or without an authorizer."""
        random = self._random
        has_authorizer = random.random() < 0.9
        case, is_forwarded = random.choice(CASES), random.random() < 0.3
        refused = random.choice((ErrorCode.INVALID_REQUEST, ErrorCode.UNSUPPORTED_VERSION))
        is_unreadable = random.random() < 0.15
        event = Received(
            request=1,
            message=RefusedEnvelope(refused_with=refused) if is_unreadable else case.message,
            version=0,
            on_controller_listener=case.on_controller or is_unreadable,
            principal=_principal(random),
            client_host=random.choice(HOSTS),
            forwarded_by=_principal(random) if is_forwarded and not is_unreadable else None,
            forwarder_host=random.choice(HOSTS),
        )
        found = refused_at_once(self._authorizer if has_authorizer else None, event)
        if is_unreadable:
            sender = (_name(event.principal), event.client_host)
            is_allowed = not has_authorizer or self._allows(*sender, CLUSTER_ACTION)
            error = refused if is_allowed else DENIED
            same("an unreadable Envelope", found, _envelope(error))
        elif not has_authorizer:
            same("the judgement without an authorizer", found, None)
        else:
            self._compare_case(case, event, found)
        logged = [
            (one.principal, one.host, one.operation.name, one.is_allowed)
            for one in self._outbox.drain()
            if isinstance(one, Audited)
        ]
        same("the audit log", logged, self._logged)

    def _compare_case(self, case: Case, event: Received, found: Message | HangUp | None) -> None:
        sender = _name(event.principal)
        if event.forwarded_by is not None:
            broker = _name(event.forwarded_by)
            if not self._is_ready and broker != ADMIN:
                same("an Envelope at a node without an image", found, _envelope(_ELSEWHERE))
                return
            if not self._allows(broker, event.forwarder_host, CLUSTER_ACTION):
                same("an Envelope of a broker without the right", found, _envelope(DENIED))
                return
        what = f"a {type(case.message).__name__} of {sender}"
        needs = case.right is not None or case.has_part_rights
        if case.is_decided_later:
            same(f"{what}, which the controller decides", found, None)
        elif not self._is_ready and sender != ADMIN:
            if not needs:
                same(f"{what}, which needs no right", found, None)
            elif isinstance(case.message, HANGS_UP):
                check(f"{what} hangs up", isinstance(found, HangUp))
            else:
                self._compare_refusal(what, found, ErrorCode.REQUEST_TIMED_OUT)
        elif case.right is None or self._allows(sender, event.client_host, case.right):
            same(f"{what} with the right", found, None)
        else:
            self._compare_refusal(what, found, DENIED)

    def _compare_refusal(self, what: str, found: Message | HangUp | None, error: ErrorCode) -> None:
        if found is None or isinstance(found, HangUp):
            raise DifferenceError(f"{what} is answered by {found}")
        same(f"the error of {what}", error_codes(found), {error})

    def _allows(self, sender: str, host: str, operation: int) -> bool:
        """Return whether entries allow an operation on the cluster; note the audit log."""
        right, default = (operation, CLUSTER, CLUSTER_NAME), self._policy.allows_without_acl
        is_allowed = sender == ADMIN or (
            self._is_ready and allowed(self._image, sender, host, right, default=default)
        )
        if not is_allowed or self._policy.logs_allowed:
            self._logged.append((sender, host, NAMES[operation], is_allowed))
        return is_allowed


_ELSEWHERE: Final = ErrorCode.NOT_CONTROLLER


def _envelope(error: ErrorCode) -> Message:
    return envelope_response.EnvelopeResponse(error_code=error)


def _principal(random: Random) -> Principal:
    kind, _, name = random.choice(USERS).partition(":")
    return Principal(type=kind, name=name)


def _name(principal: Principal) -> str:
    return f"{principal.type}:{principal.name}"


def _entry(random: Random, number: int) -> AccessControlEntryRecord:
    return AccessControlEntryRecord(
        id=Uuid(number.to_bytes(16, "big")),
        resource_type=CLUSTER,
        resource_name=CLUSTER_NAME,
        pattern_type=3,
        principal=random.choice((*USERS, "User:*")),
        host=random.choice((*HOSTS, "*")),
        operation=random.choice((*NAMES, CLUSTER_ACTION)),
        permission_type=random.choice((ALLOW, ALLOW, DENY)),
    )


def _compare_line(random: Random) -> None:
    """Compare a line of the audit log with Kafka's; a name has at most 260 characters there."""
    size, is_allowed = random.choice((1, 259, 260, 261)), random.random() < 0.5
    operation, kind = random.choice(list(Operation)), random.choice(list(ResourceKind))
    found = audit_line(
        Audited(
            principal="User:a\n",
            host="h",
            operation=operation,
            kind=kind,
            name="n" * size,
            is_allowed=is_allowed,
        )
    )
    level, verdict = ("DEBUG", "Allowed") if is_allowed else ("INFO", "Denied")
    named = f"{kind.name}:LITERAL:{'n' * min(size, 260)}"
    same(
        "a line of the audit log",
        found,
        f"{level} Principal = User:a\\n is {verdict} operation = {operation.name} from host = h "
        f"on resource = {named} with resourceRefCount = 1",
    )
