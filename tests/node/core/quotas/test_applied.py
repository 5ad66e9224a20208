"""The precedence of quotas: which entity limits a client, and who shares its budget (KIP-55)."""

import pytest
from immutables import Map

from kraftproof.node.core.metadata.quotas import CLIENT_ID, USER, Quotas, entity
from kraftproof.node.core.quotas.applied import applied_quota

KEY = "producer_byte_rate"
LEVELS = [
    ({USER: "u", CLIENT_ID: "c"}, ("u", "c")),
    ({USER: "u", CLIENT_ID: None}, ("u", "c")),
    ({USER: "u"}, ("u", None)),
    ({USER: None, CLIENT_ID: "c"}, ("u", "c")),
    ({USER: None, CLIENT_ID: None}, ("u", "c")),
    ({USER: None}, ("u", None)),
    ({CLIENT_ID: "c"}, (None, "c")),
    ({CLIENT_ID: None}, (None, "c")),
]
"""The entities in Kafka's order, each with the clients that share its budget."""


def quotas(*places: int, key: str = KEY) -> Quotas:
    """The quota of each named level is its place, counted from 1."""
    return Quotas(
        Map({entity(*LEVELS[place][0].items()): Map({key: place + 1}) for place in places})
    )


@pytest.mark.parametrize("first", range(len(LEVELS)))
def test_the_most_specific_entity_decides(first: int) -> None:
    found = applied_quota(quotas(*range(first, len(LEVELS))), KEY, "u", "c")
    assert found is not None
    assert (found.bound, found.shared_by) == (first + 1, LEVELS[first][1])


def test_a_quota_of_another_client_or_key_does_not_apply() -> None:
    assert applied_quota(quotas(0, 2, 6), KEY, "v", "d") is None
    assert applied_quota(quotas(*range(8), key="consumer_byte_rate"), KEY, "u", "c") is None
    assert applied_quota(quotas(), KEY, "u", "c") is None


def test_a_quota_that_no_request_can_set_is_ignored() -> None:
    zero = Quotas(Map({entity(*LEVELS[6][0].items()): Map({KEY: 0.0})}))
    assert applied_quota(zero, KEY, "u", "c") is None


def test_each_key_has_its_own_precedence() -> None:
    """A specific entity without the key leaves the decision to the next entity with the key."""
    both = Quotas(Map({**quotas(0, key="consumer_byte_rate").by_entity, **quotas(5).by_entity}))
    found = applied_quota(both, KEY, "u", "c")
    assert found is not None
    assert found.bound == 6
