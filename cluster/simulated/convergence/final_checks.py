"""The liveness checks at the end of a run, some time after the faults have ended.

Only the final phase demands progress (a leader, a topic, equal images), and only of the core: the
running and connected nodes, including a majority of the controllers. Before the final phase, a
high watermark that does not advance is no violation. See final_phase.py for the choice of the core.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kraftproof.cluster.simulated.committed.reference_image import (
    entities_of_image,
    entities_of_log,
    first_difference,
)
from kraftproof.cluster.simulated.convergence.epoch_files import epoch_file_fault
from kraftproof.cluster.simulated.convergence.quorum_state_files import quorum_state_fault
from kraftproof.cluster.simulated.invariants.invariant import LEADER
from kraftproof.cluster.simulated.node.process import NodeProcess
from kraftproof.cluster.simulated.world import World
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.types import NodeId, milliseconds
from kraftproof.node.core.metadata.changes import rebuild
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.storage.epochs import FILE_NAME as EPOCH_FILE
from kraftproof.node.storage.quorum_state import FILE_NAME as QUORUM_STATE_FILE

ELECTIONS = 10
"""Number of election time-outs, after one fetch time-out, within which a majority has a leader."""
RUNNING = 3
"""The broker state RUNNING (631-57)."""
SLACK_NS = milliseconds(2_000)
"""Time for the registration of a broker, in addition to the sessions that must expire first."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalOutcome:
    """The progress of the core within its deadlines."""

    elected: bool
    created: bool
    end: int
    """End of the committed log at the creation of the topic; every image must reach the offset."""


def heal_all(world: World) -> None:
    """Heal every link, disk and clock, end forced ties, and resume or start every node."""
    world.is_in_final_phase = True
    world.supervisor.begin()
    world.ties.share = 0.0
    world.links.heal_all()
    for node_id in sorted(world.machines):
        machine = world.machines[node_id]
        machine.repair()
        if machine.process is None:
            machine.start()
        else:
            machine.process.resume()


def election_limit_ns(world: World) -> int:
    """Return the time limit for the election of a leader, in nanoseconds."""
    return ELECTIONS * world.timeouts.election_ns + world.timeouts.fetch_ns


def limit_ns(world: World) -> int:
    """Return the time limit for convergence, in nanoseconds.

    A new leader gives each broker a new session, and a restarted broker waits for the end of the
    session of its previous incarnation.
    """
    return election_limit_ns(world) + 2 * world.timeouts.session_ns + SLACK_NS


def is_ready(world: World) -> bool:
    """Return whether a leader is active and every broker is in the state RUNNING."""
    everybody = tuple(sorted(world.machines))
    return has_leader(world, everybody) and all(
        process.status is not None and process.status.broker_state in {None, RUNNING}
        for process in _running(world, everybody)
    )


def has_started(world: World) -> bool:
    """Return whether the cluster is ready, and no node has ended meanwhile."""
    return is_ready(world) and all(machine.process for machine in world.machines.values())


def report_not_ready(world: World, waited_s: int) -> None:
    """Report a cluster that is not ready although no fault was injected.

    Without a running node there is nothing to report: the nodes have crashed or have refused to
    start.
    """
    everybody = tuple(sorted(world.machines))
    running = {process.node_id: process for process in _running(world, everybody)}
    if running:
        states = (
            f"node {node_id}: {running[node_id].status if node_id in running else 'has ended'}"
            for node_id in everybody
        )
        world.monitor.report_violation_of(
            "ClusterBecomesReady",
            f"Without faults, a leader is active and every broker runs within {waited_s} s.",
            next(iter(running.values())),
            "; ".join(states),
        )


def has_leader(world: World, core: Sequence[int]) -> bool:
    """Return whether exactly one node of the core leads, and its whole log has committed."""
    return _leader(world, core) is not None


def is_settled(world: World, core: Sequence[int], end: int) -> bool:
    """Return whether every image reaches an offset, and only missing brokers are fenced."""
    return has_converged(world, core, end) and not _wrongly_fenced(world, core)


def has_converged(world: World, core: Sequence[int], end: int) -> bool:
    """Return whether every node of the core runs, with an image up to `end` or further.

    `end` may be below the committed end: the latest records reach a standby's image later.
    """
    processes = list(_running(world, core))
    return len(processes) == len(core) and all(
        process.status is not None and process.status.image_offset >= end for process in processes
    )


