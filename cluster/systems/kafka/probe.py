"""The probe of a node: the one request that every node answers without knowing who asks."""

from kraftproof.node.wire import codec, headers
from kraftproof.node.wire.frames import frame
from kraftproof.node.wire.messages.generated.api_versions_request import ApiVersionsRequest


def api_versions() -> bytes:
    """Return the bytes of an ApiVersions request."""
    header = headers.RequestHeader(
        api_key=ApiVersionsRequest.API_KEY, version=0, correlation_id=1, client_id="kraftproof"
    )
    header_version, _ = codec.header_versions(ApiVersionsRequest.API_KEY, 0)
    head = headers.encode_request_header(header, header_version)
    return bytes(frame(head, codec.encode_request(ApiVersionsRequest(), 0)))
