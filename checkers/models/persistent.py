"""States that grow with the history: made from the one before in O(log n), not copied.

A search remembers a state for each of its steps, so a copy each would take O(n^2) time and memory.
"""

from collections.abc import Hashable
from typing import Final, Optional

from typing_extensions import override


class Records:
    """Records by offset: the last record here, the earlier records in `before`.

    A list with jump pointers (Myers 1983, "An applicative random-access stack"): one more record
    takes O(1), a look-up O(log n). Two are equal if they hold the same records.

    Attributes: offset: the offset of the last record; less than every offset without records.
        value: the value of the last record; None without records.
        count: the number of records.
        before: all records but the last.
        jump: an earlier, shorter list of records, for quick search; itself for an empty list.
        digest: a digest of all records, for hashing.
    """

    __slots__ = ("before", "count", "digest", "jump", "offset", "value")

    def __init__(self, before: Optional["Records"], offset: int, value: Hashable) -> None:
        self.before = before
        self.offset = offset
        self.value = value
        self.count: int = 0 if before is None else before.count + 1
        self.digest: int = hash((None if before is None else before.digest, offset, value))
        self.jump: Records = self if before is None else before.next_jump()

    def next_jump(self) -> "Records":
        """Return where what follows jumps to: two equal jumps in a row make one twice as long."""
        first, second = self.jump, self.jump.jump
        is_twice = self.count - first.count == first.count - second.count
        return second if is_twice else self

    def followed_by(self, offset: int, value: Hashable) -> "Records":
        """Return the records with another record, of a greater offset."""
        return Records(self, offset, value)

    def value_at(self, offset: int) -> Hashable | None:
        """Return the value of the record at an offset; None without a record."""
        here = self
        while here.offset > offset:
            assert here.before is not None, "the first offset is less than every other"
            here = here.jump if here.jump.offset >= offset else here.before
        return here.value if here.offset == offset else None

    def last(self, most: int) -> list["Records"]:
        """Return the last records, by offset."""
        found: list[Records] = []
        here = self
        while here.before is not None and len(found) < most:
            found.append(here)
            here = here.before
        return found[::-1]

    @override
    def __hash__(self) -> int:
        return self.digest

    @override
    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Records) or (self.digest, self.count) != (
            other.digest,
            other.count,
        ):
            return False
        one, two = self, other
        while one is not two:
            if (one.offset, one.value) != (two.offset, two.value):
                return False
            if one.before is None or two.before is None:
                return one.before is two.before
            one, two = one.before, two.before
        return True


NOTHING: Final = Records(None, -(1 << 64), None)
