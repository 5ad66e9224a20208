"""What must hold when a run is over and the world has been whole for a while.

Progress (a leader, all nodes at one image) is asked for only then, of a cluster whose nodes all
run and hear each other; a high watermark that had not yet advanced is no loss before.
"""

from collections.abc import Iterator

from cluster.simulated.machine import Machine
from cluster.simulated.process import NodeProcess
from cluster.simulated.reference_image import (
    entities_of_image,
    entities_of_log,
    first_difference,
)
from cluster.simulated.witness import LEADER
from cluster.simulated.world import World
from node.core.metadata.changes import rebuild

ELECTIONS = 10
"""Within how many election time-outs (with their fetch time-out) a whole cluster has a leader."""
RUNNING = 3
"""The broker state of 631-57."""


def whole_again(world: World) -> None:
    """Heal every link and clock, resume and start every node; bad luck is over, too."""
    world.ties.share = 0.0
    world.links.heal_all()
    for node_id in sorted(world.machines):
        machine = world.machines[node_id]
        machine.around.clock.wall_offset_ns = 0
        if machine.process is None:
            machine.start()
        else:
            machine.process.resume()


def limit_ns(world: World) -> int:
    """Return how long a whole cluster may take until it has settled."""
    timeouts = world.timeouts
    return ELECTIONS * timeouts.election_ns + timeouts.fetch_ns + timeouts.session_ns


def is_ready(world: World) -> bool:
    """Whether every broker runs, so that the active controller has unfenced it."""
    return has_leader(world) and all(
        process.status is not None and process.status.broker_state in {None, RUNNING}
        for process in _running(world)
    )


def has_leader(world: World) -> bool:
    """Whether one node leads the highest epoch and its own epoch has committed."""
    return _leader(world) is not None


def has_converged(world: World) -> bool:
    """Whether every image holds all that the leader's log does."""
    leader = _leader(world)
    if leader is None or leader.status is None:
        return False
    end = leader.status.log_end
    processes = list(_running(world))
    return len(processes) == len(world.machines) and all(
        process.status is not None and process.status.image_offset >= end for process in processes
    )


def judge(world: World, *, elected: bool, converged: bool) -> None:
    """Object to what does not hold at the end."""
    for process in _running(world):
        if not elected:
            world.jury.object_to(
                "Progress",
                "A whole cluster elects a leader within ten election time-outs.",
                process,
                f"{process.status}",
            )
            return
        if not converged:
            world.jury.object_to(
                "Convergence",
                "In a whole cluster every image reaches the leader's log.",
                process,
                f"{process.status}",
            )
            return
        _judge_image(world, process)
    _judge_by_log(world)


def _judge_by_log(world: World) -> None:
    """All images agree by their digests, so one is enough."""
    process = next(_running(world))
    batches = [one.batch for one in world.ledger.commitments]
    difference = first_difference(entities_of_log(batches), entities_of_image(process.image))
    if difference is not None:
        world.jury.object_to(
            "ImagesSayWhatTheLogSays",
            "An image holds what the committed records leave, no more and no less.",
            process,
            difference,
        )


def _judge_image(world: World, process: NodeProcess) -> None:
    image = process.image
    if rebuild(image) != image:
        world.jury.object_to(
            "DerivedPartsAreRight",
            "Indexes and digest of an image are those that its entities give from scratch.",
            process,
            f"{process.status}",
        )


def _running(world: World) -> Iterator[NodeProcess]:
    for node_id in sorted(world.machines):
        machine: Machine = world.machines[node_id]
        if machine.process is not None:
            yield machine.process


def _leader(world: World) -> NodeProcess | None:
    leaders = [
        process
        for process in _running(world)
        if process.status is not None
        and process.status.role == LEADER
        and process.status.high_watermark == process.status.log_end
    ]
    return leaders[0] if len(leaders) == 1 else None
