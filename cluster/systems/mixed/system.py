"""Nodes of the reference and of Apache Kafka in one cluster: as voters, or as brokers of the other.

Each node is deployed by its own system. All nodes write metadata.version 3.9-IV0, the level that
both systems support. The cluster declares the weaker of both systems' guarantees, those of Kafka.
"""

from collections.abc import Mapping
from dataclasses import replace
from random import Random
from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.protocol import Address, Capability, Cluster, ClusterOptions, NodeInfo
from kraftproof.cluster.systems.apache_kafka.deployment import deployment as kafkas_deployment
from kraftproof.cluster.systems.apache_kafka.system import TABLES, ApacheKafka, refuse_release
from kraftproof.cluster.systems.kafka import files
from kraftproof.cluster.systems.kafka.connection import PORT
from kraftproof.cluster.systems.kafka.observed import settled_quorum, trace_rows
from kraftproof.cluster.systems.kafka.system import KafkaSystem, rows_of_nodes, with_role
from kraftproof.cluster.systems.mixed.nodes import KAFKAS, OURS, is_ours, node_roles
from kraftproof.cluster.systems.reference.system import ReferenceSystem, with_run_time
from kraftproof.cluster.systems.system import (
    Client,
    Deployment,
    Guarantee,
    Rows,
    Site,
)

LEVEL: Final = "3.9-IV0"
"""The metadata.version of the cluster; our node supports no other."""
OLDEST: Final = "3.9.0"
"""The oldest release of Kafka that supports the level."""


class MixedSystem(KafkaSystem):
    """Nodes of ours and of Apache Kafka in one cluster."""

    name = "mixed"
    nodes = "reference=2,apache-kafka=1"
    takes_mutants = True
    workloads: ClassVar[tuple[str, ...]] = ApacheKafka.workloads
    ready_s = ApacheKafka.ready_s
    answers_s = ApacheKafka.answers_s
    guarantees: ClassVar[Mapping[str, Guarantee]] = ApacheKafka.guarantees
    errors = ApacheKafka.errors
    fatal_output: ClassVar[tuple[str, ...]] = (
        *KafkaSystem.fatal_output,
        *ApacheKafka.fatal_output,
    )
    controller_port: ClassVar[str] = ApacheKafka.controller_port
    known_roles: ClassVar[tuple[str, ...]] = (OURS, KAFKAS, *KafkaSystem.known_roles)

    def __init__(self) -> None:
        self._ours = ReferenceSystem()
        self._kafkas = ApacheKafka()
        self._described: Rows = []

    @override
    def node_roles(self, asked: tuple[str, ...]) -> tuple[str, ...]:
        return node_roles(asked)

    @override
    def ports(self, node: NodeInfo) -> Mapping[str, int]:
        return self._kafkas.ports(node)

    @override
    def refuse_version(self, options: ClusterOptions) -> None:
        refuse_release(options, OLDEST, f"a mixed cluster writes metadata.version {LEVEL}")

    @override
    def refuse(self, options: ClusterOptions) -> None:
        self._ours.refuse_settings(options)
        super().refuse(options)

    @override
    def provide(self, options: ClusterOptions) -> None:
        if not all(map(is_ours, options.nodes)):
            self._kafkas.provide(options)

    @override
    def deployment(self, site: Site) -> Deployment:
        if is_ours(site.node):
            return self._ours.deployment(_site_of_ours(site))
        return kafkas_deployment(site, LEVEL)

    @override
    def capabilities(self, can: frozenset[Capability]) -> frozenset[Capability]:
        return self._ours.capabilities(can) & self._kafkas.capabilities(can)

    @override
    def client(self, cluster: Cluster, workload: str, random: Random) -> Client:
        return self._kafkas.client(cluster, workload, random)

    @override
    async def finish(self, cluster: Cluster) -> None:
        controllers = with_role(cluster, "controller")
        quorum = await settled_quorum(cluster, controllers, self.controller_port)
        self._described = [] if quorum is None else trace_rows(quorum, cluster.scope.now())

    @override
    def rows(self, cluster: Cluster, table: str) -> Rows | None:
        if table == "trace":
            return self._trace(cluster) or None
        if table not in TABLES:
            return None
        found = rows_of_nodes(cluster, files.DECODERS[table])
        return None if table == "replicas" and not found else found

    def _trace(self, cluster: Cluster) -> Rows:
        """Return the traces of our nodes, and what the leader knows of Kafka's nodes."""
        ours = {node.node_id for node in cluster.nodes if is_ours(node)}
        traced = [
            row
            for node_id in sorted(ours)
            for row in files.trace(cluster.node_files(node_id), node_id)
        ]
        described = [row for row in self._described if row["node"] not in ours]
        return [*with_run_time(traced, cluster), *described]


def _site_of_ours(site: Site) -> Site:
    """Return the site of a node of ours, to which a node has one port only."""
    addresses: dict[int, Mapping[str, Address]] = {}
    for node_id, ports in site.addresses.items():
        addresses[node_id] = {PORT: ports.get(ApacheKafka.controller_port) or ports[PORT]}
    return replace(site, addresses=addresses)
