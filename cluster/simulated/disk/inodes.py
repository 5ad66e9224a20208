"""Files and directories that forget in a crash what was not made durable.

Each keeps an undo list of what has happened to it since it was last synced; a crash undoes a
seed-drawn suffix of it. A write may be torn at any byte, and a file may keep its length while what
is lost of it reads as zeros: its size was on disk before its blocks were.
Simplifications: a crash keeps a prefix of the unsynced writes of a file (pages are not reordered),
and files and directories forget independently of each other (no journal orders them). Not: paths
(filesystem.py).
"""

from random import Random

from msgspec import Struct

LOSE_ALL = 0.6
"""The share of files that lose every unsynced write in a crash."""
TEAR = 0.3
"""The share of the others that keep a part of the first lost write."""
ZEROS = 0.2
"""The share of those that lost writes at their end and read as zeros there."""


class _Written(Struct, frozen=True):
    length: int


class _Cut(Struct, frozen=True):
    removed: bytes


class _Entry(Struct, frozen=True):
    """What names pointed to before an operation; a rename changes two at once."""

    before: "tuple[tuple[str, SimulatedFile | SimulatedDirectory | None], ...]"


class SimulatedFile:
    """Bytes as the page cache shows them, and how to undo what is not on disk."""

    __slots__ = ("_first", "_forgotten", "_undo", "data")

    def __init__(self) -> None:
        self.data = bytearray()
        self._undo: list[_Written | _Cut] = []
        self._first = 0
        self._forgotten: int | None = None
        """From here on no fsync helps: one has failed, and the system believes it wrote all."""

    def write(self, data: bytes) -> None:
        """Append to the page cache."""
        self.data += data
        self._undo.append(_Written(len(data)))

    def truncate(self, size: int) -> None:
        """Cut in the page cache."""
        assert size <= len(self.data), "a file is cut, never grown"
        if self._forgotten is not None and size <= len(self.data) - self.unsynced_bytes:
            self._forgotten = None  # what was to be written is wanted no more
        self._undo.append(_Cut(bytes(self.data[size:])))
        del self.data[size:]

    def reached(self) -> int:
        """Count what has happened until now; an fsync that starts now covers that much."""
        return self._first + len(self._undo)

    def sync(self, reached: int) -> None:
        """Make durable what had happened by then."""
        if self._forgotten is not None:
            reached = min(reached, self._forgotten)
        self._forget_undo(reached)

    def forget(self) -> None:
        """An fsync has failed, and no later one writes what this one was to write."""
        if self._undo and self._forgotten is None:
            self._forgotten = self._first

    @property
    def unsynced_bytes(self) -> int:
        """How many bytes a crash could take away."""
        return sum(undo.length for undo in self._undo if isinstance(undo, _Written))

    @property
    def is_synced(self) -> bool:
        """Whether a crash would change nothing."""
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
    """Names as the kernel shows them, and how to undo what is not on disk."""

    __slots__ = ("_undo", "entries")

    def __init__(self) -> None:
        self.entries: dict[str, SimulatedFile | SimulatedDirectory] = {}
        self._undo: list[_Entry] = []

    def change(self, changes: "dict[str, SimulatedFile | SimulatedDirectory | None]") -> None:
        """Point names elsewhere, all at once; None removes."""
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
