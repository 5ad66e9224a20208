"""Tell where an election may be unclean: unclean.leader.election.enable of topic and cluster.

An unclean election loses the records that only the former ISR has. The value comes from the topic,
else from the values of all brokers; the default is false.
"""

from typing import Final

from immutables import Map

from kraftproof.node.core.configs.resources import ALL_BROKERS, Resource
from kraftproof.node.core.controller.partitions.change import Election
from kraftproof.node.core.metadata.image import MetadataImage, Partition
from kraftproof.node.wire.records.metadata import ConfigRecord

UNCLEAN: Final = "unclean.leader.election.enable"
_ALL_BROKERS: Final = (Resource.BROKER, ALL_BROKERS)


def election_of(image: MetadataImage, partition: Partition) -> Election:
    """Return the kind of election that a partition's topic allows."""
    topic = image.topics[partition.topic_id].name
    own = image.configs.get((Resource.TOPIC, topic), Map()).get(UNCLEAN)
    text = image.configs.get(_ALL_BROKERS, Map()).get(UNCLEAN) if own is None else own
    is_allowed = text is not None and text.strip().lower() == "true"
    return Election.UNCLEAN if is_allowed else Election.USUAL


def allows_more(record: object) -> bool:
    """Return whether a record may newly allow unclean elections."""
    return (
        isinstance(record, ConfigRecord)
        and record.name == UNCLEAN
        and record.resource_type in {Resource.TOPIC, Resource.BROKER}
    )
