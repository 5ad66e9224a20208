"""Draw the identity of a node: the keys that every server.properties needs, and their fields."""

from random import Random
from typing import Final

from msgspec import Struct

from kraftproof.cluster.simulated.differential.properties.expected import Fields
from kraftproof.node.core.base.config import Endpoint, Voter
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.properties.listeners import Binding

CLIENTS, CONTROLLERS = 9092, 9093
LARGEST_ID: Final = 2_147_483_647


class DrawnNode(Struct, frozen=True, kw_only=True):
    """A node with the fewest keys, and the fields that follow."""

    is_broker: bool
    is_controller: bool
    node_id: int
    pairs: dict[str, str]
    fields: Fields


def draw_node(random: Random) -> DrawnNode:
    """Draw a node with listeners without TLS and logins."""
    is_broker, is_controller = random.choice(((True, True), (True, False), (False, True)))
    node_id = random.choice((0, 1, 9, LARGEST_ID))
    host = f"host-{node_id}"
    listeners = [("PLAINTEXT", host, CLIENTS)] * is_broker
    listeners += [("CONTROLLER", host, CONTROLLERS)] * is_controller
    others = [Voter(node_id=NodeId(one), host=f"host-{one}", port=CONTROLLERS) for one in (3, 2)]
    own = Voter(node_id=NodeId(node_id), host=host, port=CONTROLLERS)
    voters = (own, *others) if is_controller else tuple(others)
    pairs = {
        "process.roles": ",".join(["broker"] * is_broker + ["controller"] * is_controller),
        "node.id": str(node_id),
        "controller.quorum.voters": ",".join(
            f"{voter.node_id}@{voter.host}:{voter.port}" for voter in voters
        ),
        "listeners": ",".join(f"{name}://{host}:{port}" for name, host, port in listeners),
        "controller.listener.names": "CONTROLLER",
        "log.dirs": "/data/a",
    }
    return DrawnNode(
        is_broker=is_broker,
        is_controller=is_controller,
        node_id=node_id,
        pairs=pairs,
        fields={
            "node.node_id": node_id,
            "node.is_broker": is_broker,
            "node.is_controller": is_controller,
            "node.voters": voters,
            "node.endpoints": tuple(_endpoint(*one) for one in listeners),
            "bindings": tuple(_binding(*one) for one in listeners),
            "inter_broker_listener": "PLAINTEXT" if is_broker else "",
            "storage.node_id": node_id,
            "storage.directories": ("/data/a",),
            "storage.metadata_directory": "/data/a",
            "storage.log_directories": ("/data/a",),
            "storage.voter_ids": tuple(sorted(voter.node_id for voter in voters)),
        },
    )


def _endpoint(name: str, host: str, port: int) -> Endpoint:
    return Endpoint(name=name, host=host, port=port, is_controller=name == "CONTROLLER")


def _binding(name: str, host: str, port: int) -> Binding:
    return Binding(name=name, host=host, port=port, is_controller=name == "CONTROLLER")
