"""DescribeClientQuotas: filters, defaults and refusals (631-88)."""

import pytest

from kraftproof.node.core.broker.quota_answers import describe_client_quotas
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import describe_client_quotas_request as module
from kraftproof.node.wire.records import metadata as records

pytestmark = pytest.mark.requirement("631-88")
EXACT, DEFAULT, ANY = range(3)
ENTITIES = (
    (("user", "alice"),),
    (("user", None),),
    (("client-id", "app"), ("user", "alice")),
    (("client-id", None), ("user", "alice")),
    (("client-id", "app"),),
    (("ip", "10.0.0.1"),),
)
IMAGE = apply_all(
    EMPTY_IMAGE,
    tuple(
        records.ClientQuotaRecord(
            entity=tuple(records.EntityData(entity_type=k, entity_name=v) for k, v in named),
            key=key,
            value=float(place + 1),
        )
        for place, named in enumerate(ENTITIES)
        for key in ("request_percentage", "consumer_byte_rate")
    ),
)


def described(*components: tuple[str, int, str | None], strict: bool = False):
    parts = tuple(
        module.ComponentData(entity_type=kind, match_type=match, match=name)
        for kind, match, name in components
    )
    request = module.DescribeClientQuotasRequest(components=parts, strict=strict)
    return describe_client_quotas(IMAGE, request)


def entities(*components: tuple[str, int, str | None], strict: bool = False):
    answer = described(*components, strict=strict)
    assert answer.error_code == ErrorCode.NONE
    return {
        tuple((part.entity_type, part.entity_name) for part in entry.entity)
        for entry in answer.entries
    }


@pytest.mark.parametrize(
    ("components", "strict", "found"),
    [
        ((), False, range(6)),
        ((), True, ()),
        ((("user", EXACT, "alice"),), False, (0, 2, 3)),
        ((("user", EXACT, "alice"),), True, (0,)),
        ((("user", DEFAULT, None),), False, (1,)),
        ((("user", ANY, None),), False, (0, 1, 2, 3)),
        ((("user", ANY, None),), True, (0, 1)),
        ((("user", EXACT, "alice"), ("client-id", DEFAULT, None)), True, (3,)),
        ((("user", EXACT, "alice"), ("client-id", ANY, None)), True, (2, 3)),
        ((("client-id", EXACT, "app"),), False, (2, 4)),
        ((("ip", ANY, None),), False, (5,)),
        ((("user", EXACT, "nobody"),), False, ()),
    ],
)
def test_a_filter_finds_its_entities(components, strict: bool, found) -> None:
    assert entities(*components, strict=strict) == {ENTITIES[place] for place in found}


def test_an_entry_has_all_values_in_order() -> None:
    (entry,) = described(("ip", ANY, None)).entries
    assert [(value.key, value.value) for value in entry.values] == [
        ("consumer_byte_rate", 6.0),
        ("request_percentage", 6.0),
    ]


@pytest.mark.parametrize(
    ("components", "error"),
    [
        ((("", EXACT, "a"),), ErrorCode.INVALID_REQUEST),
        ((("user", EXACT, "a"), ("user", ANY, None)), ErrorCode.INVALID_REQUEST),
        ((("host", ANY, None),), ErrorCode.UNSUPPORTED_VERSION),
        ((("user", EXACT, None),), ErrorCode.INVALID_REQUEST),
        ((("user", DEFAULT, "a"),), ErrorCode.INVALID_REQUEST),
        ((("user", ANY, "a"),), ErrorCode.INVALID_REQUEST),
        ((("user", 3, None),), ErrorCode.INVALID_REQUEST),
        ((("user", ANY, None), ("ip", ANY, None)), ErrorCode.INVALID_REQUEST),
        ((("ip", ANY, None), ("client-id", DEFAULT, None)), ErrorCode.INVALID_REQUEST),
    ],
)
def test_an_illegal_filter_is_refused_as_a_whole(components, error: ErrorCode) -> None:
    answer = described(*components)
    assert (answer.error_code, answer.entries) == (error, None)
    assert answer.error_message
