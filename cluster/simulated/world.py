"""The parts of a simulated cluster, made from one seed.

See simulated_cluster.py for the operations on the cluster.
"""

from pathlib import Path
from random import Random

from kraftproof.cluster.capabilities import LinkFault
from kraftproof.cluster.protocol import Capability, ClusterOptions, NodeInfo
from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.cluster.simulated.conditions import Conditions
from kraftproof.cluster.simulated.disk.shared_batches import SharedBatches
from kraftproof.cluster.simulated.inherited.inherited_log import draw_inherited_log
from kraftproof.cluster.simulated.invariants.brokers.failed_directories import (
    FailedDirectoriesAreTold,
)
from kraftproof.cluster.simulated.invariants.brokers.registration_wait import RegistrationWait
from kraftproof.cluster.simulated.invariants.catalogue import make_monitor
from kraftproof.cluster.simulated.invariants.conformance import MakeSpecification
from kraftproof.cluster.simulated.invariants.crash import crash_of
from kraftproof.cluster.simulated.invariants.invariant import ClusterConfig, ProcessView
from kraftproof.cluster.simulated.kernel.clock import DIFFERENCES_NS, DRIFTS, SimulatedClock
from kraftproof.cluster.simulated.kernel.randomness import ForcedTies
from kraftproof.cluster.simulated.kernel.scheduler import Scheduler
from kraftproof.cluster.simulated.network.endpoints import ServerEndpoint
from kraftproof.cluster.simulated.network.failed_answers import FailedAnswers
from kraftproof.cluster.simulated.network.link_faults import LinkFaults, draw_link_fault
from kraftproof.cluster.simulated.network.links import Links
from kraftproof.cluster.simulated.network.network import Network
from kraftproof.cluster.simulated.network.transport import (
    CodecTransport,
    InMemoryTransport,
    Transport,
)
from kraftproof.cluster.simulated.node.environment import NodeEnvironment
from kraftproof.cluster.simulated.node.machine import Machine
from kraftproof.cluster.simulated.node.shared_apply import SharedApply
from kraftproof.cluster.simulated.security import LOGINS, TOKENS, authorizer_of
from kraftproof.cluster.simulated.shape import (
    LISTENERS_SHARE,
    PORT,
    draw_replication,
    draw_snapshots,
    draw_timeouts,
    endpoints_of,
    listener_name,
    voter_addresses,
)
from kraftproof.cluster.simulated.supervisor import Supervisor
from kraftproof.cluster.simulated.violation import Violation
from kraftproof.cluster.systems.reference import node_config
from kraftproof.node.core.base.config import NodeConfig, TokenPolicy, Voter
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.effects import Exit
from kraftproof.node.core.metadata.apply import apply_batch
from kraftproof.node.core.metadata.committed import Apply
from kraftproof.node.storage.batch_codec import PLAIN
from kraftproof.node.wire.types import Uuid, format_uuid

BYTES_SHARE = 0.1
"""Share of runs whose messages pass through the codec."""
GIVING_UP = "initial.broker.registration.timeout.ms"
"""The setting that a broker names when it gives up."""
UNHEARD = "log.dir.failure.timeout.ms"
"""The setting that a broker names when no controller hears of its failed log directory."""
SEGMENT_BYTES = (4096, 1 << 30)
FSYNC_FACTORS = (1, 1, 1, 10, 40)
"""How many times longer an fsync takes on a broker with replicas, of which each broker has one."""
RACKS: tuple[tuple[str | None, ...], ...] = (
    *(("east", "west", None),) * 3,
    ("east", "west"),
    ("east", "west", "west"),
    (None,),
)
"""Layouts of racks, of which a run has one; a node's rack is that of its id modulo their number."""


