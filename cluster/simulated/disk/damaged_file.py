"""A damaged file of a machine, and the judgement of a start on the damaged file.

A start on a damaged file is right if the node refuses to start, in one line that names a file, or
recovers the state that the undamaged disk holds: the same quorum-state, and the same batches.
"""

from collections.abc import Callable
from copy import deepcopy

from kraftproof.cluster.simulated.disk.bit_rot import BitRot
from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.storage.errors import StorageError
from kraftproof.node.storage.stored import Stored

Open = Callable[[SimulatedFileSystem], Stored]


class DamagedFile:
    """The damaged file of a machine.

    Attributes:
        rot: The damage.
        observed: The damage, and after a start on the damaged file the reaction of the node.
    """

    __slots__ = ("observed", "rot")

    def __init__(self, rot: BitRot) -> None:
        self.rot = rot
        self.observed = f"a bit of {rot.path} is flipped"

    def undamaged(self, disk: SimulatedFileSystem, open_disk: Open) -> Stored | None:
        """Return the state of the disk without the damage.

        None if the damage is gone, or if the node refuses the undamaged disk as well.
        """
        if not self.rot.is_present(disk):
            return None
        copy = deepcopy(disk)
        copy.disk_faults = None
        self.rot.undo(copy)
        try:
            return open_disk(copy)
        except StorageError:
            return None

    def refused(self, reason: str) -> str | None:
        """Record that the node refused to start; return the mistake in the message, if any."""
        self.observed = f"refused: {reason}"
        if "\n" in reason or self.rot.path.rpartition("/")[0] not in reason:
            return f"the refusal is not a line that names the file {self.rot.path}: {reason!r}"
        return None

    def recovered(self, found: Stored, undamaged: Stored) -> str | None:
        """Record that the node started; return the difference from the undamaged state, if any."""
        self.observed = f"started without {self.rot.path}"
        where = f"bit {self.rot.mask:#04x} of byte {self.rot.position} in {self.rot.path} flipped"
        if found.durable != undamaged.durable:
            return f"{where}, and quorum-state is {found.durable}, not {undamaged.durable}"
        written = {batch.base_offset: batch for batch in undamaged.batches}
        for batch in found.batches:
            before = written.get(batch.base_offset)
            if before is not None and before != batch:
                return f"{where}, and the batch at offset {batch.base_offset} is {batch}"
        ends = [each.batches[-1].next_offset if each.batches else -1 for each in (found, undamaged)]
        if ends[0] < ends[1]:
            return f"{where}, and the log ends at {ends[0]}, not {ends[1]}"
        return None


def start_on_copy(disk: SimulatedFileSystem, rot: BitRot, open_disk: Open) -> str | None:
    """Open a damaged copy of a stopped node's disk; return the mistake of the node, if any."""
    copy, damaged = deepcopy(disk), DamagedFile(rot)
    copy.disk_faults = None
    rot.apply(copy)
    undamaged = damaged.undamaged(copy, open_disk)
    if undamaged is None:
        return None
    try:
        found = open_disk(copy)
    except StorageError as error:
        return damaged.refused(str(error))
    return damaged.recovered(found, undamaged)
