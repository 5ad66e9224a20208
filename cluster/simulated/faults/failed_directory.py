"""A log directory whose disk fails, and the end of the failure.

At the end the broker starts with the old disk, or with an empty disk. An empty disk loses records
that the broker is the last to have, as in Kafka without eligible leader replicas (KIP-966). So the
disk is replaced only if the committed image has no replica of the directory in an ISR.
"""

from kraftproof.cluster.simulated.node.machine import Machine
from kraftproof.cluster.simulated.world import World
from kraftproof.node.core.base.directory_ids import is_reserved
from kraftproof.node.core.base.types import NodeId
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.core.partition.log_directories import assigned_directory
from kraftproof.node.wire.types import Uuid


def fail_directory(machine: Machine) -> str | None:
    """Fail a drawn directory; None if the machine has one directory, or has lost one already."""
    paths, failed = machine.directories.paths, machine.disk.failed_directories
    if len(paths) == 1 or failed or machine.env.partitions.failed:
        return None
    path = machine.fault_random("failed-directory").choice(paths)
    failed.add(path)
    return path


def failure_observed(machine: Machine) -> str | None:
    """Return the reaction of a machine's broker to a failed directory."""
    failed, mirrors = sorted(machine.disk.failed_directories), machine.env.partitions
    lost = [log for log in mirrors if mirrors.of(log).directory in mirrors.failed]
    if not failed or not mirrors.failed:
        return None
    return f"node {machine.info.node_id} goes on without {failed[0]}, which has {len(lost)} logs"


def end_failure(world: World, machine: Machine) -> None:
    """Kill the broker, and give its directory back or replace the disk."""
    machine.kill()
    failed = sorted(machine.disk.failed_directories)
    machine.disk.failed_directories.clear()
    image = _committed_image(world)
    for path in failed:
        directory = machine.directories.id_of(path)
        if image is not None and _is_dispensable(image, machine.info.node_id, directory):
            machine.directories.replace(machine.disk, path)
            machine.env.partitions.drop(directory)


def _committed_image(world: World) -> MetadataImage | None:
    """Return the image of every committed record, if a node has the image."""
    for machine in world.machines.values():
        process = machine.process
        status = None if process is None else process.status
        end = world.committed_log.end_offset
        if process is not None and status is not None and status.image_offset >= end:
            return process.image
    return None


def _is_dispensable(image: MetadataImage, node_id: int, directory: Uuid) -> bool:
    """Return whether no ISR has a replica that is, or may be, in the directory."""
    places = (assigned_directory(each, NodeId(node_id)) for each in image.in_isr(NodeId(node_id)))
    return not any(place == directory or is_reserved(place) for place in places)
