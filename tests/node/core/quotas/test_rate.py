"""The measured rate: windows, the wait for a bound, and what no longer counts."""

import pytest

from kraftproof.node.core.base.config import QuotaPolicy
from kraftproof.node.core.base.types import Monotonic
from kraftproof.node.core.quotas.rate import LONGEST_MS, WindowedRate
from kraftproof.node.wire.codec import encode_response
from kraftproof.node.wire.messages import produce_response

S = 1_000_000_000
POLICY = QuotaPolicy(windows=11, window_ns=S)


def at(seconds: float) -> Monotonic:
    return Monotonic(int(seconds * S))


def test_a_new_client_may_use_up_the_budget_of_all_windows_but_one() -> None:
    rate = WindowedRate(POLICY)
    rate.record(1000, at(5))
    assert rate.wait_ms(100, at(5)) == 0
    rate.record(1, at(5))
    assert rate.wait_ms(100, at(5)) == 10


def test_the_wait_brings_the_rate_down_to_the_bound() -> None:
    rate = WindowedRate(POLICY)
    rate.record(1500, at(0))
    assert rate.wait_ms(100, at(0)) == 5000
    assert rate.wait_ms(100, at(2.5)) == 4500
    rate.record(0, at(10.9))
    assert rate.wait_ms(100, at(10.9)) == 4100
    assert rate.wait_ms(100, at(11)) == 0


def test_a_wait_fits_into_an_answer() -> None:
    rate = WindowedRate(POLICY)
    rate.record(100 << 20, at(0))
    wait_ms = rate.wait_ms(1, at(0))
    answer = produce_response.ProduceResponse(throttle_time_ms=wait_ms)
    assert wait_ms == LONGEST_MS
    assert encode_response(answer, 9)


def test_a_value_can_be_taken_back() -> None:
    rate = WindowedRate(POLICY)
    rate.record(2000, at(0))
    rate.record(-2000, at(0.1))
    assert rate.wait_ms(100, at(0.1)) == 0


def test_a_rate_is_idle_once_all_windows_have_passed() -> None:
    rate = WindowedRate(POLICY)
    rate.record(5, at(0))
    assert not rate.is_idle(at(10.9))
    assert rate.is_idle(at(11))


@pytest.mark.parametrize("windows", [2, 3, 11])
def test_a_steady_client_at_the_bound_never_waits(windows: int) -> None:
    rate = WindowedRate(QuotaPolicy(windows=windows, window_ns=S))
    for step in range(1, 400):
        rate.record(10, at(step / 10))
        assert rate.wait_ms(100 * (windows + 1) / windows, at(step / 10)) == 0, step


@pytest.mark.parametrize("windows", [2, 4, 11])
def test_a_client_that_waits_as_told_stays_within_the_bound(windows: int) -> None:
    """However fast the client sends, its rate over a long time is the bound and one burst."""
    rate, now_ms, total = WindowedRate(QuotaPolicy(windows=windows, window_ns=S)), 0, 0
    while now_ms < 120_000:
        rate.record(60, at(now_ms / 1000))
        total += 60
        now_ms += 1 + rate.wait_ms(100, at(now_ms / 1000))
    assert 100 * 115 <= total <= 100 * 120 * windows / (windows - 1) + 100 * windows
