"""AlterClientQuotas as the specification judges it: the node's decisions on drawn requests."""

from random import Random

import pytest

from kraftproof.checkers.kraft.specification.facts import Facts
from kraftproof.checkers.kraft.specification.specification import Specification
from kraftproof.cluster.systems.reference.requests import quotas
from kraftproof.cluster.systems.reference.requests.vocabulary import Vocabulary
from kraftproof.node.core.controller.quotas import alter_client_quotas
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.messages import alter_client_quotas_request as module
from kraftproof.node.wire.messages import alter_client_quotas_response as answers

SPECIFICATION = Specification(Facts(cluster_id="c"))
BOB = module.EntityData(entity_type="client-id", entity_name="bob")


def wrong(request: module.AlterClientQuotasRequest, outcome) -> str | None:
    asked, told = SPECIFICATION.rows((request, outcome.reply))
    written = SPECIFICATION.rows(outcome.records)
    empty = SPECIFICATION.empty
    return SPECIFICATION.wrong_answer(empty, asked, written, told) or SPECIFICATION.wrong_records(
        empty, 5, asked, written
    )


@pytest.mark.parametrize("seed", range(0, 4000, 1000))
def test_the_node_decides_as_specified(seed: int) -> None:
    vocabulary = Vocabulary(cluster_id="c", brokers=(1,))
    requests = [quotas.alteration(Random(each), vocabulary) for each in range(seed, seed + 1000)]
    outcomes = [alter_client_quotas(EMPTY_IMAGE, request) for request in requests]
    found = [wrong(*pair) for pair in zip(requests, outcomes, strict=True)]
    assert found == [None] * 1000


def test_an_entity_with_a_part_twice_is_not_the_entity_with_the_part_once() -> None:
    rate = module.OpData(key="producer_byte_rate", value=1e9)
    entries = (
        module.EntryData(entity=(BOB,), ops=(rate,)),
        module.EntryData(entity=(BOB, BOB), ops=(rate,)),
    )
    request = module.AlterClientQuotasRequest(entries=entries)
    outcome = alter_client_quotas(EMPTY_IMAGE, request)
    reply = outcome.reply
    assert isinstance(reply, answers.AlterClientQuotasResponse)
    assert [entry.error_code for entry in reply.entries] == [0, 42]
    assert wrong(request, outcome) is None
