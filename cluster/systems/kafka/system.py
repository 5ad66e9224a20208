"""A cluster of controllers and brokers that speaks Kafka's protocol, whoever wrote its nodes."""

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.protocol import Cluster, ClusterOptions
from kraftproof.cluster.systems.kafka.connection import PORT
from kraftproof.cluster.systems.kafka.durability import declared
from kraftproof.cluster.systems.kafka.files import registrations
from kraftproof.cluster.systems.kafka.quorum import identity_of, led_quorums, roles_of
from kraftproof.cluster.systems.kafka.readiness import lacks
from kraftproof.cluster.systems.kafka.timeouts import properties
from kraftproof.cluster.systems.system import (
    Guarantee,
    Registration,
    Rows,
    System,
    SystemUnavailableError,
)
from kraftproof.node.wire.errors import ErrorCode

FETCH_TIMEOUT: Final = "controller.quorum.fetch.timeout.ms"
DEFAULT_FETCH_TIMEOUT_MS: Final = 2000
FETCH_TIMEOUTS_TO_RESIGN: Final = 4
"""A leader resigns one and a half fetch time-outs after its last contact with a majority."""
SLACK_S: Final = 3.0
"""Of a loaded machine, and of a watch that looks once a second."""


class KafkaSystem(System):
    """Base of the systems `reference` and `apache-kafka`.

    Attributes:
        controller_port: The name of the port on which controllers take requests.
    """

    roles_of_nodes: ClassVar[tuple[str, ...]] = ("controller", "broker")
    known_roles: ClassVar[tuple[str, ...]] = roles_of_nodes
    controller_port: ClassVar[str] = PORT
    internal_errors: ClassVar[frozenset[str]] = frozenset({ErrorCode.UNKNOWN_SERVER_ERROR.name})

    @override
    def declares(self, node_config: Mapping[str, str]) -> Mapping[str, Guarantee]:
        return declared(self.guarantees, node_config)

    @override
    def refuse(self, options: ClusterOptions) -> None:
        self.refuse_version(options)
        for role in self.roles_of_nodes:
            if not any(node.has(role) for node in options.nodes):
                raise SystemUnavailableError(
                    f"--nodes: the system {self.name} needs at least one {role}"
                )

    @override
    async def lacks(self, cluster: Cluster) -> str | None:
        return await lacks(cluster)

    @override
    def bootstrap(self, cluster: Cluster) -> str:
        found = (cluster.address(broker, PORT) for broker in with_role(cluster, "broker"))
        return ",".join(f"{address.host}:{address.port}" for address in found)

    @override
    async def identity(self, cluster: Cluster, node_id: int) -> str | None:
        return await identity_of(cluster, node_id)

    @override
    async def roles(self, cluster: Cluster) -> Mapping[str, tuple[int, ...]]:
        controllers = with_role(cluster, "controller")
        led = await led_quorums(cluster, controllers, self.controller_port)
        return roles_of(led, controllers)

    @override
    def resigns_s(self, options: ClusterOptions) -> float:
        settings = properties(options.timeouts) | dict(options.node_config)
        fetch_ms = float(settings.get(FETCH_TIMEOUT, DEFAULT_FETCH_TIMEOUT_MS))
        return FETCH_TIMEOUTS_TO_RESIGN * fetch_ms / 1000 + SLACK_S

    @override
    async def leaders(self, cluster: Cluster) -> Mapping[int, int]:
        controllers = with_role(cluster, "controller")
        led = await led_quorums(cluster, controllers, self.controller_port)
        return {one.leader_id: one.epoch for one in led}

    @override
    def registrations(self, cluster: Cluster) -> Sequence[Registration]:
        found: dict[tuple[int, str], Registration] = {}
        for node in with_role(cluster, "controller"):
            for one in registrations(cluster.node_files(node)):
                found.setdefault((one.controller, one.incarnation), one)
        return sorted(found.values(), key=lambda one: one.timestamp_ms)


def with_role(cluster: Cluster, role: str) -> list[int]:
    """Return the ids of the nodes with a role, in order."""
    return [node.node_id for node in cluster.nodes if node.has(role)]


def rows_of_nodes(cluster: Cluster, decode: Callable[[Path, int], Rows]) -> Rows:
    """Return the decoded rows of all nodes, node by node."""
    return [
        row
        for node in cluster.nodes
        for row in decode(cluster.node_files(node.node_id), node.node_id)
    ]
