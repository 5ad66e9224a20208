"""Invariant of DescribeAcls: the entries that a filter selects, by rules of its own (KIP-290).

The rules are written apart from the node's filter, over a plain list of the entries.
"""

from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Requests
from kraftproof.cluster.simulated.invariants.security.descriptions import Descriptions
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    Message,
    describe_acls_request,
    describe_acls_response,
)
from kraftproof.node.wire.records.metadata import AccessControlEntryRecord

Request = describe_acls_request.DescribeAclsRequest
Response = describe_acls_response.DescribeAclsResponse
ANY, MATCH, LITERAL, PREFIXED = 1, 2, 3, 4
KINDS: Final = range(1, 8)
OPERATIONS: Final = range(1, 16)
PERMISSIONS: Final = range(1, 4)


class AclDescriptionsAreTrue(Descriptions[Request, Response]):
    """The entries in an answer are those of the image that the filter selects, each once."""

    statement = "DescribeAcls answers with the entries of the image that its filter selects."
    requests: ClassVar[Requests] = (Request,)
    response: ClassVar[type[Message]] = Response

    @override
    def fault(self, request: Request, response: Response, image: MetadataImage) -> str | None:
        """Return what is wrong with an answer; a node without authorizer describes nothing."""
        if response.error_code == ErrorCode.SECURITY_DISABLED:
            return None
        is_known = (
            request.resource_type_filter in KINDS
            and request.pattern_type_filter in (ANY, MATCH, LITERAL, PREFIXED)
            and request.operation in OPERATIONS
            and request.permission_type in PERMISSIONS
        )
        zeros = 0 in (
            request.resource_type_filter,
            request.pattern_type_filter,
            request.operation,
            request.permission_type,
        )
        if response.error_code != ErrorCode.NONE:
            return None if not is_known else f"error {response.error_code} for a right filter"
        if zeros:
            return "a filter with an unknown kind is answered"
        said = sorted(
            (
                resource.resource_type,
                resource.pattern_type,
                resource.resource_name,
                entry.principal,
                entry.host,
                entry.operation,
                entry.permission_type,
            )
            for resource in response.resources
            for entry in resource.acls
        )
        entries = [
            one for one in image.others.values() if isinstance(one, AccessControlEntryRecord)
        ]
        right = sorted(_shown(entry) for entry in entries if _is_selected(request, entry))
        if said != right:
            return f"answers {len(said)} entries {said[:3]}, but {len(right)} fit: {right[:3]}"
        return None


def _shown(entry: AccessControlEntryRecord) -> tuple[int, int, str, str, str, int, int]:
    return (
        entry.resource_type,
        entry.pattern_type,
        entry.resource_name,
        entry.principal,
        entry.host,
        entry.operation,
        entry.permission_type,
    )


def _is_selected(request: Request, entry: AccessControlEntryRecord) -> bool:
    wanted_numbers = (
        (request.resource_type_filter, entry.resource_type),
        (request.operation, entry.operation),
        (request.permission_type, entry.permission_type),
    )
    wanted_texts = (
        (request.principal_filter, entry.principal),
        (request.host_filter, entry.host),
    )
    return (
        all(wanted in (ANY, number) for wanted, number in wanted_numbers)
        and all(wanted is None or wanted == text for wanted, text in wanted_texts)
        and _names_resource(request, entry)
    )


def _names_resource(request: Request, entry: AccessControlEntryRecord) -> bool:
    name, pattern = request.resource_name_filter, request.pattern_type_filter
    if pattern not in (ANY, MATCH, entry.pattern_type):
        return False  # also for a number that is no kind of pattern
    if name is None or entry.resource_name == name:
        return True
    if pattern != MATCH:
        return False
    if entry.pattern_type == LITERAL:
        return entry.resource_name == "*"
    return name.startswith(entry.resource_name)
