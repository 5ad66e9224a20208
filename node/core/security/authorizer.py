"""Decide whether a principal may do an operation on a resource (KIP-11, KIP-290, KIP-801).

The rules are those of Kafka's StandardAuthorizer. A super user may do everything. Otherwise a
matching entry that denies wins over each entry that allows, and without an entry for the resource
the configured default decides. An allowed operation implies weaker operations; a denied operation
implies nothing.

The decision reads the node's committed image of that moment. A node that has not loaded an image
denies everybody but super users. See required.py for the rights that a request needs.
"""

from collections.abc import Mapping
from typing import Final

from msgspec import Struct

from kraftproof.node.core.audit import Audited
from kraftproof.node.core.base.config import AuthorizerPolicy
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.acl_index import AclIndex
from kraftproof.node.core.metadata.acls import (
    CLUSTER_NAME,
    EVERYONE,
    WILDCARD,
    Operation,
    Pattern,
    Permission,
    ResourceKind,
)
from kraftproof.node.core.metadata.committed import CommittedImage
from kraftproof.node.core.outbox import Outbox
from kraftproof.node.core.security.required import required_of
from kraftproof.node.wire.messages.generated.envelope_request import EnvelopeRequest
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.records.metadata import AccessControlEntryRecord

_ANY_NAME: Final = "hardcode"
"""A name that Kafka asks for, to find out whether a principal may use each resource of a kind."""
_ENVELOPE: Final = EnvelopeRequest()
_IMPLIED: Final[Mapping[int, frozenset[int]]] = {
    Operation.DESCRIBE: frozenset(
        {Operation.READ, Operation.WRITE, Operation.DELETE, Operation.ALTER}
    ),
    Operation.DESCRIBE_CONFIGS: frozenset({Operation.ALTER_CONFIGS}),
}
"""The operations whose permission implies a weaker operation."""


class Requester(Struct, frozen=True):
    """The principal and the address of a client."""

    principal: Principal
    host: str

    @property
    def name(self) -> str:
        """Return the principal as written in entries, such as User:alice."""
        return f"{self.principal.type}:{self.principal.name}"


def decide(
    acls: AclIndex,
    requester: Requester,
    operation: Operation,
    kind: ResourceKind,
    name: str,
    *,
    default: bool,
) -> bool:
    """Return whether entries allow an operation; `default` holds without entries for the resource.

    Super users are not known here.
    """
    principal, host = requester.name, requester.host
    is_protected = is_allowed = False
    for entry in acls.entries_for(kind, name):
        is_protected = True
        if not _concerns(entry, principal, host) or not _covers(entry, operation):
            continue
        if entry.permission_type == Permission.DENY:
            return False
        is_allowed = is_allowed or entry.permission_type == Permission.ALLOW
    return is_allowed if is_protected else default


def _concerns(entry: AccessControlEntryRecord, principal: str, host: str) -> bool:
    """Return whether an entry is about a principal at a host."""
    return entry.principal in {principal, EVERYONE} and entry.host in {host, WILDCARD}


def _covers(entry: AccessControlEntryRecord, operation: Operation) -> bool:
    """Return whether an entry is about an operation, or implies the operation by an ALLOW."""
    if entry.operation in {Operation.ALL, operation}:
        return True
    return entry.permission_type == Permission.ALLOW and entry.operation in _IMPLIED.get(
        operation, ()
    )


def decide_any(
    acls: AclIndex,
    requester: Requester,
    operation: Operation,
    kind: ResourceKind,
    *,
    default: bool,
) -> bool:
    """Return whether entries allow an operation on at least one resource of a kind (KIP-679)."""
    if decide(acls, requester, operation, kind, _ANY_NAME, default=default):
        return True
    allowed: list[AccessControlEntryRecord] = []
    denied: list[AccessControlEntryRecord] = []
    for entry in acls.of_kind(kind):
        concerns = _concerns(entry, requester.name, requester.host)
        if concerns and entry.operation in {Operation.ALL, operation}:
            (denied if entry.permission_type == Permission.DENY else allowed).append(entry)
    return any(not any(_dominates(other, entry) for other in denied) for entry in allowed)


def _dominates(deny: AccessControlEntryRecord, allow: AccessControlEntryRecord) -> bool:
    """Return whether a denial leaves nothing of what an entry allows."""
    if deny.pattern_type == Pattern.PREFIXED:
        is_wildcard = allow.pattern_type == Pattern.LITERAL and allow.resource_name == WILDCARD
        return not is_wildcard and allow.resource_name.startswith(deny.resource_name)
    if deny.resource_name == WILDCARD:
        return True
    return allow.pattern_type == Pattern.LITERAL and allow.resource_name == deny.resource_name