def _wrongly_fenced(world: World, core: Sequence[int]) -> str | None:
    """Describe a broker that is fenced but in the core, or unfenced but missing; else None."""
    image = max(_running(world, core), key=_image_offset).image
    for node_id in sorted(world.machines):
        if not world.machines[node_id].info.has("broker"):
            continue
        broker = image.brokers.get(NodeId(node_id))
        serves = broker is not None and not broker.fenced
        if serves != (node_id in core):
            return f"broker {node_id} {'serves' if serves else 'is fenced'}"
    return None


def judge(world: World, core: Sequence[int], outcome: FinalOutcome) -> None:
    """Report the violations at the end of a run."""
    process = next(_running(world, core))
    status = str(process.status)
    misses = (
        (
            not outcome.elected,
            "Progress",
            "A connected majority elects a leader within ten election time-outs.",
            status,
        ),
        (
            not outcome.created,
            "TopicsCanBeCreated",
            "A connected majority creates a topic through a broker that it can reach.",
            status,
        ),
        (
            not has_converged(world, core, outcome.end),
            "Convergence",
            "In a connected majority every image reaches the committed end.",
            "; ".join(f"node {p.node_id}: {p.status}" for p in _running(world, core)),
        ),
        (
            _wrongly_fenced(world, core) is not None,
            "DeadBrokersAreFenced",
            "Missing brokers are fenced in time, and running brokers are unfenced.",
            str(_wrongly_fenced(world, core)),
        ),
    )
    for is_missed, invariant, statement, detail in misses:
        if is_missed:
            world.monitor.report_violation_of(invariant, statement, process, detail)
            return
    judged: MetadataImage | None = None
    for each in _running(world, core):
        if each.image is not judged:  # nodes usually share the image object
            _judge_image(world, each)
        judged = each.image
    _judge_by_log(world, core)
    for each in _running(world, core):
        _judge_epoch_file(world, each)
        _judge_quorum_state_file(world, each)


def _judge_epoch_file(world: World, process: NodeProcess) -> None:
    content = world.machines[process.node_id].read_file(EPOCH_FILE)
    fault = epoch_file_fault(content, process.log)
    if fault is not None:
        world.monitor.report_violation_of(
            "EpochFilesSayWhatLogsSay",
            "The file of epochs beside a log has the first offset of each epoch of the log.",
            process,
            fault,
        )


def _judge_quorum_state_file(world: World, process: NodeProcess) -> None:
    status = process.status
    if status is None:
        return
    state = QuorumState(epoch=status.epoch, voted_for=status.voted_for, leader=status.leader)
    content = world.machines[process.node_id].read_file(QUORUM_STATE_FILE)
    fault = quorum_state_fault(content, state, world.cluster_id, world.voters)
    if fault is not None:
        world.monitor.report_violation_of(
            "QuorumStateFilesAreWhole",
            "The quorum-state file has the fields of Kafka's schema, and the state of the node.",
            process,
            fault,
        )


def _judge_by_log(world: World, core: Sequence[int]) -> None:
    """Compare the furthest image with the log; equal digests make one image enough."""
    process = max(_running(world, core), key=_image_offset)
    committed_log = world.committed_log
    said = entities_of_log((one.batch for one in committed_log.commitments), committed_log.base)
    difference = first_difference(said, entities_of_image(process.image))
    if difference is not None:
        world.monitor.report_violation_of(
            "ImagesSayWhatTheLogSays",
            "An image holds exactly the entities that result from the committed records.",
            process,
            difference,
        )


def _judge_image(world: World, process: NodeProcess) -> None:
    image = process.image
    if rebuild(image) != image:
        world.monitor.report_violation_of(
            "DerivedPartsAreRight",
            "Indexes and digest of an image equal those rebuilt from its entities.",
            process,
            f"{process.status}",
        )


def _running(world: World, core: Sequence[int]) -> Iterator[NodeProcess]:
    for node_id in core:
        process = world.machines[node_id].process
        if process is not None:
            yield process


def _image_offset(process: NodeProcess) -> int:
    return -1 if process.status is None else process.status.image_offset


def _leader(world: World, core: Sequence[int]) -> NodeProcess | None:
    leaders = [
        process
        for process in _running(world, core)
        if process.status is not None
        and process.status.role == LEADER
        and process.status.high_watermark == process.status.log_end
    ]
    return leaders[0] if len(leaders) == 1 else None
