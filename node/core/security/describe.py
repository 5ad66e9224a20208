"""Answer DescribeAcls from the node's committed image, without the quorum (KIP-140, KIP-290)."""

from itertools import groupby

from kraftproof.node.core.metadata.acls import NO_AUTHORIZER, matches
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import describe_acls_request, describe_acls_response
from kraftproof.node.wire.records.metadata import AccessControlEntryRecord

Request = describe_acls_request.DescribeAclsRequest
Response = describe_acls_response.DescribeAclsResponse


def describe_acls(image: MetadataImage, request: Request, *, has_authorizer: bool) -> Response:
    """Return the entries that the filter selects, by resource in order of names."""
    if not has_authorizer:
        return Response(error_code=ErrorCode.SECURITY_DISABLED, error_message=NO_AUTHORIZER)
    if 0 in {
        request.resource_type_filter,
        request.pattern_type_filter,
        request.operation,
        request.permission_type,
    }:
        reason = "the filter has an unknown resource type, pattern, operation or permission"
        return Response(error_code=ErrorCode.INVALID_REQUEST, error_message=reason)
    found = [entry for entry in image.acls.all_entries() if matches(request, entry)]
    return Response(
        resources=tuple(
            describe_acls_response.DescribeAclsResource(
                resource_type=kind,
                pattern_type=pattern,
                resource_name=name,
                acls=tuple(map(_description, entries)),
            )
            for (kind, pattern, name), entries in groupby(found, _resource)
        )
    )


def _resource(entry: AccessControlEntryRecord) -> tuple[int, int, str]:
    return (entry.resource_type, entry.pattern_type, entry.resource_name)


def _description(entry: AccessControlEntryRecord) -> describe_acls_response.AclDescription:
    return describe_acls_response.AclDescription(
        principal=entry.principal,
        host=entry.host,
        operation=entry.operation,
        permission_type=entry.permission_type,
    )
