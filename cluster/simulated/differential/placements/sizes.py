"""Change segment.bytes of topics beside their partitions, and compare what the storage was told.

A change of configurations may come in one image with changes of any partitions.
"""

from collections.abc import Iterable, Mapping
from copy import copy
from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.configs.resources import Resource
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.records import metadata as records

SHARE: Final = 0.3
"""Share of images with a changed configuration."""
SIZES: Final = (None, 1 << 20, 1 << 21)
DEFAULT: Final = 1 << 30
"""The default of segment.bytes, as in Kafka."""
_NAME: Final = "segment.bytes"


class SegmentSizes:
    """The sizes of segments in a changing image."""

    def __init__(self, random: Random) -> None:
        self._random = copy(random)
        self._wanted: dict[str, int] = {}
        """By topic, the size that its configuration names."""

    def change(self, image: MetadataImage) -> MetadataImage:
        """Return the image, at times with another size for a topic."""
        names = sorted(image.topic_ids)
        if not names or self._random.random() >= SHARE:
            return image
        name, size = self._random.choice(names), self._random.choice(SIZES)
        self._wanted[name] = DEFAULT if size is None else size
        record = records.ConfigRecord(
            resource_type=Resource.TOPIC,
            resource_name=name,
            name=_NAME,
            value=None if size is None else str(size),
        )
        return apply_all(image, (record,))

    def compare(
        self, image: MetadataImage, told: Mapping[LogId, int], logs: Iterable[LogId]
    ) -> None:
        """Compare the size that the storage was told for each log.

        Raises:
            DifferenceError: the size of a log is not that of its topic.
        """
        for log in sorted(logs):
            wanted = self._wanted.get(image.topics[log.topic_id].name, DEFAULT)
            same(f"the size of the segments of {log}", told.get(log), wanted)
