"""Decide CreateAcls and DeleteAcls (KIP-11, KIP-290; KIP-631 "AccessControlRecord").

Each entry or filter succeeds or fails alone; the records of a request are one batch. See
node/core/security/describe.py for DescribeAcls, which every node answers from its own image.
"""

from typing import TYPE_CHECKING, Final

from kraftproof.node.core.controller.outcome import Outcome
from kraftproof.node.core.controller.refusals import refusal
from kraftproof.node.core.metadata.acls import (
    CLUSTER_NAME,
    NO_AUTHORIZER,
    RESERVED,
    EntryKey,
    Operation,
    Pattern,
    Permission,
    ResourceKind,
    entry_key,
    has_unknown_kind,
    matches,
)
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    create_acls_request,
    create_acls_response,
    delete_acls_request,
    delete_acls_response,
)
from kraftproof.node.wire.records.metadata import (
    AccessControlEntryRecord,
    RemoveAccessControlEntryRecord,
)
from kraftproof.node.wire.types import UUID_BYTES, ZERO_UUID, Uuid

if TYPE_CHECKING:
    from random import Random

CreateRequest = create_acls_request.CreateAclsRequest
Creation = create_acls_request.AclCreation
CreationResult = create_acls_response.AclCreationResult
DeleteRequest = delete_acls_request.DeleteAclsRequest
FilterResult = delete_acls_response.DeleteAclsFilterResult

MAX_RECORDS: Final = 10_000
"""Kafka's limit on the records of a request."""
_TOO_MANY: Final = f"more than {MAX_RECORDS} records, which are the most that a request may write"
_RESERVED_IDS: Final = 1 << 64
"""Kafka reserves the smaller ids."""


def create_acls(
    image: MetadataImage, request: CreateRequest, random: "Random", *, has_authorizer: bool
) -> Outcome:
    """Create entries; an entry that exists already succeeds without a record."""
    if not has_authorizer:
        return Outcome(reply=refusal(request, ErrorCode.SECURITY_DISABLED, NO_AUTHORIZER))
    results: list[CreationResult] = []
    written: dict[EntryKey, AccessControlEntryRecord] = {}
    for creation in request.creations:
        problem = _problem(creation)
        if problem is not None:
            error = ErrorCode.INVALID_REQUEST
            results.append(CreationResult(error_code=error, error_message=problem))
            continue
        results.append(CreationResult())
        key = entry_key(_record(creation, ZERO_UUID))
        if key not in written and not _exists(image, key):
            written[key] = _record(creation, _new_id(image, random))
    if len(written) > MAX_RECORDS:
        return Outcome(reply=refusal(request, ErrorCode.POLICY_VIOLATION, _TOO_MANY))
    reply = create_acls_response.CreateAclsResponse(results=tuple(results))
    return Outcome(reply=reply, records=tuple(written.values()))


def _problem(creation: Creation) -> str | None:
    """Return the reason why an entry is refused, or None."""
    kind, name = creation.resource_type, creation.resource_name
    if kind not in set(ResourceKind) or kind < RESERVED:
        return f"resource type {kind} protects nothing"
    if creation.resource_pattern_type not in {Pattern.LITERAL, Pattern.PREFIXED}:
        return f"pattern type {creation.resource_pattern_type} is neither literal nor prefixed"
    if creation.operation not in set(Operation) or creation.operation < RESERVED:
        return f"operation {creation.operation} is not known"
    if creation.permission_type not in {Permission.DENY, Permission.ALLOW}:
        return f"permission type {creation.permission_type} neither denies nor allows"
    if not name:
        return "the name of the resource is empty"
    if kind == ResourceKind.CLUSTER and name != CLUSTER_NAME:
        return f"the cluster has the name {CLUSTER_NAME}, not {name[:200]!r}"
    if ":" not in creation.principal:
        return f"principal {creation.principal[:200]!r} has no type, such as in User:alice"
    return None


def _record(creation: Creation, acl_id: Uuid) -> AccessControlEntryRecord:
    return AccessControlEntryRecord(
        id=acl_id,
        resource_type=creation.resource_type,
        resource_name=creation.resource_name,
        pattern_type=creation.resource_pattern_type,
        principal=creation.principal,
        host=creation.host,
        operation=creation.operation,
        permission_type=creation.permission_type,
    )


def _exists(image: MetadataImage, key: EntryKey) -> bool:
    kind, pattern, name = key[:3]
    entries = image.acls.by_resource.get((kind, pattern, name), ())
    return any(entry_key(entry) == key for entry in entries)


def _new_id(image: MetadataImage, random: "Random") -> Uuid:
    while True:
        number = random.getrandbits(8 * UUID_BYTES)
        acl_id = Uuid(number.to_bytes(UUID_BYTES, "big"))
        if number >= _RESERVED_IDS and ("acl", acl_id) not in image.others:
            return acl_id


def delete_acls(image: MetadataImage, request: DeleteRequest, *, has_authorizer: bool) -> Outcome:
    """Delete the entries that filters select; an entry of several filters has one record."""
    if not has_authorizer:
        return Outcome(reply=refusal(request, ErrorCode.SECURITY_DISABLED, NO_AUTHORIZER))
    entries = image.acls.all_entries()
    results: list[FilterResult] = []
    removed: dict[Uuid, RemoveAccessControlEntryRecord] = {}
    for wanted in request.filters:
        if has_unknown_kind(wanted):
            reason = "the filter has an unknown resource type, pattern, operation or permission"
            error = ErrorCode.INVALID_REQUEST
            results.append(FilterResult(error_code=error, error_message=reason))
            continue
        found = [entry for entry in entries if matches(wanted, entry)]
        for entry in found:
            removed[entry.id] = RemoveAccessControlEntryRecord(id=entry.id)
        results.append(FilterResult(matching_acls=tuple(map(_deleted, found))))
    if len(removed) > MAX_RECORDS:
        return Outcome(reply=refusal(request, ErrorCode.POLICY_VIOLATION, _TOO_MANY))
    reply = delete_acls_response.DeleteAclsResponse(filter_results=tuple(results))
    return Outcome(reply=reply, records=tuple(removed.values()))


def _deleted(entry: AccessControlEntryRecord) -> delete_acls_response.DeleteAclsMatchingAcl:
    return delete_acls_response.DeleteAclsMatchingAcl(
        resource_type=entry.resource_type,
        resource_name=entry.resource_name,
        pattern_type=entry.pattern_type,
        principal=entry.principal,
        host=entry.host,
        operation=entry.operation,
        permission_type=entry.permission_type,
    )
