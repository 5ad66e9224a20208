"""A system under test: what its nodes are made of, its clients, its errors, and its promises.

A system is one class. It needs a name, the deployment of a node and a client; everything else has
a default. A client does one operation at a time and never retries inside it. See workloads/ for
the operations, and checkers/ for what is right.
"""

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from random import Random
from ssl import SSLContext
from typing import TYPE_CHECKING, ClassVar, Protocol

from kraftproof.cluster.backends import LIVE
from kraftproof.cluster.protocol import CLOCKS, Capability, Cluster, ClusterOptions, NodeInfo
from kraftproof.cluster.reachable import accepts
from kraftproof.cluster.systems.deployment import Dependency, Deployment, Site
from kraftproof.cluster.systems.errors import ErrorTable
from kraftproof.cluster.systems.guarantees import Guarantee
from kraftproof.cluster.systems.outcome import Completion, Outcome, Value
from kraftproof.cluster.systems.registrations import Registration

__all__ = (
    "Client",
    "Completion",
    "Dependency",
    "Deployment",
    "ErrorTable",
    "Guarantee",
    "Outcome",
    "Registration",
    "Rows",
    "Site",
    "System",
    "SystemUnavailableError",
    "Value",
)

Rows = list[dict[str, object]]


class SystemUnavailableError(ValueError):
    """A system that is not there or can't do what is asked; the text is one clear line."""


class Client(Protocol):
    """One client of one workload, over one connection at a time."""

    if TYPE_CHECKING:

        @property
        def node(self) -> int | None:
            """The node that it talks to, or would talk to next: a property or an attribute."""

    else:
        # A property would refuse `self.node = 1` in a client of one node.
        node = None

    async def open(self) -> None:
        """Connect, to the next node if the last connection was lost.

        Raises:
            ConnectionFailed: the node can't be reached; the next call tries another.
        """

    async def invoke(self, f: str, key: str, value: Value) -> Completion:
        """Do one operation over the open connection.

        Raises:
            ConnectionFailed: the request was never sent; the operation is `fail`.
            OutcomeUnknown: no answer came; the error table says what the operation is.
        """

    def close(self) -> None:
        """Drop the connection."""


