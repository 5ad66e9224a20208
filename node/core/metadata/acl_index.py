"""Index access control entries by resource, so that a decision looks at few entries (KIP-801).

The index is a derived part of the image: a literal name or prefix leads to its entries. The number
of look-ups of a decision is the number of different lengths of prefixes of the kind of resource.
"""

from collections.abc import Iterable, Iterator
from typing import Final

from immutables import Map
from msgspec import Struct

from kraftproof.node.core.metadata.acls import WILDCARD, Pattern
from kraftproof.node.wire.records.metadata import AccessControlEntryRecord

ResourceKey = tuple[int, int, str]
"""Resource kind, pattern and name."""
Entries = tuple[AccessControlEntryRecord, ...]
_NO_LENGTHS: Final[Map[int, int]] = Map()


class AclIndex(Struct, frozen=True):
    """The entries of an image by resource."""

    by_resource: Map[ResourceKey, Entries] = Map()
    """The entries of a resource in order of their ids."""
    lengths: Map[int, Map[int, int]] = Map()
    """By kind of resource: the lengths of prefixes, each with its number of prefixes."""

    def __len__(self) -> int:
        """Return the number of resources with entries."""
        return len(self.by_resource)

    def entries_for(self, kind: int, name: str) -> Iterator[AccessControlEntryRecord]:
        """Yield the entries that apply to a resource: literal, wildcard and prefixed."""
        found = self.by_resource
        yield from found.get((kind, Pattern.LITERAL, name), ())
        if name != WILDCARD:
            yield from found.get((kind, Pattern.LITERAL, WILDCARD), ())
        for length in self.lengths.get(kind, _NO_LENGTHS):
            if length <= len(name):
                yield from found.get((kind, Pattern.PREFIXED, name[:length]), ())

    def of_kind(self, kind: int) -> Iterator[AccessControlEntryRecord]:
        """Yield the entries of a kind of resource, in no particular order."""
        for key, entries in self.by_resource.items():
            if key[0] == kind:
                yield from entries

    def all_entries(self) -> list[AccessControlEntryRecord]:
        """Return every entry, in order of resources and then of ids."""
        return [entry for key in sorted(self.by_resource) for entry in self.by_resource[key]]

    def plus(self, entry: AccessControlEntryRecord) -> "AclIndex":
        """Return the index with one more entry."""
        key = _key(entry)
        entries = self.by_resource.get(key, ())
        added = tuple(sorted((*entries, entry), key=lambda each: each.id))
        lengths = self.lengths if entries else _counted(self.lengths, key, 1)
        return AclIndex(self.by_resource.set(key, added), lengths)

    def minus(self, entry: AccessControlEntryRecord) -> "AclIndex":
        """Return the index without an entry that it has."""
        key = _key(entry)
        left = tuple(each for each in self.by_resource[key] if each.id != entry.id)
        if left:
            return AclIndex(self.by_resource.set(key, left), self.lengths)
        return AclIndex(self.by_resource.delete(key), _counted(self.lengths, key, -1))


NO_ACLS: Final = AclIndex()


def index_of(entries: Iterable[AccessControlEntryRecord]) -> AclIndex:
    """Return the index of entries, from scratch."""
    index = NO_ACLS
    for entry in entries:
        index = index.plus(entry)
    return index


def _key(entry: AccessControlEntryRecord) -> ResourceKey:
    return (entry.resource_type, entry.pattern_type, entry.resource_name)


def _counted(
    lengths: Map[int, Map[int, int]], key: ResourceKey, by: int
) -> Map[int, Map[int, int]]:
    """Count a prefix more or less; a literal name has no part in it."""
    kind, pattern, name = key
    if pattern != Pattern.PREFIXED:
        return lengths
    of_kind = lengths.get(kind, _NO_LENGTHS)
    count = of_kind.get(len(name), 0) + by
    of_kind = of_kind.set(len(name), count) if count else of_kind.delete(len(name))
    return lengths.set(kind, of_kind) if of_kind else lengths.delete(kind)
