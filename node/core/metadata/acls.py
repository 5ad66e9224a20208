"""Define resources, operations and filters of access control entries (KIP-11, KIP-290).

The numbers are those of requests and of AccessControlEntryRecord. See authorizer.py for decisions.
"""

from enum import IntEnum
from typing import Final, Protocol

from kraftproof.node.wire.records.metadata import AccessControlEntryRecord


class ResourceKind(IntEnum):
    """The kind of a protected resource."""

    UNKNOWN = 0
    ANY = 1
    TOPIC = 2
    GROUP = 3
    CLUSTER = 4
    TRANSACTIONAL_ID = 5
    DELEGATION_TOKEN = 6
    USER = 7


class Pattern(IntEnum):
    """The relation between the name of an entry or filter and the name of a resource."""

    UNKNOWN = 0
    ANY = 1
    MATCH = 2
    LITERAL = 3
    PREFIXED = 4


class Operation(IntEnum):
    """The operation that an entry allows or denies."""

    UNKNOWN = 0
    ANY = 1
    ALL = 2
    READ = 3
    WRITE = 4
    CREATE = 5
    DELETE = 6
    ALTER = 7
    DESCRIBE = 8
    CLUSTER_ACTION = 9
    DESCRIBE_CONFIGS = 10
    ALTER_CONFIGS = 11
    IDEMPOTENT_WRITE = 12
    CREATE_TOKENS = 13
    DESCRIBE_TOKENS = 14
    TWO_PHASE_COMMIT = 15


class Permission(IntEnum):
    """The effect of an entry."""

    UNKNOWN = 0
    ANY = 1
    DENY = 2
    ALLOW = 3


CLUSTER_NAME: Final = "kafka-cluster"
"""The name of the only resource of kind CLUSTER."""
WILDCARD: Final = "*"
"""The literal name of each resource of a kind; as a host, each host."""
EVERYONE: Final = "User:*"
"""The principal of an entry for each principal."""
NO_AUTHORIZER: Final = "no authorizer is configured: see authorizer.class.name"
"""The reason of a refusal with SECURITY_DISABLED."""
RESERVED: Final = 2
"""The numbers below this one are UNKNOWN and ANY, which no entry has."""


class Entry(Protocol):
    """The fields of an entry, as in a record and in a request."""

    @property
    def resource_type(self) -> int:
        """Return the kind of the resource."""
        ...

    @property
    def resource_name(self) -> str:
        """Return the name or prefix."""
        ...

    @property
    def principal(self) -> str:
        """Return the principal, such as User:alice."""
        ...

    @property
    def host(self) -> str:
        """Return the address of the client."""
        ...

    @property
    def operation(self) -> int:
        """Return the operation."""
        ...

    @property
    def permission_type(self) -> int:
        """Return the permission."""
        ...


EntryKey = tuple[int, int, str, str, str, int, int]
"""Resource kind, pattern, name, principal, host, operation and permission: an entry without id."""


def entry_key(record: AccessControlEntryRecord) -> EntryKey:
    """Return the fields of an entry without its id; equal entries protect alike."""
    return (
        record.resource_type,
        record.pattern_type,
        record.resource_name,
        record.principal,
        record.host,
        record.operation,
        record.permission_type,
    )


class Filter(Protocol):
    """The fields of a filter, as in DescribeAcls and DeleteAcls; None stands for any text."""

    @property
    def resource_type_filter(self) -> int:
        """Return the kind of the resource, or ANY."""
        ...

    @property
    def resource_name_filter(self) -> str | None:
        """Return the name."""
        ...

    @property
    def pattern_type_filter(self) -> int:
        """Return the pattern, ANY, or MATCH."""
        ...

    @property
    def principal_filter(self) -> str | None:
        """Return the principal."""
        ...

    @property
    def host_filter(self) -> str | None:
        """Return the host."""
        ...

    @property
    def operation(self) -> int:
        """Return the operation, or ANY."""
        ...

    @property
    def permission_type(self) -> int:
        """Return the permission, or ANY."""
        ...


def has_unknown_kind(wanted: Filter) -> bool:
    """Return whether a filter has a number that is no kind, pattern, operation or permission."""
    return (
        wanted.resource_type_filter not in _KINDS
        or wanted.pattern_type_filter not in _PATTERNS
        or wanted.operation not in _OPERATIONS
        or wanted.permission_type not in _PERMISSIONS
    )


_KINDS: Final = frozenset(ResourceKind) - {ResourceKind.UNKNOWN}
_PATTERNS: Final = frozenset(Pattern) - {Pattern.UNKNOWN}
_OPERATIONS: Final = frozenset(Operation) - {Operation.UNKNOWN}
_PERMISSIONS: Final = frozenset(Permission) - {Permission.UNKNOWN}


def matches(wanted: Filter, entry: AccessControlEntryRecord) -> bool:
    """Return whether a filter selects an entry (KIP-290)."""
    return (
        wanted.resource_type_filter in {ResourceKind.ANY, entry.resource_type}
        and _pattern_matches(wanted, entry)
        and wanted.principal_filter in {None, entry.principal}
        and wanted.host_filter in {None, entry.host}
        and wanted.operation in {Operation.ANY, entry.operation}
        and wanted.permission_type in {Permission.ANY, entry.permission_type}
    )


def _pattern_matches(wanted: Filter, entry: AccessControlEntryRecord) -> bool:
    """Return whether pattern and name fit; MATCH selects the entries that apply to the name."""
    pattern, name = wanted.pattern_type_filter, wanted.resource_name_filter
    if pattern not in {Pattern.ANY, Pattern.MATCH, entry.pattern_type}:
        return False
    if name is None:
        return True
    if pattern != Pattern.MATCH:
        return name == entry.resource_name
    if entry.pattern_type == Pattern.LITERAL:
        return entry.resource_name in {name, WILDCARD}
    return name.startswith(entry.resource_name)