class System(ABC):
    """A kind of cluster and how it is talked to; an instance serves one run.

    Attributes:
        name: Its name, as in run.json.
        nodes: The nodes of a run that does not say, as `--nodes` takes them.
        roles_of_nodes: The roles that a plain number and the two numbers of `3+3` mean.
        roles_of_number: The roles of each node where `--nodes` is one plain number, joined by +;
            None where a number has a role by its place only.
        known_roles: The roles that `--nodes` may name; empty: any.
        backends: The backends that can run its nodes.
        workloads: The workloads of Kraftproof that its clients serve, the default one first;
            empty: `client` refuses the others after the start of the nodes.
        ready_s: The longest time from the nodes' start to a ready cluster, in seconds.
        answers_s: The longest time for an answer beyond a client's time-out, in seconds.
        guarantees: What it declares for each operation.
        errors: What its errors say about an operation.
        internal_errors: The errors of completions by which a node admits a mistake of its own.
        fatal_output: Patterns of the lines that a node prints only when it is broken for good.
        clock_step_s: The step of the time that `wall_clock` returns, in seconds: 1 for a time that
            is rounded down to whole seconds.
        takes_mutants: Whether its deployment plants the bug of `--mutant` in its nodes.
    """

    name: ClassVar[str]
    nodes: ClassVar[str] = "3"
    roles_of_nodes: ClassVar[tuple[str, ...]] = ("server",)
    roles_of_number: ClassVar[str | None] = None
    known_roles: ClassVar[tuple[str, ...]] = ()
    backends: ClassVar[tuple[str, ...]] = LIVE
    workloads: ClassVar[tuple[str, ...]] = ()
    ready_s: ClassVar[float] = 60.0
    answers_s: ClassVar[float] = 20.0
    guarantees: ClassVar[Mapping[str, Guarantee]] = {}
    errors: ClassVar[ErrorTable] = ErrorTable()
    internal_errors: ClassVar[frozenset[str]] = frozenset()
    fatal_output: ClassVar[tuple[str, ...]] = (r"^panic: ", r"Segmentation fault")
    clock_step_s: ClassVar[float] = 0.0
    takes_mutants: ClassVar[bool] = False

    # Nodes

    def ports(self, node: NodeInfo) -> Mapping[str, int]:
        """Return the named ports of a node, first that of clients.

        A node with an address of its own gets these numbers, one that shares an address gets free
        ones: `deployment` finds them in its site.
        """
        del node
        return {"client": 7000}

    def host_names(self, node: NodeInfo) -> tuple[str, ...]:
        """Return names by which other nodes reach a node that has an address of its own.

        The first one becomes its host name. Without names it is node-1, node-2 and so on; these
        names always work.
        """
        del node
        return ()

    def remarks(self) -> tuple[str, ...]:
        """Return sentences that a user has to know before a run, one line each."""
        return ()

    def declares(self, node_config: Mapping[str, str]) -> Mapping[str, Guarantee]:
        """Return the guarantees of a run with these settings of the nodes."""
        del node_config
        return self.guarantees

    def node_roles(self, asked: tuple[str, ...]) -> tuple[str, ...]:
        """Return the roles of a node for which `--nodes` asks for these."""
        return asked

    def provide(self, options: ClusterOptions) -> None:
        """Fetch what the nodes need and this machine lacks, such as a release; may take minutes.

        Raises:
            SystemUnavailableError: it can't be had; one line says why.
        """
        del options

    @abstractmethod
    def deployment(self, site: Site) -> Deployment:
        """Return what the node of a site is made of."""

    def refuse(self, options: ClusterOptions) -> None:
        """Refuse nodes, settings or a release that the system can't have, before the start.

        Raises:
            SystemUnavailableError: the system refuses an option; one line says which and why.
        """
        if options.node_config:
            (key, _), *_ = options.node_config
            raise SystemUnavailableError(
                f"--node-config {key}: the system {self.name} takes no settings"
            )
        self.refuse_version(options)

    def refuse_version(self, options: ClusterOptions) -> None:
        """Refuse a release that the system does not have; by default there is no choice.

        Raises:
            SystemUnavailableError: the system can't run the release; one line says which it can.
        """
        if options.system_version is not None:
            raise SystemUnavailableError(
                f"--system-version {options.system_version}: the system {self.name} has no choice "
                "of versions"
            )

    def capabilities(self, can: frozenset[Capability]) -> frozenset[Capability]:
        """Return what can be done to its nodes, of all that a backend can do."""
        return can if self.reports_clock else can - CLOCKS

    @property
    def reports_clock(self) -> bool:
        """Whether its nodes report their wall clock when asked: `wall_clock` is its own."""
        return type(self).wall_clock is not System.wall_clock

    def why_not(self, capability: Capability) -> str | None:
        """Return why its nodes can't have a fault, in a few words; None without a reason."""
        if capability in CLOCKS:
            return "a node has to report its wall clock"
        return None

    async def lacks(self, cluster: Cluster) -> str | None:
        """Return what a cluster lacks to be ready, in a few words; None if it is ready."""
        for node in cluster.nodes:
            port = next(iter(self.ports(node)))
            if not await accepts(cluster.address(node.node_id, port)):
                return f"{node.name} takes no connection on its port {port!r}"
        return None

    def bootstrap(self, cluster: Cluster) -> str:
        """Return the host:port list for ordinary clients."""
        found = []
        for node in cluster.nodes:
            address = cluster.address(node.node_id, next(iter(self.ports(node))))
            found.append(f"{address.host}:{address.port}")
        return ",".join(found)

    # Clients

    def login(self, options: ClusterOptions) -> object | None:
        """Return the credentials of the system's clients; None if its nodes ask for no login."""
        del options
        return None

    def tls(self, options: ClusterOptions) -> SSLContext | None:
        """Return the TLS context of the system's clients; None for plain connections."""
        del options
        return None

    async def prepare(self, cluster: Cluster) -> None:
        """Learn what clients need of a cluster that has just started."""
        del cluster

    @abstractmethod
    def client(self, cluster: Cluster, workload: str, random: Random) -> Client:
        """Return a client for the operations of a workload, not yet connected.

        Raises:
            SystemUnavailableError: the system has no operations for that workload.
        """

    # Faults and files

    async def roles(self, cluster: Cluster) -> Mapping[str, tuple[int, ...]]:
        """Return which nodes have which role now, as far as known, such as `leader`.

        By default a role is what the run gave to each node.
        """
        found: dict[str, tuple[int, ...]] = {}
        for node in cluster.nodes:
            for role in node.roles:
                found[role] = (*found.get(role, ()), node.node_id)
        return found

    async def leaders(self, cluster: Cluster) -> Mapping[int, int]:
        """Return the nodes that say that they lead, each with the epoch of its leadership."""
        del cluster
        return {}

    def resigns_s(self, options: ClusterOptions) -> float | None:
        """Return the seconds for which a leader may go on beside one of a later epoch, if any."""
        del options
        return None

    async def finish(self, cluster: Cluster) -> None:
        """Learn what only a running cluster can say, after all faults and before its end."""
        del cluster

    async def identity(self, cluster: Cluster, node_id: int) -> str | None:
        """Return the name that a node gives to its cluster; None if no answer or no such name.

        A run whose nodes give several names is contaminated: a node belongs to another cluster.
        """
        del cluster, node_id
        return None

    async def wall_clock(self, cluster: Cluster, node_id: int) -> int | None:
        """Ask a node for its wall clock now, in ns since the epoch; None without an answer.

        The answer is the evidence of faults of clocks. A system whose nodes write their clock into
        a file has `Deployment.wall_clock` instead.
        """
        del cluster, node_id
        return None

    def registrations(self, cluster: Cluster) -> Sequence[Registration]:
        """Return the registrations of controllers in the collected logs, empty without any."""
        del cluster
        return ()

    def rows(self, cluster: Cluster, table: str) -> Rows | None:
        """Decode the nodes' raw files into rows of a neutral table; None: it has no such table."""
        del cluster, table
        return None
