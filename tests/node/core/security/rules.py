"""Access control entries, requesters and a node with an authorizer, for the tests of security."""

from itertools import count

from kraftproof.node.core.base.config import AuthorizerPolicy
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.acl_index import AclIndex, index_of
from kraftproof.node.core.metadata.acls import Operation, Pattern, Permission, ResourceKind
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.records.metadata import AccessControlEntryRecord
from kraftproof.node.wire.types import Uuid

TOPIC, CLUSTER, GROUP = ResourceKind.TOPIC, ResourceKind.CLUSTER, ResourceKind.GROUP
ADMIN = Principal(type="User", name="admin")
ALICE = Principal(type="User", name="alice")
NOBODY = Principal(type="User", name="nobody")
POLICY = AuthorizerPolicy(super_users=("User:admin",))
_ids = count(1000)


def entry(
    operation: Operation,
    name: str = "t",
    *,
    kind: ResourceKind = TOPIC,
    principal: str = "User:alice",
    host: str = "*",
    denies: bool = False,
    is_prefix: bool = False,
) -> AccessControlEntryRecord:
    return AccessControlEntryRecord(
        id=Uuid(next(_ids).to_bytes(16, "big")),
        resource_type=kind,
        resource_name=name,
        pattern_type=Pattern.PREFIXED if is_prefix else Pattern.LITERAL,
        principal=principal,
        host=host,
        operation=operation,
        permission_type=Permission.DENY if denies else Permission.ALLOW,
    )


def acls(*entries: AccessControlEntryRecord) -> AclIndex:
    return index_of(entries)


def received(
    message: Message,
    principal: Principal = ALICE,
    *,
    version: int | None = None,
    on_controller_listener: bool = False,
    forwarded_by: Principal | None = None,
    host: str = "10.0.0.1",
) -> Received:
    return Received(
        request=next(_ids),
        message=message,
        version=message.MAX_VERSION if version is None else version,
        on_controller_listener=on_controller_listener,
        principal=principal,
        client_host=host,
        forwarded_by=forwarded_by,
    )
