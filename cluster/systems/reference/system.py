"""The reference system: our own node, as kraft-node runs it or the simulator steps it.

It declares look-ups linearizable, since its read barrier makes them so; a broker's own image is
monotonic for each connection.
"""

from collections.abc import Mapping
from random import Random
from ssl import SSLContext
from typing import ClassVar, Final

from typing_extensions import override

from kraftproof.cluster.backends import BACKENDS
from kraftproof.cluster.live.scope import LiveScope
from kraftproof.cluster.protocol import Capability, Cluster, ClusterOptions, NodeInfo
from kraftproof.cluster.systems.kafka import files
from kraftproof.cluster.systems.kafka.administration.replica_client import ReplicaClient
from kraftproof.cluster.systems.kafka.connection import PORT, SASL_PORT
from kraftproof.cluster.systems.kafka.logs import LOG_WORKLOADS
from kraftproof.cluster.systems.kafka.quorum import cluster_id_of
from kraftproof.cluster.systems.kafka.system import KafkaSystem, rows_of_nodes, with_role
from kraftproof.cluster.systems.kafka.topics import TOPIC_WORKLOADS
from kraftproof.cluster.systems.reference.certificates import Certificates
from kraftproof.cluster.systems.reference.chosen_security import (
    OF_SIMULATION,
    harness_login,
    has_tls,
    refuse_any_security,
    refuse_beside_workload,
)
from kraftproof.cluster.systems.reference.deployment import deployment
from kraftproof.cluster.systems.reference.errors import ERRORS
from kraftproof.cluster.systems.reference.node_config import refuse_unusable
from kraftproof.cluster.systems.reference.registration import RegistrationClient
from kraftproof.cluster.systems.reference.topics import ADMINISTRATION, TopicsClient
from kraftproof.cluster.systems.system import (
    Client,
    Deployment,
    Guarantee,
    Rows,
    Site,
    SystemUnavailableError,
)
from kraftproof.node.properties.keys import ConfigError

CONTROLLER_PORT: Final = 9093
CLIENT_PORT: Final = 9092
LOGIN_PORT: Final = 9094
"""The port of the listener for logins, which is open in runs about security."""


class ReferenceSystem(KafkaSystem):
    """Our own KRaft cluster: controllers and brokers in Python."""

    name = "reference"
    nodes = "3+3"
    takes_mutants = True
    backends: ClassVar[tuple[str, ...]] = tuple(BACKENDS)
    workloads: ClassVar[tuple[str, ...]] = (
        *TOPIC_WORKLOADS,
        *LOG_WORKLOADS,
        *ADMINISTRATION,
        "registration",
    )
    guarantees: ClassVar[Mapping[str, Guarantee]] = {
        "create": Guarantee.LINEARIZABLE,
        "delete": Guarantee.LINEARIZABLE,
        "lookup": Guarantee.LINEARIZABLE,
        "describe": Guarantee.SESSION_MONOTONIC,
        "register": Guarantee.LEASE,
        "heartbeat": Guarantee.LEASE,
        "unregister": Guarantee.LEASE,
        "send": Guarantee.REPLICATED,
    }
    errors = ERRORS

    def __init__(self) -> None:
        self._cluster_id = ""
        self._certificates: Certificates | None = None

    @override
    def ports(self, node: NodeInfo) -> Mapping[str, int]:
        if node.has("controller"):
            return {PORT: CONTROLLER_PORT}
        return {PORT: CLIENT_PORT, SASL_PORT: LOGIN_PORT}

    @override
    def deployment(self, site: Site) -> Deployment:
        return deployment(site, self._certificates_of(site.options))

    @override
    def refuse(self, options: ClusterOptions) -> None:
        self.refuse_settings(options)
        super().refuse(options)

    def refuse_settings(self, options: ClusterOptions) -> None:
        """Refuse settings that our nodes can't have.

        Raises:
            SystemUnavailableError: one line that names the key.
        """
        try:
            refuse_unusable(options.node_config)
            if options.backend == "simulated":
                refuse_any_security(options.node_config, OF_SIMULATION)
            if options.has_security:
                refuse_beside_workload(dict(options.node_config))
            self._certificates_of(options)
        except ConfigError as error:
            raise SystemUnavailableError(f"--node-config {error}") from error

    @override
    def capabilities(self, can: frozenset[Capability]) -> frozenset[Capability]:
        return can

    @override
    def login(self, options: ClusterOptions) -> object | None:
        return harness_login(options)

    @override
    def tls(self, options: ClusterOptions) -> SSLContext | None:
        certificates = self._certificates_of(options)
        return None if certificates is None else certificates.client_context()

    def _certificates_of(self, options: ClusterOptions) -> Certificates | None:
        """Return the certificates of the run; None without TLS.

        Raises:
            SystemUnavailableError: the extra tls is missing.
        """
        if not has_tls(dict(options.node_config)):
            return None
        self._certificates = self._certificates or Certificates()
        return self._certificates

    @override
    async def prepare(self, cluster: Cluster) -> None:
        self._cluster_id = await cluster_id_of(cluster, with_role(cluster, "broker")[0])

    @override
    def client(self, cluster: Cluster, workload: str, random: Random) -> Client:
        if workload in TOPIC_WORKLOADS:
            return TopicsClient(cluster, random)
        if workload in ADMINISTRATION:
            return ADMINISTRATION[workload](cluster, random)
        if workload in LOG_WORKLOADS:
            return ReplicaClient(cluster, ERRORS, random)
        if workload == "registration":
            return RegistrationClient(cluster, self._cluster_id, random)
        raise SystemUnavailableError(f"the reference system has no client for {workload!r}")

    @override
    def rows(self, cluster: Cluster, table: str) -> Rows | None:
        decode = files.DECODERS.get(table)
        if decode is None or (table == "batches" and not isinstance(cluster.scope, LiveScope)):
            return None  # simulated disks rot, which a node notices at its next read only
        found = rows_of_nodes(cluster, decode)
        if table == "replicas" and not found:
            return None
        if table == "writes":
            return _of_voters(found, with_role(cluster, "controller"))
        return with_run_time(found, cluster) if table == "trace" else found


def _of_voters(writes: Rows, voters: list[int]) -> Rows | None:
    """Return the writes of voters, with the number of voters; None without reports."""
    if not writes:
        return None
    return [row | {"voters": len(voters)} for row in writes if row["node"] in voters]


def with_run_time(trace: Rows, cluster: Cluster) -> Rows:
    """Return rows of a trace with the time of the run, by the clock of each node's machine."""
    scope = cluster.scope
    if not isinstance(scope, LiveScope):
        return trace
    origins = {
        node.node_id: scope.origin_ns + cluster.monotonic_offset_ns(node.node_id)
        for node in cluster.nodes
    }
    return [
        {**row, "run_time": _integer(row["time"]) - origins[_integer(row["node"])]} for row in trace
    ]


def _integer(value: object) -> int:
    assert isinstance(value, int)
    return value
