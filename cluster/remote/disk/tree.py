"""The inodes of the file system, and the changes of names since the last fsync of a directory.

The backing directory is an ordinary directory and follows each change of a name at once. A file
without a name goes to the attic, a directory beside the backing directory, from where a power loss
can bring the file back. Changes of names form a journal, as in ext4: an fsync of any directory
makes every earlier change durable, and a power loss undoes a drawn suffix. Unlike in ext4, an fsync
of a file makes no name durable: POSIX does not promise the name.
"""

import errno
import os
import stat
import time
from dataclasses import dataclass, field
from pathlib import Path
from random import Random
from typing import Final, NamedTuple

from kraftproof.cluster.power_loss import LOSE_ALL
from kraftproof.cluster.remote.disk.protocol import Owner
from kraftproof.cluster.remote.disk.undo import UnsyncedChanges

ROOT: Final = 1
"""The number of the root's inode, as the kernel knows it."""


@dataclass(slots=True, eq=False)
class Inode:
    """A file or a directory.

    Attributes:
        number: The number for the kernel, never used again.
        entries: The names in a directory; None for a file.
        place: The directory and the name; None for a nameless inode.
        unsynced: The changes of a file's bytes.
        opens: The number of open handles.
        descriptor: The descriptor of an open file; -1 while no handle is open.
    """

    number: int
    entries: "dict[str, Inode] | None"
    place: "tuple[Inode, str] | None" = None
    unsynced: UnsyncedChanges = field(default_factory=UnsyncedChanges)
    opens: int = 0
    descriptor: int = -1

    @property
    def children(self) -> "dict[str, Inode]":
        """The entries of a directory.

        Raises:
            OSError: the inode is a file.
        """
        if self.entries is None:
            raise OSError(errno.ENOTDIR, "is not a directory")
        return self.entries

    @property
    def name(self) -> str:
        """The path below the root; empty for the root and for a nameless inode."""
        if self.place is None:
            return ""
        parent, name = self.place
        return f"{parent.name}/{name}".lstrip("/")


Names = tuple[tuple[Inode, str, Inode | None], ...]
"""Directories, names and the inodes of the names; None is no entry."""


class NameChange(NamedTuple):
    """A change of names: its time on the monotonic clock, and the names before the change."""

    time_ns: int
    before: Names


