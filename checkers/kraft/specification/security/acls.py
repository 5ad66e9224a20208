"""Judge CreateAcls and DeleteAcls (Kafka 4.3.0, AclControlManager; KIP-11, KIP-290)."""

from collections import Counter
from collections.abc import Sequence
from typing import Final

from kraftproof.checkers.kraft.specification.errors import Code, code_name
from kraftproof.checkers.kraft.specification.facts import Facts
from kraftproof.checkers.kraft.specification.image import Image
from kraftproof.checkers.kraft.specification.rows import Row
from kraftproof.checkers.kraft.specification.rows.security import (
    AccessControlEntryRecord,
    AclCreation,
    CreateAclsRequest,
    CreateAclsResponse,
    DeleteAclsFilter,
    DeleteAclsRequest,
    DeleteAclsResponse,
    RemoveAccessControlEntryRecord,
)

ANY, MATCH, LITERAL, PREFIXED = 1, 2, 3, 4
DENY, ALLOW = 2, 3
CLUSTER: Final = 4
CLUSTER_NAME: Final = "kafka-cluster"
MAX_RECORDS: Final = 10_000
_KINDS: Final = range(2, 8)
_OPERATIONS: Final = range(2, 16)
Key = tuple[int, int, str, str, str, int, int]


def key_of(entry: AccessControlEntryRecord) -> Key:
    """Return an entry without its id."""
    return (
        entry.resource_type,
        entry.pattern_type,
        entry.resource_name,
        entry.principal,
        entry.host,
        entry.operation,
        entry.permission_type,
    )


def _wanted(creation: AclCreation) -> Key:
    return (
        creation.resource_type,
        creation.resource_pattern_type,
        creation.resource_name,
        creation.principal,
        creation.host,
        creation.operation,
        creation.permission_type,
    )


def _code(facts: Facts, creation: AclCreation) -> Code:
    """Return the right code of a wanted entry."""
    if not facts.has_authorizer:
        return Code.SECURITY_DISABLED
    is_legal = (
        creation.resource_type in _KINDS
        and creation.resource_pattern_type in {LITERAL, PREFIXED}
        and creation.operation in _OPERATIONS
        and creation.permission_type in {DENY, ALLOW}
        and creation.resource_name
        and (creation.resource_type != CLUSTER or creation.resource_name == CLUSTER_NAME)
        and ":" in creation.principal
    )
    return Code.NONE if is_legal else Code.INVALID_REQUEST


def wrong_acl_creations(
    image: Image, facts: Facts, request: CreateAclsRequest, written: Sequence[Row]
) -> str | None:
    """Return why a batch is no right result of CreateAcls, or None."""
    present = {key_of(entry) for entry in image.acls.values()}
    wanted = {
        _wanted(creation)
        for creation in request.creations
        if _code(facts, creation) is Code.NONE and _wanted(creation) not in present
    }
    if len(wanted) > MAX_RECORDS:
        return "a request with too many entries has written records" if written else None
    records = [record for record in written if isinstance(record, AccessControlEntryRecord)]
    if len(records) != len(written):
        return f"{[type(record).__name__ for record in written]} were written"
    made = Counter(map(key_of, records))
    if made != Counter(wanted):
        return f"the entries {sorted(made)} were written, not {sorted(wanted)}"
    ids = [record.id for record in records]
    if len({*ids, *image.acls}) < len(ids) + len(image.acls):
        return "an id of an entry was used twice"
    return None


def wrong_acl_creation_answer(
    image: Image, facts: Facts, request: CreateAclsRequest, answer: CreateAclsResponse
) -> str | None:
    """Return why an answer to CreateAcls is wrong, or None."""
    del image  # an entry that exists succeeds, too
    right = [_code(facts, creation) for creation in request.creations]
    said = [result.error_code for result in answer.results]
    if len(right) > MAX_RECORDS and set(said) == {Code.POLICY_VIOLATION}:
        return None
    return None if said == right else f"{_names(said)}, not {_names(right)}"


