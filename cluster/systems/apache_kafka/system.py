"""Apache Kafka: real nodes of any release from 3.3.0 on, with separate or combined roles."""

from collections.abc import Mapping
from random import Random
from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.protocol import (
    CLOCKS,
    PROXIED,
    Capability,
    Cluster,
    ClusterOptions,
    NodeInfo,
)
from kraftproof.cluster.systems.apache_kafka.clients import (
    CONTROLLER_PORT,
    ConfigsClient,
    TopicsClient,
)
from kraftproof.cluster.systems.apache_kafka.deployment import deployment, release_of
from kraftproof.cluster.systems.apache_kafka.errors import ERRORS
from kraftproof.cluster.systems.kafka import files
from kraftproof.cluster.systems.kafka.administration.configs import CONFIG_WORKLOADS
from kraftproof.cluster.systems.kafka.administration.replica_client import ReplicaClient
from kraftproof.cluster.systems.kafka.connection import PORT
from kraftproof.cluster.systems.kafka.log_requests import INTERNAL_SEGMENT, SEGMENT
from kraftproof.cluster.systems.kafka.logs import LOG_WORKLOADS
from kraftproof.cluster.systems.kafka.observed import settled_quorum, trace_rows
from kraftproof.cluster.systems.kafka.system import KafkaSystem, rows_of_nodes, with_role
from kraftproof.cluster.systems.kafka.topics import TOPIC_WORKLOADS
from kraftproof.cluster.systems.system import (
    Client,
    Deployment,
    Guarantee,
    Rows,
    Site,
    SystemUnavailableError,
)
from kraftproof.images.errors import ImageError
from kraftproof.images.kafka.jars import ensure_jars, refuse_unknown
from kraftproof.images.kafka.releases import RELEASES

BROKER_PORT_NUMBER: Final = 9092
CONTROLLER_PORT_NUMBER: Final = 9093
ROLES: Final = frozenset({"controller", "broker"})
CAPABILITIES: Final = frozenset(
    {
        Capability.KILL,
        Capability.PAUSE,
        Capability.RESTART,
        Capability.PARTITION,
        Capability.LOSS,
        Capability.CPU,
        Capability.MEMORY,
        Capability.TAKEN_PORT,
        Capability.LOST_NAME,
        Capability.LOSE_UNSYNCED,
        Capability.SLOW_DISK,
        *PROXIED,
        *CLOCKS,
    }
)
"""No full and failing disks: a broker of Kafka ends by itself if its only log directory fails."""
TABLES: Final = frozenset({"records", "batches", "snapshots", "replicas"})
"""The tables that are decoded from the files of a node."""


class ApacheKafka(KafkaSystem):
    """Apache Kafka: controllers and brokers in JVMs, releases 3.3.0 to 4.3.0."""

    name = "apache-kafka"
    nodes = "3"
    roles_of_number: ClassVar[str | None] = "controller+broker"
    workloads: ClassVar[tuple[str, ...]] = (*TOPIC_WORKLOADS, *LOG_WORKLOADS, *CONFIG_WORKLOADS)
    ready_s = 240.0
    answers_s = 90.0
    """A broker waits for a controller for 60 s, and for the answer to a forwarded request 30 s."""
    guarantees: ClassVar[Mapping[str, Guarantee]] = {
        "create": Guarantee.AT_LEAST_ONCE,
        "delete": Guarantee.AT_LEAST_ONCE,
        "lookup": Guarantee.BOUNDED_STALENESS,
        "describe": Guarantee.SESSION_MONOTONIC,
        "send": Guarantee.REPLICATED,
    }
    errors = ERRORS
    fatal_output: ClassVar[tuple[str, ...]] = (r"Encountered fatal fault",)
    controller_port: ClassVar[str] = CONTROLLER_PORT

    def __init__(self) -> None:
        self._trace: Rows = []
        self._segment_setting = INTERNAL_SEGMENT

    @override
    def ports(self, node: NodeInfo) -> Mapping[str, int]:
        ports = {PORT: BROKER_PORT_NUMBER} if node.has("broker") else {}
        if node.has("controller"):
            ports[CONTROLLER_PORT] = CONTROLLER_PORT_NUMBER
        return ports

    @override
    def refuse_version(self, options: ClusterOptions) -> None:
        refuse_release(options)

    @override
    def refuse(self, options: ClusterOptions) -> None:
        for node in options.nodes:
            for role in node.roles:
                if role not in ROLES:
                    raise SystemUnavailableError(
                        f"--nodes {role}: a node of {self.name} is controller, broker or "
                        "controller+broker"
                    )
        super().refuse(options)

    @override
    def provide(self, options: ClusterOptions) -> None:
        try:
            release = release_of(options.system_version)
            ensure_jars(_silent, release)
        except ImageError as error:
            raise SystemUnavailableError(str(error)) from error
        if tuple(map(int, release.split("."))) < (4, 1):
            self._segment_setting = SEGMENT

    @override
    def deployment(self, site: Site) -> Deployment:
        return deployment(site)

    @override
    def capabilities(self, can: frozenset[Capability]) -> frozenset[Capability]:
        return can & CAPABILITIES

    @override
    def client(self, cluster: Cluster, workload: str, random: Random) -> Client:
        if workload in TOPIC_WORKLOADS:
            return TopicsClient(cluster, random)
        if workload in CONFIG_WORKLOADS:
            return ConfigsClient(cluster, random)
        if workload in LOG_WORKLOADS:
            return ReplicaClient(cluster, ERRORS, random, self._segment_setting)
        raise SystemUnavailableError(f"the system {self.name} has no client for {workload!r}")

    @override
    async def finish(self, cluster: Cluster) -> None:
        controllers = with_role(cluster, "controller")
        quorum = await settled_quorum(cluster, controllers, CONTROLLER_PORT)
        self._trace = [] if quorum is None else trace_rows(quorum, cluster.scope.now())

    @override
    def rows(self, cluster: Cluster, table: str) -> Rows | None:
        if table == "trace":
            return self._trace or None
        if table not in TABLES:
            return None
        found = rows_of_nodes(cluster, files.DECODERS[table])
        return None if table == "replicas" and not found else found


def refuse_release(options: ClusterOptions, oldest: str = RELEASES[0], why: str = "") -> None:
    """Refuse a release that can't run here; `why` is the reason for the oldest one.

    Raises:
        SystemUnavailableError: one line with the possible releases.
    """
    try:
        refuse_unknown(release_of(options.system_version), oldest, why)
    except ImageError as error:
        raise SystemUnavailableError(f"--system-version: {error}") from error


def _silent(line: str) -> None:
    """Take a line of progress that nobody reads."""
    del line
