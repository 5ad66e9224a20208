"""QuotaDescriptionsAreTrue: DescribeClientQuotas shows what its filter selects, nothing else."""

import pytest

from kraftproof.cluster.simulated.invariants.security.quota_answers import QuotaDescriptionsAreTrue
from kraftproof.node.core.broker.quota_answers import describe_client_quotas
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    describe_client_quotas_request,
    describe_client_quotas_response,
)
from kraftproof.node.wire.records.metadata import ClientQuotaRecord, EntityData
from tests.cluster.simulated.invariants.security.answers import violations_of

NAMED, DEFAULT, EITHER = 0, 1, 2


def quota(value, key="producer_byte_rate", **names):
    entity = tuple(
        EntityData(entity_type=kind.replace("_", "-"), entity_name=name)
        for kind, name in names.items()
    )
    return ClientQuotaRecord(entity=entity, key=key, value=value)


QUOTAS = (
    quota(1.0, user="ann"),
    quota(2.0, user=None),
    quota(3.0, user="ann", client_id="c"),
    quota(4.0, user="ann", client_id=None),
    quota(5.0, client_id="c"),
    quota(6.0, key="consumer_byte_rate", user="ann"),
    quota(7.0, key="connection_creation_rate", ip="10.0.0.1"),
)
IMAGE = apply_all(EMPTY_IMAGE, QUOTAS)


def asked(*components, strict=False):
    module = describe_client_quotas_request
    return module.DescribeClientQuotasRequest(
        components=tuple(
            module.ComponentData(entity_type=kind, match_type=how, match=match)
            for kind, how, match in components
        ),
        strict=strict,
    )


def judged(request, answer, image=IMAGE):
    return violations_of(QuotaDescriptionsAreTrue(), request, answer, image)


ANN, ANY_USER = ("user", NAMED, "ann"), ("user", EITHER, None)
LEGAL = (
    asked(),
    asked(ANN),
    asked(ANN, strict=True),
    asked(("user", DEFAULT, None)),
    asked(ANY_USER, ("client-id", DEFAULT, None), strict=True),
    asked(ANY_USER, ("client-id", EITHER, None)),
    asked(("client-id", NAMED, "c"), strict=True),
    asked(("ip", EITHER, None)),
)
ILLEGAL = (
    asked(ANN, ANN),
    asked(("group", NAMED, "g")),
    asked(("user", NAMED, None)),
    asked(("user", DEFAULT, "ann")),
    asked(("user", 3, None)),
    asked(ANN, ("ip", EITHER, None)),
)


@pytest.mark.parametrize("request_", LEGAL)
def test_the_quotas_of_the_filter_are_right_and_all_others_wrong(request_):
    right = describe_client_quotas(IMAGE, request_)
    assert judged(request_, right) == []
    for left_out in QUOTAS:
        image = apply_all(EMPTY_IMAGE, tuple(one for one in QUOTAS if one is not left_out))
        shorter = describe_client_quotas(image, request_)
        assert (judged(request_, shorter) == []) == (shorter == right)


def test_another_value_is_wrong():
    changed = apply_all(IMAGE, (quota(9.0, user="ann"),))
    assert judged(asked(ANN), describe_client_quotas(changed, asked(ANN))) != []


@pytest.mark.parametrize("request_", ILLEGAL)
def test_an_illegal_filter_is_refused_and_a_legal_one_is_not(request_):
    refusal = describe_client_quotas(IMAGE, request_)
    assert refusal.error_code != ErrorCode.NONE
    assert judged(request_, refusal) == []
    assert judged(asked(ANN), refusal) != []
    whole = describe_client_quotas_response.DescribeClientQuotasResponse(entries=())
    assert judged(request_, whole) != []


def test_a_refusal_for_another_reason_is_left_to_others():
    module = describe_client_quotas_response
    denied = module.DescribeClientQuotasResponse(
        error_code=ErrorCode.CLUSTER_AUTHORIZATION_FAILED, entries=None
    )
    assert judged(asked(ANN), denied) == judged(ILLEGAL[0], denied) == []
