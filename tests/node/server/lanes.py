"""The shell's lanes to peers over real sockets on loopback."""

from collections.abc import Callable, Mapping

from kraftproof.node.core.base.config import NodeConfig, Voter
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.effects import Send
from kraftproof.node.core.events import Event
from kraftproof.node.server.clocks import LoopTimers
from kraftproof.node.server.peer_transport import PeerSocket, PeerTransport
from kraftproof.node.shell.peer_lanes import Lane, PeerLanes
from kraftproof.node.shell.ports import Observer
from kraftproof.node.wire.messages.generated.api_versions_request import ApiVersionsRequest

SECOND = 1_000_000_000
PEER = NodeId(1)


def transport_to(port: int, hosts: Mapping[str, str] | None = None) -> PeerTransport:
    """Return connections of node 4 to one voter, at this port."""
    config = NodeConfig(
        node_id=NodeId(4),
        cluster_id="a-cluster",
        is_controller=False,
        is_broker=True,
        voters=(Voter(node_id=PEER, host="127.0.0.1", port=port),),
        endpoints=(),
    )
    return PeerTransport(config, hosts or {}, "PLAINTEXT")


def lane_to(port: int) -> Lane[PeerSocket]:
    return Lane(PEER, transport_to(port), LoopTimers(), is_to_broker=False)


def lanes_to(port: int, post: Callable[[Event], None]) -> PeerLanes[PeerSocket]:
    return PeerLanes(transport_to(port), LoopTimers(), Observer(), post=post)


def api_versions(timeout_ns: int = 5 * SECOND) -> Send:
    return Send(
        destination=PEER,
        correlation=1,
        message=ApiVersionsRequest(),
        version=0,
        timeout_ns=timeout_ns,
    )
