"""What must hold when a run is over and its faults have been over for a while.

Progress (a leader, a topic, all nodes at one image) is asked for only then, of the core: the nodes
that run and hear each other, among them a majority of the controllers. A high watermark that had
not yet advanced is no loss before. Not: who is in the core (ending.py).
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from kraftproof.cluster.simulated.committed.reference_image import (
    entities_of_image,
    entities_of_log,
    first_difference,
)
from kraftproof.cluster.simulated.invariants.invariant import LEADER
from kraftproof.cluster.simulated.node.process import NodeProcess
from kraftproof.cluster.simulated.world import World
from kraftproof.node.core.base.types import NodeId, milliseconds
from kraftproof.node.core.metadata.changes import rebuild
from kraftproof.node.core.metadata.image import MetadataImage

ELECTIONS = 10
"""Within how many election time-outs (after a fetch time-out) a majority has a leader."""
RUNNING = 3
"""The broker state of 631-57."""
SLACK_NS = milliseconds(2_000)
"""What a broker may take to register anew, beside the sessions that it waits for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class FinalOutcome:
    """What the core has managed within its time."""

    elected: bool
    created: bool
    end: int
    """What had committed when the topic was created; the images reach that far."""


def heal_all(world: World) -> None:
    """Heal every link, disk and clock, resume and start every node; bad luck is over, too."""
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
    """Return how long the core may take to have a leader."""
    return ELECTIONS * world.timeouts.election_ns + world.timeouts.fetch_ns


def limit_ns(world: World) -> int:
    """Return how long the core may take until it has settled.

    A new leader gives each broker a session; a broker that was replaced waits for its end.
    """
    return election_limit_ns(world) + 2 * world.timeouts.session_ns + SLACK_NS


def is_ready(world: World) -> bool:
    """Whether every broker runs, so that the active controller has unfenced it."""
    everybody = tuple(sorted(world.machines))
    return has_leader(world, everybody) and all(
        process.status is not None and process.status.broker_state in {None, RUNNING}
        for process in _running(world, everybody)
    )


def has_leader(world: World, core: Sequence[int]) -> bool:
    """Whether one node of the core leads, and all that it has written has committed."""
    return _leader(world, core) is not None


def is_settled(world: World, core: Sequence[int], end: int) -> bool:
    """Whether every image reaches that far, and the right brokers serve."""
    return has_converged(world, core, end) and not _wrongly_fenced(world, core)


def has_converged(world: World, core: Sequence[int], end: int) -> bool:
    """Whether every node of the core runs, and its image holds all below `end`.

    Not all that has committed: what a leader has just written, a standby's image does not hold yet.
    """
    processes = list(_running(world, core))
    return len(processes) == len(core) and all(
        process.status is not None and process.status.image_offset >= end for process in processes
    )


def _wrongly_fenced(world: World, core: Sequence[int]) -> str | None:
    """Say which broker of the cluster's own is fenced though in the core, or not though gone."""
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
    """Object to what does not hold at the end."""
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
            "In a connected majority every image reaches what has committed.",
            "; ".join(f"node {p.node_id}: {p.status}" for p in _running(world, core)),
        ),
        (
            _wrongly_fenced(world, core) is not None,
            "DeadBrokersAreFenced",
            "Brokers that are gone are fenced before long, and those that are there are not.",
            str(_wrongly_fenced(world, core)),
        ),
    )
    for is_missed, invariant, sentence, detail in misses:
        if is_missed:
            world.monitor.report_violation_of(invariant, sentence, process, detail)
            return
    judged: MetadataImage | None = None
    for each in _running(world, core):
        if each.image is not judged:  # most often all share one
            _judge_image(world, each)
        judged = each.image
    _judge_by_log(world, core)


def _judge_by_log(world: World, core: Sequence[int]) -> None:
    """All images agree by their digests, so the one that reaches furthest is enough."""
    process = max(_running(world, core), key=_image_offset)
    committed_log = world.committed_log
    said = entities_of_log((one.batch for one in committed_log.commitments), committed_log.base)
    difference = first_difference(said, entities_of_image(process.image))
    if difference is not None:
        world.monitor.report_violation_of(
            "ImagesSayWhatTheLogSays",
            "An image holds what the committed records leave, no more and no less.",
            process,
            difference,
        )


def _judge_image(world: World, process: NodeProcess) -> None:
    image = process.image
    if rebuild(image) != image:
        world.monitor.report_violation_of(
            "DerivedPartsAreRight",
            "Indexes and digest of an image are those that its entities give from scratch.",
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
