"""Compare the answers of refused requests with the requests: each part that was asked is named.

A request that is refused as a whole, such as by a node that is no active controller, is answered
for each of its topics, partitions and resources, in the fields by which a client knows them.
"""

from collections.abc import Iterator
from typing import Final

from msgspec import Struct

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.node.wire.messages import Message

IDENTITIES: Final = frozenset({
    *("name", "topic", "topic_name", "topic_id", "partition_index", "partition_id"),
    *("resource_type", "resource_name", "entity_type", "entity_name"),
})  # fmt: skip
"""The fields that name a part in a request and in its answer."""
NUMBERS: Final = {"partitions": "partition_id"}
"""Lists of bare numbers in requests, with the field of each number in the answer."""
Named = dict[tuple[int, str], set[object]]
"""By depth and field, the values."""


def compare_parts(request: Message, answer: Message) -> None:
    """Compare the parts that the answer of a refused request names with those of the request.

    Raises:
        DifferenceError: the answer has other parts than the request.
    """
    asked, answered = _named(request), _named(answer)
    for place in sorted(asked.keys() & answered.keys()):
        what = f"{place[1]} in a refused {type(request).__name__}"
        same(what, answered[place], asked[place])


def _named(message: Message) -> Named:
    found: Named = {}
    for depth, field, value in _fields(message, 0):
        found.setdefault((depth, field), set()).add(value)
    return found


def _fields(part: Struct, depth: int) -> Iterator[tuple[int, str, object]]:
    """Yield the identities of a part and of its parts, with their depths."""
    for field in part.__struct_fields__:
        value = getattr(part, field)
        if isinstance(value, tuple | list):
            for one in value:
                if isinstance(one, Struct):
                    yield from _fields(one, depth + 1)
                elif field in NUMBERS:
                    yield depth + 1, NUMBERS[field], one
        elif field in IDENTITIES and depth:
            yield depth, field, value
