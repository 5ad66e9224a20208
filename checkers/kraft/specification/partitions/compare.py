"""Compare the partitions after a batch with the right ones."""

from collections.abc import Mapping, Sequence

from kraftproof.checkers.kraft.specification.fold import fold
from kraftproof.checkers.kraft.specification.ids import show
from kraftproof.checkers.kraft.specification.image import Image, Partition, PartitionKey
from kraftproof.checkers.kraft.specification.rows import PartitionChangeRecord, Row


def wrong_partitions(
    image: Image, written: Sequence[Row], expected: Mapping[PartitionKey, Partition]
) -> str | None:
    """Return why a batch does not bring its partitions to the expected states, or None.

    Partitions that are not expected must stay as they are, without a record.
    """
    touched: set[PartitionKey] = set()
    for record in written:
        if not isinstance(record, PartitionChangeRecord):
            return f"a {type(record).__name__} was written"
        touched.add((record.topic_id, record.partition_id))
    after = fold(image, written)
    for key in sorted({*touched, *expected}, key=lambda entry: (show(entry[0]), entry[1])):
        was = image.topics[key[0]].partitions[key[1]]
        right = expected.get(key, was)
        now = after.topics[key[0]].partitions[key[1]]
        if now != right:
            return f"partition {key[1]} of {show(key[0])} became {now}, not {right}"
    return None