class Tree:
    """The inodes below one backing directory."""

    __slots__ = ("_attic", "_backing", "_detached", "_inodes", "_journal", "_last")

    def __init__(self, backing: str, attic: Path) -> None:
        self._backing = backing
        self._attic = attic
        attic.mkdir()
        self._last = ROOT
        root = Inode(ROOT, {})
        self._inodes = {ROOT: root}
        self._detached: dict[int, Inode] = {}
        self._journal: list[NameChange] = []
        self._read(root)

    def _read(self, directory: Inode) -> None:
        """Read the present entries of the backing directory, which count as durable."""
        with os.scandir(self.path(directory)) as found:
            listed = sorted(found, key=lambda one: one.name)
        for one in listed:
            is_directory = one.is_dir(follow_symlinks=False)
            inode = self._new({} if is_directory else None)
            directory.children[one.name] = inode
            inode.place = (directory, one.name)
            if is_directory:
                self._read(inode)

    def _new(self, entries: dict[str, Inode] | None) -> Inode:
        self._last += 1
        inode = Inode(self._last, entries)
        self._inodes[inode.number] = inode
        return inode

    def inode(self, number: int) -> Inode:
        """Return an inode.

        Raises:
            OSError: the inode was deleted.
        """
        found = self._inodes.get(number)
        if found is None:
            raise OSError(errno.ESTALE, "stale inode")
        return found

    def lookup(self, directory: Inode, name: str) -> Inode:
        """Return the inode of a name.

        Raises:
            OSError: the directory lacks the name.
        """
        found = directory.children.get(name)
        if found is None:
            raise OSError(errno.ENOENT, "no such entry")
        return found

    def files(self) -> list[Inode]:
        """Return the files with a name."""
        return [one for one in self._inodes.values() if one.entries is None and one.place]

    def path(self, inode: Inode) -> str:
        """Return the path of an inode in the backing directory or the attic."""
        if inode.number == ROOT:
            return self._backing
        if inode.place is None:
            return str(self._attic / str(inode.number))
        parent, name = inode.place
        return f"{self.path(parent)}/{name}"

    # Names

    def create(
        self, directory: Inode, name: str, mode: int, owner: Owner, *, is_directory: bool
    ) -> Inode:
        """Make a file or directory under a new name, which belongs to `owner`.

        A directory with the set-group-ID bit gives its group, and to directories the bit, too.

        Raises:
            OSError: the name is taken.
        """
        if name in directory.children:
            raise OSError(errno.EEXIST, "exists")
        inode = self._new({} if is_directory else None)
        self._detached[inode.number] = inode
        if is_directory:
            os.mkdir(self.path(inode), mode)
        else:
            os.close(os.open(self.path(inode), os.O_CREAT | os.O_EXCL | os.O_WRONLY, mode))
        self._give(inode, directory, mode, owner)
        self._change(((directory, name, inode),))
        return inode

    def _give(self, inode: Inode, directory: Inode, mode: int, owner: Owner) -> None:
        """Give a new inode to its owner: the process behind this file system is root."""
        above = os.lstat(self.path(directory))
        path, gid = self.path(inode), owner.gid
        if above.st_mode & stat.S_ISGID:
            gid = above.st_gid
            mode |= stat.S_ISGID if inode.entries is not None else 0
        os.chown(path, owner.uid, gid)
        os.chmod(path, mode)  # a change of the owner clears the set-user-ID bit

    def remove(self, directory: Inode, name: str, *, is_directory: bool) -> None:
        """Remove a name.

        Raises:
            OSError: the name is missing, of the other kind, or a directory with entries.
        """
        inode = self.lookup(directory, name)
        if is_directory and inode.children:
            raise OSError(errno.ENOTEMPTY, "not empty")
        if not is_directory and inode.entries is not None:
            raise OSError(errno.EISDIR, "is a directory")
        self._change(((directory, name, None),))

    def rename(self, source: Inode, name: str, target: Inode, new_name: str) -> None:
        """Move an entry in one step; an earlier holder of the new name loses the name.

        Raises:
            OSError: the entry is missing, or the kinds do not fit.
        """
        inode = self.lookup(source, name)
        old = target.children.get(new_name)
        if old is inode:
            return
        if old is not None and (inode.entries is None) != (old.entries is None):
            raise OSError(errno.EISDIR if inode.entries is None else errno.ENOTDIR, "other kind")
        if old is not None and old.entries:
            raise OSError(errno.ENOTEMPTY, "not empty")
        self._change(((source, name, None), (target, new_name, inode)))

    def _change(self, names: Names) -> None:
        before = tuple((one, name, one.children.get(name)) for one, name, _ in names)
        self._point(names)
        self._journal.append(NameChange(time.monotonic_ns(), before))

    def _point(self, names: Names) -> None:
        """Point names to other inodes, here and in the backing directory."""
        for directory, name, _ in names:
            old = directory.children.pop(name, None)
            if old is not None:
                self._move(old, None)
        for directory, name, inode in names:
            if inode is not None:
                self._move(inode, (directory, name))
                directory.children[name] = inode

    def _move(self, inode: Inode, place: tuple[Inode, str] | None) -> None:
        source = self.path(inode)
        inode.place = place
        os.rename(source, self.path(inode))
        if place is None:
            self._detached[inode.number] = inode
        else:
            self._detached.pop(inode.number, None)

    # Durability

    @property
    def unsynced_names(self) -> list[str]:
        """The names within reach of a power loss."""
        changed = [names for one in self._journal for names in one.before]
        return sorted({f"{one.name}/{name}".lstrip("/") for one, name, _ in changed})

    def sync_names(self, until_ns: int | None = None) -> None:
        """Make the changes of names up to a time durable; None for all changes."""
        self._journal = [
            one for one in self._journal if until_ns is not None and one.time_ns > until_ns
        ]
        self.sweep()

    def sweep(self) -> None:
        """Delete the inodes without a name, now and after a power loss, and without a handle."""
        wanted = {
            inode.number for one in self._journal for *_, inode in one.before if inode is not None
        }
        for number, inode in list(self._detached.items()):
            if number in wanted or inode.opens:
                continue
            path = self.path(inode)
            if inode.entries is None:
                os.unlink(path)
            else:
                os.rmdir(path)
            del self._detached[number], self._inodes[number]

    def lose_names(self, random: Random) -> list[str]:
        """Undo a drawn suffix of the changes of names; return the names concerned."""
        kept = 0
        if self._journal and random.random() >= LOSE_ALL:
            kept = random.randrange(len(self._journal) + 1)
        concerned: list[str] = []
        while len(self._journal) > kept:
            before = self._journal.pop().before
            concerned += [f"{one.name}/{name}".lstrip("/") for one, name, _ in before]
            self._point(before)
        self._journal.clear()
        return concerned[::-1]

    def close(self) -> None:
        """Close every file, and delete the attic with its files."""
        self._journal.clear()
        for inode in self._inodes.values():
            if inode.descriptor >= 0:
                os.close(inode.descriptor)
            inode.opens = 0
        self.sweep()
        self._attic.rmdir()
