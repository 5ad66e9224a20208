"""The time-outs of a node: the defaults of the KIPs, and the keys that replace them."""

import pytest

from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.core.configs.broker_keys import DEFINITIONS
from tests.node.properties.test_config import parse

DEFAULTS_MS = {
    "controller.quorum.election.timeout.ms": ("election_ns", 1000),
    "controller.quorum.election.backoff.max.ms": ("election_backoff_max_ns", 1000),
    "controller.quorum.fetch.timeout.ms": ("fetch_ns", 2000),
    "controller.quorum.request.timeout.ms": ("request_ns", 2000),
    "controller.quorum.retry.backoff.ms": ("retry_backoff_ns", 20),
    "controller.quorum.retry.backoff.max.ms": ("retry_backoff_max_ns", 1000),
    "broker.heartbeat.interval.ms": ("heartbeat_interval_ns", 3000),
    "broker.session.timeout.ms": ("session_ns", 18000),
    "initial.broker.registration.timeout.ms": ("initial_registration_ns", 60000),
}
pytestmark = [pytest.mark.requirement(row) for row in ("631-81", "631-82", "631-83")]


def test_the_time_outs_are_the_kips_unless_set() -> None:
    expected = {field: milliseconds(default) for field, default in DEFAULTS_MS.values()}
    assert parse().node.timeouts == Timeouts() == Timeouts(**expected)


@pytest.mark.parametrize("key", DEFAULTS_MS)
def test_each_time_out_has_its_key(key: str) -> None:
    field, default = DEFAULTS_MS[key]
    changed = parse({key: str(default + 7)}).node.timeouts
    assert changed == Timeouts(**{field: milliseconds(default + 7)})


@pytest.mark.parametrize("key", sorted(DEFAULTS_MS.keys() & DEFINITIONS.keys()))
def test_a_description_of_the_broker_names_the_default_that_is_used(key: str) -> None:
    _, default = DEFAULTS_MS[key]
    assert DEFINITIONS[key].default == str(default)
