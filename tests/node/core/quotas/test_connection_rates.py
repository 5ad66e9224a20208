"""Rates of connections by address: own quota or default, notations, and waits (KIP-612)."""

from msgspec.structs import replace

from kraftproof.node.core.base.config import QuotaPolicy
from kraftproof.node.core.base.types import Monotonic
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.quotas.connection_rates import ConnectionRates
from kraftproof.node.wire.records import metadata as records

S = 1_000_000_000
POLICY = QuotaPolicy(windows=11, window_ns=S)


def rates_with(*bounds: tuple[str | None, float]) -> ConnectionRates:
    quotas = EMPTY_IMAGE.quotas
    for name, value in bounds:
        part = records.EntityData(entity_type="ip", entity_name=name)
        record = records.ClientQuotaRecord(
            entity=(part,), key="connection_creation_rate", value=value
        )
        quotas = quotas.after(record)
    rates = ConnectionRates(POLICY)
    rates.follow(replace(EMPTY_IMAGE, quotas=quotas))
    return rates


def waits(rates: ConnectionRates, host: str, count: int, at: float = 0) -> list[int]:
    return [rates.wait_ms(host, Monotonic(int(at * S))) for _ in range(count)]


def test_an_address_may_use_up_the_budget_of_its_windows_and_then_waits() -> None:
    rates = rates_with(("10.0.0.1", 2))
    assert waits(rates, "10.0.0.1", 20) == [0] * 20
    assert waits(rates, "10.0.0.1", 3) == [500, 500, 500]


def test_a_refused_connection_does_not_count() -> None:
    rates = rates_with(("10.0.0.1", 2))
    waits(rates, "10.0.0.1", 500)
    assert waits(rates, "10.0.0.1", 1, at=11) == [0]


def test_a_wait_is_at_most_one_window() -> None:
    rates = rates_with(("10.0.0.1", 0.1))
    assert waits(rates, "10.0.0.1", 2) == [0, 1000]


def test_the_own_quota_counts_before_the_default_and_others_are_free() -> None:
    rates = rates_with(("10.0.0.1", 100), (None, 1))
    assert waits(rates, "10.0.0.1", 20) == [0] * 20
    assert waits(rates, "10.0.0.2", 11)[-1] > 0
    assert waits(rates, "10.0.0.3", 10) == [0] * 10
    assert waits(rates_with(("10.0.0.1", 1)), "10.0.0.2", 50) == [0] * 50


def test_each_notation_of_an_address_is_the_same_address() -> None:
    rates = rates_with(("::ffff:10.0.0.1", 1), ("2001:db8:0:0::1", 1))
    assert waits(rates, "10.0.0.1", 11)[-1] > 0
    assert waits(rates, "2001:db8::1", 11)[-1] > 0


def test_quotas_of_users_and_other_keys_slow_no_connection() -> None:
    rates = ConnectionRates(POLICY)
    part = records.EntityData(entity_type="user", entity_name=None)
    record = records.ClientQuotaRecord(entity=(part,), key="request_percentage", value=1)
    rates.follow(replace(EMPTY_IMAGE, quotas=EMPTY_IMAGE.quotas.after(record)))
    assert waits(rates, "10.0.0.1", 50) == [0] * 50


def test_addresses_that_have_gone_are_forgotten() -> None:
    rates = rates_with((None, 1))
    for number in range(100):
        waits(rates, f"10.0.0.{number}", 1)
    assert len(rates._rates) == 100
    waits(rates, "10.0.1.1", 1, at=12)
    assert len(rates._rates) == 1
