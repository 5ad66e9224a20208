"""Bit rot: a durable file of a node differs in a bit from the bytes that the node wrote.

Only bytes are damaged in which a change can't be taken for a torn write: closed segments, all but
the last batch of the last segment, complete snapshots and quorum-state. A node must refuse such a
file in one line, or recover the same state from other files; see damaged_file.py for the judgement.
"""

from collections.abc import Sequence
from random import Random

from msgspec import Struct

from kraftproof.cluster.simulated.disk.filesystem import SimulatedFileSystem
from kraftproof.node.storage.filesystem import join
from kraftproof.node.storage.quorum_state import FILE_NAME
from kraftproof.node.storage.segments.segment import segment_name, segment_offsets
from kraftproof.node.storage.snapshots import NAME

LENGTH_SHARE = 0.3
"""Share of damaged lengths in the last segment, which make the rest look like one torn batch."""
LENGTH_AT, PREFIX_BYTES = 8, 12
"""The place of a batch's length, and the bytes that the length leaves out."""
DIGIT_SHARE = 0.5
"""Share of damaged digits in quorum-state: most other changes are no JSON."""


class BitRot(Struct, frozen=True, kw_only=True):
    """A flipped bit of a file.

    Attributes:
        path: The damaged file.
        position: The damaged byte, counted from 0.
        original: The value of the byte before the damage.
        mask: The flipped bit.
    """

    path: str
    position: int
    original: int
    mask: int

    def apply(self, disk: SimulatedFileSystem) -> None:
        """Flip the bit."""
        disk.damage(self.path, self.position, self.original ^ self.mask)

    def is_present(self, disk: SimulatedFileSystem) -> bool:
        """Return whether the damaged byte is still there; the node may have replaced the file."""
        if not disk.exists(self.path):
            return False
        found = disk.read_slice(self.path, self.position, 1)
        return found == bytes([self.original ^ self.mask])

    def undo(self, disk: SimulatedFileSystem) -> None:
        """Restore the byte, if the damage is still there."""
        if self.is_present(disk):
            disk.damage(self.path, self.position, self.original)


def draw_bit_rot(disk: SimulatedFileSystem, directory: str, random: Random) -> BitRot | None:
    """Draw a damage of a file below the directory of the log; None without such a file."""
    names = disk.list_directory(directory)
    kinds = [kind for kind in (*_files_by_kind(names), last_segment(names)) if kind]
    last = [join(directory, name) for name in last_segment(names)]
    while kinds:
        kind = random.choice(kinds)
        rot = _draw_in(disk, join(directory, random.choice(kind)), last, random)
        if rot is not None:
            return rot
        kinds.remove(kind)
    return None


def _draw_in(
    disk: SimulatedFileSystem, path: str, last: Sequence[str], random: Random
) -> BitRot | None:
    """Draw a damage of a file; None if the file has no byte that may be damaged."""
    data = disk.read(path)
    if not data or not disk.is_file_synced(path):
        return None
    position = random.randrange(len(data))
    if path in last:
        whole = batch_positions(data)[:-1]  # damage in the last batch is a torn write
        if not whole:
            return None
        end = batch_positions(data)[-1]
        position = random.randrange(end)
        if random.random() < LENGTH_SHARE:
            begin = random.choice((whole[0], random.choice(whole)))
            position = begin + random.randrange(LENGTH_AT, PREFIX_BYTES)
    if path.endswith(FILE_NAME) and random.random() < DIGIT_SHARE:
        position = random.choice([at for at, byte in enumerate(data) if chr(byte).isdigit()])
    return BitRot(
        path=path, position=position, original=data[position], mask=1 << random.randrange(8)
    )


def last_segment(names: Sequence[str]) -> list[str]:
    """Return the segment that is open for appends, as a list; empty without a segment."""
    return [segment_name(offset) for offset in segment_offsets(list(names))[-1:]]


def batch_positions(data: bytes | memoryview) -> list[int]:
    """Return the first byte of each batch of an undamaged segment."""
    found, position = [], 0
    while position + PREFIX_BYTES <= len(data):
        found.append(position)
        length = bytes(data[position + LENGTH_AT : position + PREFIX_BYTES])
        position += PREFIX_BYTES + int.from_bytes(length, "big")
    return found


def _files_by_kind(names: Sequence[str]) -> tuple[list[str], list[str], list[str]]:
    """Return the closed segments, the snapshots and quorum-state."""
    closed = [segment_name(offset) for offset in segment_offsets(list(names))[:-1]]
    snapshots = [name for name in names if NAME.fullmatch(name)]
    return closed, snapshots, [name for name in names if name == FILE_NAME]
