"""Compare DescribeAcls with a pass over a plain list of entries (KIP-11, KIP-290, KIP-140)."""

from random import Random
from typing import Any, Final

from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.node.core.base.config import AuthorizerPolicy, NodeConfig
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.metadata.image import EMPTY_IMAGE, MetadataImage
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.own_answers import own_answer
from kraftproof.node.core.security.authorizer import Authorizer
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message, describe_acls_request
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.records.metadata import (
    AccessControlEntryRecord,
    RemoveAccessControlEntryRecord,
)
from kraftproof.node.wire.types import Uuid

ROUNDS: Final = 20
_CONTROLLER: Final = NodeConfig(
    node_id=NodeId(1),
    cluster_id="c",
    is_controller=True,
    is_broker=False,
    voters=(),
    endpoints=(),
)
UNKNOWN, ANY, MATCH, LITERAL, PREFIXED = 0, 1, 2, 3, 4
KINDS: Final = (2, 3, 4, 5, 6, 7)
OPERATIONS: Final = tuple(range(2, 16))
PERMISSIONS: Final = (2, 3)
NAMES: Final = ("a", "ab", "abc", "b", "*")
PRINCIPALS: Final = ("User:a", "User:b", "User:*")
HOSTS: Final = ("*", "10.0.0.1")
NUMBERS: Final = ("resource_type_filter", "pattern_type_filter", "operation", "permission_type")
"""The fields in which 0 is refused; another unknown number selects nothing, as in Kafka."""
Entry = tuple[str, str, int, int]
Answer = dict[tuple[int, str, int], list[Entry]]


def compare_described_entries(random: Random) -> None:
    """Describe drawn entries by drawn filters.

    Raises:
        DifferenceError: an answer lacks an entry, has one too many, or has another error.
    """
    entries = [_entry(random, number) for number in range(random.randint(0, 12))]
    gone = [one for one in entries if random.random() < 0.2]
    removals = tuple(RemoveAccessControlEntryRecord(id=one.id) for one in gone)
    image = apply_all(EMPTY_IMAGE, (*entries, *removals))
    left = [one for one in entries if one not in gone]
    for _ in range(ROUNDS):
        wanted, has_authorizer = _filter(random), random.random() < 0.9
        reply: Any = _described(image, wanted, has_authorizer=has_authorizer)
        error = ErrorCode.NONE
        if not has_authorizer:
            error = ErrorCode.SECURITY_DISABLED
        elif UNKNOWN in {getattr(wanted, field) for field in NUMBERS}:
            error = ErrorCode.INVALID_REQUEST
        same(f"the error of {wanted}", reply.error_code, error)
        check("an error has a reason", bool(reply.error_message) == bool(error))
        found: Answer = {}
        for one in reply.resources:
            key = (one.resource_type, one.resource_name, one.pattern_type)
            check(f"{key} is answered once", key not in found)
            found[key] = sorted(
                (acl.principal, acl.host, acl.operation, acl.permission_type) for acl in one.acls
            )
        due = {} if error else _due(left, wanted)
        same(f"the entries of {wanted}", found, due)


def _described(
    image: MetadataImage, wanted: describe_acls_request.DescribeAclsRequest, *, has_authorizer: bool
) -> Message | None:
    """Return the answer of a controller, with an authorizer or without."""
    committed = CommittedImage()
    committed.image = image
    authorizer = Authorizer(AuthorizerPolicy(), committed, Outbox()) if has_authorizer else None
    event = Received(
        request=1,
        message=wanted,
        version=wanted.MAX_VERSION,
        on_controller_listener=True,
        principal=ANONYMOUS,
        client_host="h",
    )
    return own_answer(event, _CONTROLLER, committed, _CONTROLLER.node_id, authorizer)


def _entry(random: Random, number: int) -> AccessControlEntryRecord:
    return AccessControlEntryRecord(
        id=Uuid(number.to_bytes(16, "big")),
        resource_type=random.choice(KINDS[:3]),
        resource_name=random.choice(NAMES),
        pattern_type=random.choice((LITERAL, PREFIXED)),
        principal=random.choice(PRINCIPALS),
        host=random.choice(HOSTS),
        operation=random.choice(OPERATIONS),
        permission_type=random.choice(PERMISSIONS),
    )


def _filter(random: Random) -> describe_acls_request.DescribeAclsRequest:
    def number(*values: int) -> int:
        if random.random() < 0.04:
            return random.choice((UNKNOWN, -1, 16))
        return random.choice((ANY, ANY, *values))

    return describe_acls_request.DescribeAclsRequest(
        resource_type_filter=number(*KINDS[:3]),
        resource_name_filter=random.choice((None, None, "", *NAMES)),
        pattern_type_filter=number(MATCH, MATCH, LITERAL, PREFIXED),
        principal_filter=random.choice((None, None, *PRINCIPALS)),
        host_filter=random.choice((None, None, *HOSTS)),
        operation=number(2, 3),
        permission_type=number(*PERMISSIONS),
    )


def _due(
    entries: list[AccessControlEntryRecord], wanted: describe_acls_request.DescribeAclsRequest
) -> Answer:
    """Return the entries of each resource that a filter selects."""
    found: Answer = {}
    for one in entries:
        pairs = (
            (wanted.resource_type_filter, one.resource_type),
            (wanted.operation, one.operation),
            (wanted.permission_type, one.permission_type),
        )
        texts = ((wanted.principal_filter, one.principal), (wanted.host_filter, one.host))
        fits = all(number in {ANY, own} for number, own in pairs)
        fits = fits and all(text is None or text == own for text, own in texts)
        if fits and _names(wanted, one):
            key = (one.resource_type, one.resource_name, one.pattern_type)
            entry = (one.principal, one.host, one.operation, one.permission_type)
            found.setdefault(key, []).append(entry)
    return {key: sorted(of_key) for key, of_key in found.items()}


def _names(
    wanted: describe_acls_request.DescribeAclsRequest, entry: AccessControlEntryRecord
) -> bool:
    """Return whether name and pattern fit; MATCH selects what applies to the resource (KIP-290)."""
    name, pattern = wanted.resource_name_filter, wanted.pattern_type_filter
    if pattern not in {ANY, MATCH, entry.pattern_type}:
        return False
    if name is None or pattern != MATCH:
        return name in {None, entry.resource_name}
    if entry.pattern_type == PREFIXED:
        return name.startswith(entry.resource_name)
    return entry.resource_name in {"*", name}
