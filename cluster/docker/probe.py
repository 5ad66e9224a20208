"""One application round trip from inside a pod: ApiVersions to a listener, and any answer.

A connection alone proves nothing, since the kernel accepts it for a process that is stopped.
"""

from typing import Final

from kraftproof.cluster.docker.namespace import PodNetwork
from kraftproof.node.wire import codec, headers
from kraftproof.node.wire.frames import frame
from kraftproof.node.wire.messages.generated.api_versions_request import ApiVersionsRequest

TIMEOUT_S: Final = 0.5
SCRIPT: Final = """
import socket, sys
host, port, timeout, request = sys.argv[1:]
try:
    with socket.create_connection((host, int(port)), float(timeout)) as link:
        link.settimeout(float(timeout))
        link.sendall(bytes.fromhex(request))
        sys.exit(0 if link.recv(4) else 1)
except OSError:
    sys.exit(1)
"""


def answers(network: PodNetwork, host: str, port: int) -> bool:
    """Whether a listener answers a request that is sent from this pod."""
    status, _ = network.run_python(SCRIPT, host, str(port), str(TIMEOUT_S), _request().hex())
    return status == 0


def _request() -> bytes:
    header = headers.RequestHeader(
        api_key=ApiVersionsRequest.API_KEY, version=0, correlation_id=1, client_id="kraftproof"
    )
    header_version, _ = codec.header_versions(ApiVersionsRequest.API_KEY, 0)
    head = headers.encode_request_header(header, header_version)
    return bytes(frame(head, codec.encode_request(ApiVersionsRequest(), 0)))
