"""Drawn quotas leave the limits of a run's clients alone."""

from random import Random

import pytest

from kraftproof.cluster.simulated.inherited.inherited_log import inherited_log
from kraftproof.cluster.systems.reference.requests.quotas import alteration
from kraftproof.cluster.systems.reference.requests.vocabulary import Vocabulary
from kraftproof.node.wire.records.metadata import ClientQuotaRecord

VOCABULARY = Vocabulary(cluster_id="c", brokers=(4, 5))


def requested():
    random = Random(4)
    return [entry.entity for _ in range(3_000) for entry in alteration(random, VOCABULARY).entries]


def inherited():
    batches = [batch for seed in range(600) for batch in inherited_log(Random(seed), (1, 2, 3))]
    written = [record for batch in batches for record in batch.records]
    return [record.entity for record in written if isinstance(record, ClientQuotaRecord)]


@pytest.mark.parametrize("draw", [requested, inherited])
def test_no_drawn_quota_goes_before_the_quota_of_a_client_id(draw):
    """The simulation showed this at seed 4 of the workload quotas: an inherited quota of the
    default user and the default client allowed a limited client everything."""
    entities = [{part.entity_type: part.entity_name for part in entity} for entity in draw()]
    of_default_user = [each for each in entities if "user" in each and each["user"] is None]
    assert len(entities) > 1_000
    assert of_default_user
    assert all(each.get("client-id") for each in of_default_user)
