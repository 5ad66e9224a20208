"""Change the sizes of segments beside the partitions, and compare what the storage was told.

A topic's own size counts before the size of the broker, of all brokers, and Kafka's default. A
change of configurations may come in one image with changes of any partitions.
"""

from collections.abc import Iterable, Mapping
from copy import copy
from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.configs.resources import Resource
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record

SHARE: Final = 0.3
"""Share of images with a changed configuration."""
BROKERS_SHARE: Final = 0.4
"""Share of changes of a broker, or of all brokers, among the changes of configurations."""
SIZES: Final = (None, 1 << 20, 1 << 21)
DEFAULT: Final = 1 << 30
"""The default of segment.bytes, as in Kafka."""
_OTHER: Final = "77"
"""Another broker, whose size counts for no log here."""
_ALL: Final = ""
"""The name of the resource of all brokers."""
_Key = tuple[Resource, str]
_NAMES: Final = {Resource.TOPIC: "segment.bytes", Resource.BROKER: "log.segment.bytes"}


class SegmentSizes:
    """The sizes of segments in a changing image."""

    def __init__(self, random: Random, broker: int) -> None:
        self._random = copy(random)
        self._broker = (Resource.BROKER, str(broker))
        self._wanted: dict[_Key, int] = {}
        """By resource, the size that its configuration names."""

    def change(self, image: MetadataImage) -> tuple[Record, ...]:
        """Return at times the record of another size for a topic, a broker or all brokers."""
        if self._random.random() >= SHARE:
            return ()
        topics = [(Resource.TOPIC, name) for name in sorted(image.topic_ids)]
        is_of_brokers = not topics or self._random.random() < BROKERS_SHARE
        others = [self._broker, (Resource.BROKER, _ALL), (Resource.BROKER, _OTHER)]
        key = self._random.choice(others if is_of_brokers else topics)
        size = self._random.choice(SIZES)
        self._wanted.pop(key, None)
        if size is not None:
            self._wanted[key] = size
        record = records.ConfigRecord(
            resource_type=key[0],
            resource_name=key[1],
            name=_NAMES[key[0]],
            value=None if size is None else str(size),
        )
        return (record,)

    def compare(
        self, image: MetadataImage, told: Mapping[LogId, int], logs: Iterable[LogId]
    ) -> None:
        """Compare the size that the storage was told for each log.

        Raises:
            DifferenceError: the size of a log is not that of its topic.
        """
        for log in sorted(logs):
            own = (Resource.TOPIC, image.topics[log.topic_id].name)
            keys = (own, self._broker, (Resource.BROKER, _ALL))
            wanted = next((self._wanted[key] for key in keys if key in self._wanted), DEFAULT)
            same(f"the size of the segments of {log}", told.get(log), wanted)
