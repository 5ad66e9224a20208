"""All cases, in the order in which both systems get them. No tests here."""

from typing import Final

from tests.kafka.differential import (
    acls,
    brokers,
    clients,
    credentials,
    data,
    features,
    partitions,
    quorum,
    resources,
    topics,
)
from tests.kafka.differential.case import Case

CASES: Final[tuple[Case, ...]] = (
    *brokers.JOINING,
    *features.FEATURES,
    *features.FEATURES_OF_KAFKA,
    *topics.CREATING,
    *topics.VALIDATING,
    *topics.CONFIGURATIONS,
    *data.PRODUCING,
    *data.READING,
    *data.PRODUCERS,
    *partitions.CHANGING,
    *partitions.NODES,
    *clients.API_VERSIONS,
    *clients.METADATA,
    *clients.DESCRIBE_CLUSTER,
    *clients.DESCRIBE_CONFIGS,
    *resources.QUOTAS,
    *resources.PAGES,
    *resources.RESOURCES,
    *brokers.REGISTRATION,
    *brokers.HEARTBEATS,
    *quorum.FETCH,
    *quorum.VOTES,
    *quorum.EPOCHS,
    *quorum.DESCRIBING,
    *quorum.SNAPSHOTS,
    *quorum.ENVELOPES,
    *acls.ACLS,
    *topics.DELETING,
    *credentials.CREDENTIALS,
    *credentials.TOKENS,
    *credentials.LATE_LOGINS,
    *brokers.LEAVING,
)