def selects(wanted: DeleteAclsFilter, entry: AccessControlEntryRecord) -> bool:
    """Return whether a filter selects an entry."""
    pattern, name = wanted.pattern_type_filter, wanted.resource_name_filter
    if wanted.resource_type_filter not in {ANY, entry.resource_type}:
        return False
    if pattern == MATCH and name is not None:
        applies = (
            entry.resource_name in {name, "*"}
            if entry.pattern_type == LITERAL
            else name.startswith(entry.resource_name)
        )
    else:
        applies = pattern in {ANY, MATCH, entry.pattern_type} and name in {
            None,
            entry.resource_name,
        }
    return (
        applies
        and wanted.principal_filter in {None, entry.principal}
        and wanted.host_filter in {None, entry.host}
        and wanted.operation in {ANY, entry.operation}
        and wanted.permission_type in {ANY, entry.permission_type}
    )


def _filter_code(facts: Facts, wanted: DeleteAclsFilter) -> Code:
    if not facts.has_authorizer:
        return Code.SECURITY_DISABLED
    is_legal = (
        wanted.resource_type_filter in {ANY, *_KINDS}
        and wanted.pattern_type_filter in {ANY, MATCH, LITERAL, PREFIXED}
        and wanted.operation in {ANY, *_OPERATIONS}
        and wanted.permission_type in {ANY, DENY, ALLOW}
    )
    return Code.NONE if is_legal else Code.INVALID_REQUEST


def _selected(
    image: Image, facts: Facts, wanted: DeleteAclsFilter
) -> list[AccessControlEntryRecord]:
    if _filter_code(facts, wanted) is not Code.NONE:
        return []
    return [entry for entry in image.acls.values() if selects(wanted, entry)]


def wrong_acl_deletions(
    image: Image, facts: Facts, request: DeleteAclsRequest, written: Sequence[Row]
) -> str | None:
    """Return why a batch is no right result of DeleteAcls, or None."""
    right = {entry.id for wanted in request.filters for entry in _selected(image, facts, wanted)}
    if len(right) > MAX_RECORDS:
        return "a request of too many entries has written records" if written else None
    removed = Counter(
        record.id for record in written if isinstance(record, RemoveAccessControlEntryRecord)
    )
    if removed != Counter(right) or len(written) != len(right):
        return f"{len(written)} records remove {len(removed)} entries, not {len(right)}"
    return None


def wrong_acl_deletion_answer(
    image: Image, facts: Facts, request: DeleteAclsRequest, answer: DeleteAclsResponse
) -> str | None:
    """Return why an answer to DeleteAcls is wrong, or None."""
    if len(answer.filter_results) != len(request.filters):
        return f"{len(answer.filter_results)} results for {len(request.filters)} filters"
    said = [result.error_code for result in answer.filter_results]
    if len(image.acls) > MAX_RECORDS and set(said) == {Code.POLICY_VIOLATION}:
        return None
    for wanted, result in zip(request.filters, answer.filter_results, strict=True):
        code = _filter_code(facts, wanted)
        if result.error_code != code:
            return f"{code_name(result.error_code)}, not {code.name}"
        listed = Counter(
            (
                one.resource_type,
                one.pattern_type,
                one.resource_name,
                one.principal,
                one.host,
                one.operation,
                one.permission_type,
            )
            for one in result.matching_acls
        )
        if listed != Counter(map(key_of, _selected(image, facts, wanted))):
            return f"a filter lists {sorted(listed)} as deleted"
    return None


def likely_acl_change(image: Image, written: Sequence[Row]) -> Row:
    """Return a request that explains records of entries, for logs without requests."""
    creations = tuple(
        AclCreation(
            resource_type=one.resource_type,
            resource_name=one.resource_name,
            resource_pattern_type=one.pattern_type,
            principal=one.principal,
            host=one.host,
            operation=one.operation,
            permission_type=one.permission_type,
        )
        for one in written
        if isinstance(one, AccessControlEntryRecord)
    )
    if creations:
        return CreateAclsRequest(creations=creations)
    removed = (
        image.acls.get(one.id) for one in written if isinstance(one, RemoveAccessControlEntryRecord)
    )
    return DeleteAclsRequest(
        filters=tuple(
            DeleteAclsFilter(
                resource_type_filter=one.resource_type,
                resource_name_filter=one.resource_name,
                pattern_type_filter=one.pattern_type,
                principal_filter=one.principal,
                host_filter=one.host,
                operation=one.operation,
                permission_type=one.permission_type,
            )
            for one in removed
            if one is not None
        )
    )


def _names(codes: Sequence[int]) -> list[str]:
    return [code_name(code) for code in codes]
