"""Draw access control entries, and decide about a right by a pass over all of them."""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from kraftproof.cluster.simulated.invariants.security.authorized_answers import (
    ALL,
    ALLOW,
    CLUSTER,
    CLUSTER_ACTION,
    CLUSTER_NAME,
    DELETE,
    DENY,
    DESCRIBE,
    PREFIXED,
    READ,
    TOPIC,
    WRITE,
    allowed,
)
from kraftproof.node.core.base.config import AuthorizerPolicy
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.records.metadata import AccessControlEntryRecord
from kraftproof.node.wire.types import Uuid

GROUP, TRANSACTIONAL_ID = 3, 5
LITERAL: Final = 3
IDEMPOTENT_WRITE: Final = 12
ADMIN: Final = "User:admin"
USERS: Final = ("User:u1", "User:u2")
HOSTS: Final = ("h1", "h2")
FRESH: Final = "~never named~"
"""A name that no entry names, also not by a prefix."""
_NAMES: Final = {
    TOPIC: ("*", "a", "a", "ab", "b"),
    GROUP: ("*", "g", "gh"),
    TRANSACTIONAL_ID: ("*", "t", "tu"),
    CLUSTER: (CLUSTER_NAME,),
}
_KINDS: Final = (TOPIC, TOPIC, TOPIC, GROUP, TRANSACTIONAL_ID, CLUSTER)
_OPERATIONS: Final = dict.fromkeys(
    _KINDS, (ALL, READ, WRITE, DELETE, DESCRIBE, CLUSTER_ACTION, IDEMPOTENT_WRITE)
)
_MOST_ENTRIES: Final = 14


def draw_policy(random: Random) -> AuthorizerPolicy | None:
    """Return the rules of an authorizer, or None for no authorizer."""
    if random.random() < 0.3:
        return None
    return AuthorizerPolicy(super_users=(ADMIN,), allows_without_acl=random.random() < 0.4)


def draw_entries(random: Random) -> tuple[AccessControlEntryRecord, ...]:
    """Return entries about topics, groups, transactions and the cluster."""
    count = random.randint(0, _MOST_ENTRIES)
    return tuple(draw_entry(random, number, _KINDS, _NAMES, _OPERATIONS) for number in range(count))


def draw_entry(
    random: Random,
    number: int,
    kinds: Sequence[int],
    names: Mapping[int, Sequence[str]],
    operations: Mapping[int, Sequence[int]],
) -> AccessControlEntryRecord:
    """Return an entry about a kind of resource, with a name and an operation of the kind."""
    kind = random.choice(kinds)
    name = random.choice(names[kind])
    can_be_prefix = kind != CLUSTER and name != "*"
    return AccessControlEntryRecord(
        id=Uuid(number.to_bytes(16, "big")),
        resource_type=kind,
        resource_name=name,
        pattern_type=random.choice((LITERAL, PREFIXED)) if can_be_prefix else LITERAL,
        principal=random.choice((*USERS, "User:*")),
        host=random.choice((*HOSTS, "*", "*")),
        operation=random.choice(operations[kind]),
        permission_type=random.choice((ALLOW, ALLOW, DENY)),
    )


def draw_principal(random: Random) -> Principal:
    """Return the principal of a client."""
    kind, _, name = random.choice((*USERS, *USERS, ADMIN)).partition(":")
    return Principal(type=kind, name=name)


class Rights:
    """The decisions about a client."""

    def __init__(self, image: MetadataImage, policy: AuthorizerPolicy | None) -> None:
        self._image, self._policy = image, policy

    def allows(self, event: Received, operation: int, kind: int, name: str) -> bool:
        """Return whether the sender of a request may do an operation on a resource."""
        policy, sender = self._policy, _name(event)
        if policy is None or sender in policy.super_users:
            return True
        default = policy.allows_without_acl
        right = (operation, kind, name)
        return allowed(self._image, sender, event.client_host, right, default=default)

    def allows_on_cluster(self, event: Received, operation: int) -> bool:
        """Return whether the sender of a request may do an operation on the cluster."""
        return self.allows(event, operation, CLUSTER, CLUSTER_NAME)

    def allows_some(self, event: Received, operation: int, kind: int) -> bool:
        """Return whether there may be a resource on which the sender may do an operation (KIP-679).

        Each entry that allows the operation has a witness: its name, or a longer name that nothing
        else names. A single denial of the witness takes the entry away.
        """
        policy, sender = self._policy, _name(event)
        if policy is None or sender in policy.super_users:
            return True
        own = [
            entry
            for entry in self._image.others.values()
            if isinstance(entry, AccessControlEntryRecord)
            and entry.resource_type == kind
            and entry.principal in {sender, "User:*"}
            and entry.host in {event.client_host, "*"}
            and entry.operation in {ALL, operation}
        ]
        denied = [entry for entry in own if entry.permission_type == DENY]
        for entry in own:
            witness = {True: entry.resource_name + FRESH, False: entry.resource_name}[
                entry.pattern_type == PREFIXED
            ]
            witness = FRESH if witness == "*" else witness
            if entry.permission_type == ALLOW and not any(_names(one, witness) for one in denied):
                return True
        return self.allows(event, operation, kind, FRESH)


def _names(entry: AccessControlEntryRecord, name: str) -> bool:
    if entry.pattern_type == PREFIXED:
        return name.startswith(entry.resource_name)
    return entry.resource_name in {"*", name}


def _name(event: Received) -> str:
    return f"{event.principal.type}:{event.principal.name}"
