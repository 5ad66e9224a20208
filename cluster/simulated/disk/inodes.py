"""Files and directories that lose unsynced changes in a crash.

Each file and directory keeps an undo list of the changes since its last sync; a crash undoes a
random suffix of the list, drawn from the seed. A write may be torn at any byte. A file may keep
its length while the lost bytes read as zeros, since the disk may write a size before the blocks.
Simplifications: a crash keeps a prefix of the unsynced writes of a file (pages are not reordered),
and each file and directory loses changes independently (no journal orders the changes).
"""

from random import Random

from msgspec import Struct

from kraftproof.cluster.power_loss import LOSE_ALL, TEAR, ZEROS


class _Written(Struct, frozen=True):
    length: int


class _Cut(Struct, frozen=True):
    removed: bytes


class _Entry(Struct, frozen=True):
    """The former targets of the names changed by an operation; a rename changes two names."""

    before: "tuple[tuple[str, SimulatedFile | SimulatedDirectory | None], ...]"


class SimulatedFile:
    """The bytes in the page cache, and the undo list of changes that are not on disk."""

    __slots__ = ("_first", "_forgotten", "_undo", "data")

    def __init__(self) -> None:
        self.data = bytearray()
        self._undo: list[_Written | _Cut] = []
        self._first = 0
        self._forgotten: int | None = None
        """First change that no fsync writes any more, since a failed fsync marked it as clean."""

    def write(self, data: bytes) -> None:
        """Append data in the page cache."""
        self.data += data
        self._undo.append(_Written(len(data)))

    def truncate(self, size: int) -> None:
        """Truncate the file in the page cache."""
        assert size <= len(self.data), "a truncation never grows a file"
        if self._forgotten is not None and size <= len(self.data) - self.unsynced_bytes:
            self._forgotten = None  # the truncation removes the data that was never written
        self._undo.append(_Cut(bytes(self.data[size:])))
        del self.data[size:]

    def reached(self) -> int:
        """Return the number of changes so far, which an fsync that starts now covers."""
        return self._first + len(self._undo)

    def sync(self, reached: int) -> None:
        """Make the first `reached` changes durable."""
        if self._forgotten is not None:
            reached = min(reached, self._forgotten)
        self._forget_undo(reached)

    def forget(self) -> None:
        """Mark the unsynced changes as lost to every later fsync, after a failed fsync."""
        if self._undo and self._forgotten is None:
            self._forgotten = self._first

    @property
    def unsynced_bytes(self) -> int:
        """Number of bytes that a crash could lose."""
        return sum(undo.length for undo in self._undo if isinstance(undo, _Written))

    @property
    def is_synced(self) -> bool:
        """Return whether a crash would leave the file unchanged."""
        return not self._undo

    def crash(self, random: Random) -> int:
        """Undo a drawn suffix of the unsynced operations; return the bytes lost."""
        self._forgotten = None
        if not self._undo:
            return 0
        loses_all = random.random() < LOSE_ALL
        kept = 0 if loses_all else random.randrange(len(self._undo) + 1)
        lost = zeros = 0
        while len(self._undo) > kept:
            undo = self._undo.pop()
            if isinstance(undo, _Cut):
                self.data += undo.removed
                zeros = 0
                continue
            tear = len(self._undo) == kept and not loses_all and random.random() < TEAR
            gone = random.randint(1, undo.length) if tear and undo.length else undo.length
            del self.data[len(self.data) - gone :]
            lost += gone
            zeros += gone
        if zeros and random.random() < ZEROS:
            self.data += bytes(random.randint(1, zeros))
        self._forget_undo(self._first + len(self._undo))
        return lost

    def _forget_undo(self, reached: int) -> None:
        done = max(reached - self._first, 0)
        del self._undo[:done]
        self._first += done


class SimulatedDirectory:
    """The names shown by the kernel, and the undo list of changes that are not on disk."""

    __slots__ = ("_undo", "entries")

    def __init__(self) -> None:
        self.entries: dict[str, SimulatedFile | SimulatedDirectory] = {}
        self._undo: list[_Entry] = []

    def change(self, changes: "dict[str, SimulatedFile | SimulatedDirectory | None]") -> None:
        """Point names to new entries in one atomic change; None removes a name."""
        self._undo.append(_Entry(tuple((name, self.entries.get(name)) for name in changes)))
        self._point(tuple(changes.items()))

    def fsync(self) -> None:
        """Make the names durable."""
        self._undo.clear()

    def crash(self, random: Random) -> int:
        """Undo a drawn suffix of the unsynced changes, here and below; return the bytes lost."""
        kept = 0
        if self._undo and random.random() >= LOSE_ALL:
            kept = random.randrange(len(self._undo) + 1)
        lost = 0
        while len(self._undo) > kept:
            before = self._undo.pop().before
            for name, _ in before:
                entry = self.entries.get(name)
                lost += len(entry.data) if isinstance(entry, SimulatedFile) else 0
            self._point(before)
        self._undo.clear()
        return lost + sum(self.entries[name].crash(random) for name in sorted(self.entries))

    def _point(
        self, names: "tuple[tuple[str, SimulatedFile | SimulatedDirectory | None], ...]"
    ) -> None:
        for name, entry in names:
            if entry is None:
                self.entries.pop(name, None)
            else:
                self.entries[name] = entry