class World:
    """Machines, the network between them, time, and the monitor that watches."""

    def __init__(
        self, options: ClusterOptions, make_specification: MakeSpecification | None = None
    ) -> None:
        random = Random(f"{options.seed}/world")
        self.cluster_id = format_uuid(Uuid(random.randbytes(16)))
        self.scheduler = Scheduler()
        self.supervisor = Supervisor(self.scheduler)
        self.outlives_crashes = False
        """Whether the run goes on after a crash of a node, as after the end of its process."""
        self.has_data = options.has_data
        """Whether the brokers keep replicas of partitions."""
        self.replication = draw_replication(options)
        self.is_in_final_phase = False
        """Whether the run is judged at its end, after the final reads."""
        self.missing: frozenset[int] = frozenset()
        """Nodes that are dead or isolated until the end of the run."""
        self.crashes: list[Violation] = []
        """The crashes that the run has outlived."""
        self.transport: Transport = (
            CodecTransport() if random.random() < BYTES_SHARE else InMemoryTransport()
        )
        is_shared = isinstance(self.transport, InMemoryTransport)
        self.shared_apply = SharedApply() if is_shared else None
        self.apply: Apply = apply_batch if self.shared_apply is None else self.shared_apply
        self.codec = SharedBatches().codec if is_shared else PLAIN
        weather = Random(f"{options.seed}/weather")
        link_fault = draw_link_fault(weather)
        self.links = self._links(options, link_fault, weather)
        self.links.failed_answers = FailedAnswers.draw(Random(f"{options.seed}/failed-answers"))
        self.network = Network(self.links, self.transport, self._server, self.crashed)
        self.timeouts = draw_timeouts(options.timeouts, Random(f"{options.seed}/registration"))
        self.has_listeners = Random(f"{options.seed}/listeners").random() < LISTENERS_SHARE
        self.racks = Random(f"{options.seed}/racks").choice(RACKS)
        self.authorizer = authorizer_of(options)
        self.voters = tuple(info.node_id for info in options.nodes if info.has("controller"))
        self.inherited = draw_inherited_log(Random(f"{options.seed}/inherited"), self.voters)
        self.committed_log = CommittedLog(self.inherited[-1].next_offset if self.inherited else 0)
        self.snapshots = draw_snapshots(options, Random(f"{options.seed}/snapshots"))
        config = self._cluster_config(options)
        self.make_specification = make_specification
        self.monitor = make_monitor(config, self.committed_log, make_specification)
        self._judge_ends(config)
        segment_bytes = node_config.segment_bytes(options.node_config, random.choice(SEGMENT_BYTES))
        self.ties = ForcedTies.draw(random)
        self.conditions = Conditions(
            delays=self.links.delays,
            link_fault=link_fault,
            ties=self.ties.share,
            largest_drift_ppm=random.choice(DRIFTS),
            wall_difference_ns=Random(f"{options.seed}/clocks").choice(DIFFERENCES_NS),
            passes_bytes=isinstance(self.transport, CodecTransport),
            failed_answers=self.links.failed_answers,
            segment_bytes=segment_bytes,
            snapshots=self.snapshots,
            inherited_records=self.committed_log.inherited_end,
        )
        self.machines = {
            info.node_id: self._machine(info, options, random, segment_bytes)
            for info in options.nodes
        }

    def _judge_ends(self, config: ClusterConfig) -> None:
        """Follow the brokers that may end by themselves; number violations by events."""
        self.monitor.count_events = lambda: self.scheduler.events
        self.registration_wait = RegistrationWait(config)
        self.failed_directories = FailedDirectoriesAreTold(config)
        self.monitor.join(self.registration_wait)
        self.monitor.join(self.failed_directories)

    def _cluster_config(self, options: ClusterOptions) -> ClusterConfig:
        """Return what the invariants know about the cluster."""
        return ClusterConfig(
            voters=self.voters,
            timeouts=self.timeouts,
            cluster_id=self.cluster_id,
            snapshots=self.snapshots,
            static_configs=options.node_config,
            authorizer=self.authorizer,
            has_data=options.has_data,
            replica_lag_ns=self.replication.lag_ns,
            voter_addresses=voter_addresses(options.nodes),
            controller_listener=listener_name("controller", has_listeners=self.has_listeners),
            client_listener=listener_name("broker", has_listeners=self.has_listeners),
        )

    def rest(self) -> None:
        """Release cached images at the end of a run, which the garbage collector would scan."""
        if self.shared_apply is not None:
            self.shared_apply.forget()

    def _links(self, options: ClusterOptions, link_fault: LinkFault, random: Random) -> Links:
        weather = LinkFaults(random)
        weather.spread(link_fault, [info.node_id for info in options.nodes])
        return Links(self.scheduler, Random(f"{options.seed}/links"), weather)

    def _clock(self, info: NodeInfo, options: ClusterOptions, random: Random) -> SimulatedClock:
        own = Random(f"{options.seed}/clock-{info.node_id}")
        furthest_ns, drift_ppm = (
            self.conditions.wall_difference_ns,
            self.conditions.largest_drift_ppm,
        )
        difference_ns = own.randint(-furthest_ns, furthest_ns)
        return SimulatedClock(self.scheduler, random, drift_ppm, difference_ns)

    def _server(self, node_id: int) -> ServerEndpoint | None:
        return self.machines[node_id].process

    def _machine(
        self, info: NodeInfo, options: ClusterOptions, random: Random, segment_bytes: int
    ) -> Machine:
        env = NodeEnvironment(
            node_id=info.node_id,
            scheduler=self.scheduler,
            network=self.network,
            clock=self._clock(info, options, random),
            monitor=self.monitor,
            random=Random(f"{options.seed}/machine-{info.node_id}"),
            on_exit=self._exited,
            on_crash=self.crashed,
            on_disk_error=self._disk_failed,
        )
        if options.has_data and info.has("broker"):
            # A replica with a slow disk joins an ISR while the leader's log goes on.
            own = Random(f"{options.seed}/fsync-{info.node_id}")
            env.fsync_factor = own.choice(FSYNC_FACTORS)
        if options.has_security and info.has("broker"):
            env.login_policy = LOGINS
        return Machine(
            info,
            self._config(info, options),
            env,
            seed=str(options.seed),
            ties=self.ties,
            segment_bytes=segment_bytes,
            is_traced=options.is_collected,
            apply=self.apply,
            codec=self.codec,
            inherited=self.inherited if info.has("controller") else (),
            has_own_disks=Capability.FAILED_DIRECTORY in options.needs and info.has("broker"),
        )

    def _config(self, info: NodeInfo, options: ClusterOptions) -> NodeConfig:
        endpoints = endpoints_of(info, has_listeners=self.has_listeners)
        return NodeConfig(
            node_id=NodeId(info.node_id),
            cluster_id=self.cluster_id,
            is_controller=info.has("controller"),
            is_broker=info.has("broker"),
            voters=tuple(
                Voter(node_id=NodeId(voter.node_id), host=voter.name, port=PORT)
                for voter in options.nodes
                if voter.has("controller")
            ),
            endpoints=endpoints,
            rack=self.racks[info.node_id % len(self.racks)],
            static_configs=options.node_config,
            timeouts=self.timeouts,
            snapshots=self.snapshots,
            replication=self.replication,
            authorizer=self.authorizer,
            tokens=TOKENS if options.has_security else TokenPolicy(),
        )

    def crashed(self, node_id: int, error: Exception) -> None:
        """Record an exception of a node's code, and end its process; node 0 is the harness.

        The crash is a violation, unless the run outlives crashes.
        """
        if node_id in self.machines:
            self.machines[node_id].kill()
        violation = crash_of(
            error,
            node=node_id,
            time_ns=self.scheduler.now_ns,
            event=self.scheduler.events,
        )
        is_over = node_id not in self.machines or not self.outlives_crashes
        (self.monitor.violations if is_over else self.crashes).append(violation)

    def _disk_failed(self, process: ProcessView, error: OSError) -> None:
        machine = self.machines[process.node_id]
        if machine.process is process:
            machine.disk_failed(error)

    def _may_give_up(self, process: ProcessView, machine: Machine, reason: str) -> bool:
        """Return whether a broker may end by itself: a time has passed, or its disk fails."""
        if GIVING_UP in reason:
            return self.registration_wait.may_give_up(process)
        if UNHEARD in reason:
            return self.failed_directories.may_end(process)
        return machine.disk_faults.fails()

    def _exited(self, process: ProcessView, effect: Exit) -> None:
        machine = self.machines[process.node_id]
        if effect.status == 0:
            for exited in self.monitor.on_exited:
                exited(process)
        is_asked = machine.process is not process or machine.process.was_asked_to_stop
        if machine.process is process:
            if effect.status == 0:
                machine.process.leave_partitions()
            machine.kill()
        if effect.status != 0 and self._may_give_up(process, machine, effect.reason):
            self.supervisor.gave_up(machine)
            return
        if effect.status != 0 or not is_asked:
            self.monitor.report_violation_of(
                "NoUnexpectedExit",
                "A node exits only after a request to stop.",
                process,
                f"exit status {effect.status}: {effect.reason}",
            )

    def write_files(self, directory: Path) -> None:
        """Write the disk and the trace of each node below a directory."""
        for node_id in sorted(self.machines):
            self.machines[node_id].write_files(directory / "nodes" / str(node_id))
