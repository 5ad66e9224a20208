"""Remember the topics that committed records have named since the last look.

A broker follows only these topics: a look at every topic after each record would cost a cluster of
many topics most of its time. More topics than are worth it, and what may change any topic, such as
a snapshot, count as every topic.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

from kraftproof.node.core.metadata.apply import TOPIC_RESOURCE
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Batch, Record
from kraftproof.node.wire.types import Uuid

BROKER_RESOURCE: Final = 4
"""The resource type of a broker in a ConfigRecord."""
MOST_TOPICS: Final = 1_000
"""Number of remembered topics; more topics count as every topic."""


class ChangedTopics:
    """The topics whose partitions or configurations may differ between two images."""

    __slots__ = ("_is_hidden", "_newest", "_taken", "_topics")

    def __init__(self) -> None:
        self._topics: set[Uuid] | None = None
        """None for every topic."""
        self._taken: MetadataImage | None = None
        """The image of the last look."""
        self._newest: MetadataImage | None = None
        """The image after the last batch."""
        self._is_hidden = False
        """Whether a transaction was open after the last batch: its end may show any topic."""

    def note(
        self, before: MetadataImage, batch: Batch, applied: MetadataImage, shown: MetadataImage
    ) -> None:
        """Remember the topics of a batch.

        Args:
            before: The shown image before the batch; another than the last one, as of a snapshot,
                may differ in every topic.
            batch: The batch.
            applied: The image after the batch.
            shown: The same image, without the records of an open metadata transaction.
        """
        if before is not self._newest or self._is_hidden:
            self._topics = None
        self._newest = shown
        self._is_hidden = applied is not shown
        if self._topics is None or batch.is_control:
            return
        for record in batch.records:
            topics_of = _TOPICS.get(type(record))
            if topics_of is None:
                continue
            named = topics_of(applied, record)
            if named is None or len(self._topics) >= MOST_TOPICS:
                self._topics = None
                return
            self._topics.update(named)

    def take(self, before: MetadataImage | None, image: MetadataImage) -> list[Uuid] | None:
        """Return the topics that may differ between two images, and begin again at the second.

        Returns:
            The topics in ascending order; None for every topic, also if the images are not those
            of the last look and of the last batch.
        """
        is_known = before is self._taken and image is self._newest
        topics, self._topics = self._topics, set()
        self._taken = self._newest = image
        return sorted(topics) if is_known and topics is not None else None


def _own(image: MetadataImage, record: Any) -> tuple[Uuid, ...]:  # noqa: ANN401 - of any topic
    del image
    topic_id: Uuid = record.topic_id
    return (topic_id,)


def _configured(image: MetadataImage, record: records.ConfigRecord) -> tuple[Uuid, ...] | None:
    """Return the topic of a configuration; None for a broker, whose values hold for any topic."""
    if record.resource_type == BROKER_RESOURCE:
        return None
    if record.resource_type != TOPIC_RESOURCE:
        return ()
    topic_id = image.topic_ids.get(record.resource_name)
    return () if topic_id is None else (topic_id,)


def _without_elr(image: MetadataImage, record: records.ClearElrRecord) -> tuple[Uuid, ...] | None:
    """Return the named topic; None for no name, which stands for every topic."""
    if not record.topic_name:
        return None
    topic_id = image.topic_ids.get(record.topic_name)
    return () if topic_id is None else (topic_id,)


_TOPICS: Final[Mapping[type[Record], Callable[[MetadataImage, Any], tuple[Uuid, ...] | None]]] = {
    records.PartitionRecord: _own,
    records.PartitionChangeRecord: _own,
    records.RemoveTopicRecord: _own,
    records.ConfigRecord: _configured,
    records.ClearElrRecord: _without_elr,
}
"""The topics that a record of each type changes; other types change none."""