class Authorizer:
    """The authorizer of a node: its policy, its committed image and its audit log."""

    __slots__ = ("_committed", "_is_ready", "_outbox", "_policy", "_super_users")

    def __init__(self, policy: AuthorizerPolicy, committed: CommittedImage, outbox: Outbox) -> None:
        self._policy = policy
        self._committed = committed
        self._outbox = outbox
        self._super_users = frozenset(policy.super_users)
        self._is_ready = False

    @property
    def is_ready(self) -> bool:
        """Return whether the node has loaded the committed records that it knows of."""
        if not self._is_ready:
            self._is_ready = self._committed.offset > 0 and not self._committed.is_behind
        return self._is_ready

    def knows_sender(self, event: Received) -> bool:
        """Return whether the principal is a super user, who needs no image."""
        return Requester(event.principal, event.client_host).name in self._super_users

    def knows_forwarder(self, event: Received) -> bool:
        """Return whether the forwarding broker is a super user, who needs no image."""
        assert event.forwarded_by is not None, "only an envelope has a forwarder"
        return Requester(event.forwarded_by, event.forwarder_host).name in self._super_users

    def allows_whole(self, event: Received) -> bool:
        """Return whether the sender may do a request that is allowed or refused as a whole."""
        required = required_of(event.message, on_controller_listener=event.on_controller_listener)
        if not required.is_for_whole:
            return True
        assert required.cluster is not None, "a whole request needs a right on the cluster"
        return self.allows(event, required.cluster)

    def allows_part(
        self, event: Received, name: str, kind: ResourceKind | None = None, *, logs: bool = True
    ) -> bool:
        """Return whether the sender may do the part of a request that is about a resource.

        Args:
            event: The request.
            name: The name of the resource.
            kind: The kind of the resource, if the request names the kind.
            logs: Whether the decision is logged.
        """
        required = required_of(event.message, on_controller_listener=event.on_controller_listener)
        if required.cluster is not None and self.allows(event, required.cluster, logs=False):
            return True
        if required.part is None:
            return True
        return self.allows(event, required.part, kind or required.kind, name, logs=logs)

    def allows_forwarder(self, event: Received) -> bool:
        """Return whether the broker that has forwarded a request may forward (590-03)."""
        assert event.forwarded_by is not None, "only an envelope has a forwarder"
        requester = Requester(event.forwarded_by, event.forwarder_host)
        operation = required_of(_ENVELOPE, on_controller_listener=True).cluster
        assert operation is not None, "an envelope needs a right on the cluster"
        return self._decide(requester, operation, ResourceKind.CLUSTER, CLUSTER_NAME, logs=True)

    def allows(
        self,
        event: Received,
        operation: Operation,
        kind: ResourceKind = ResourceKind.CLUSTER,
        name: str = CLUSTER_NAME,
        *,
        logs: bool = True,
    ) -> bool:
        """Return whether the sender of a request may do an operation on a resource.

        Args:
            event: The request; its principal is that of the client, also in an Envelope.
            operation: The operation.
            kind: The kind of the resource; by default the cluster.
            name: The name of the resource.
            logs: Whether the decision is logged; False for an alternative of another right.
        """
        requester = Requester(event.principal, event.client_host)
        return self._decide(requester, operation, kind, name, logs=logs)

    def allows_any(self, event: Received, operation: Operation, kind: ResourceKind) -> bool:
        """Return whether the sender has a right on some resource of a kind (KIP-679)."""
        requester = Requester(event.principal, event.client_host)
        is_allowed = requester.name in self._super_users or (
            self.is_ready
            and decide_any(
                self._committed.image.acls,
                requester,
                operation,
                kind,
                default=self._policy.allows_without_acl,
            )
        )
        self._log(requester, operation, kind, WILDCARD, is_allowed=is_allowed)
        return is_allowed

    def _decide(
        self,
        requester: Requester,
        operation: Operation,
        kind: ResourceKind,
        name: str,
        *,
        logs: bool,
    ) -> bool:
        is_allowed = requester.name in self._super_users or (
            self.is_ready
            and decide(
                self._committed.image.acls,
                requester,
                operation,
                kind,
                name,
                default=self._policy.allows_without_acl,
            )
        )
        if logs:
            self._log(requester, operation, kind, name, is_allowed=is_allowed)
        return is_allowed

    def _log(
        self,
        requester: Requester,
        operation: Operation,
        kind: ResourceKind,
        name: str,
        *,
        is_allowed: bool,
    ) -> None:
        if not is_allowed or self._policy.logs_allowed:
            self._outbox.emit(
                Audited(
                    principal=requester.name,
                    host=requester.host,
                    operation=operation,
                    kind=kind,
                    name=name,
                    is_allowed=is_allowed,
                )
            )
