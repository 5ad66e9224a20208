"""Quotas: rates, clients without a quota, muted connections, needless waits."""

import pytest
from msgspec.structs import replace

from kraftproof.checkers.models.administration.quotas import Quotas
from kraftproof.checkers.options import CheckOptions
from tests.checkers.models.administration.test_single_writer import KEY, operation

S = 1_000_000_000
RATE = 1000


def quota(rate=RATE, entity="client", key="producer_byte_rate"):
    return {"entity": entity, "quota": key, "rate": rate}


def limited(*quotas):
    quotas = list(quotas) or [quota()]
    return (
        own(0, "set", 0, 1, {"quotas": quotas}, {"outcome": "set"}),
        own(1, "confirm", 2, 3, None, {"quotas": quotas}),
    )


def own(index, f, begin, end, asked, told, process=7):
    one = operation(index, f, int(begin * S), int(end * S), asked, told)
    return replace(one, process=process)


def send(index, begin, end, size, throttle_ms=0, f="send", process=7):
    told = {"bytes": size, "throttle_ms": throttle_ms}
    return own(index, f, begin, end, {"size": size}, told, process)


def checks(*operations):
    model = Quotas()
    for one in operations:
        model.validate(one)
    return [finding.check for finding in model.check(KEY, operations, CheckOptions())]


def burst(size, count, first=4.0, gap=0.1):
    return [
        send(10 + place, first + gap * place, first + gap * (place + 0.5), size)
        for place in range(count)
    ]


def test_a_client_may_use_up_its_windows_at_once_and_no_more():
    assert checks(*limited(), *burst(1000, 11)) == []
    assert checks(*limited(), *burst(1000, 30)) == ["quotas/rate"]


def test_a_connection_is_not_judged_before_its_broker_knows_the_quota():
    settings, _ = limited()
    assert checks(settings, *burst(1000, 30)) == []


def test_a_client_without_a_quota_never_waits():
    assert checks(send(1, 1, 2, 100_000)) == []
    assert checks(send(1, 1, 2, 100_000, 5)) == ["quotas/free"]
    of_reads = quota(key="consumer_byte_rate")
    assert checks(*limited(of_reads), send(5, 4, 5, 100, 5)) == ["quotas/free"]


def test_the_most_specific_quota_decides():
    ample = quota(10**9, "user+client")
    assert checks(*limited(quota(), ample), *burst(1000, 60)) == []
    assert checks(*limited(quota(), ample), *burst(1000, 30), send(99, 9, 10, 10, 5)) == [
        "quotas/needless"
    ]


def test_a_client_that_has_not_used_up_its_budget_does_not_wait():
    waits = send(99, 9, 10, 1000, 500)
    assert checks(*limited(), *burst(1000, 4), waits) == ["quotas/needless"]
    assert checks(*limited(), *burst(1000, 9), waits) == []


@pytest.mark.parametrize(("at", "found"), [(12.0, ["quotas/muted"]), (14.2, [])])
def test_no_answer_comes_while_a_connection_is_muted(at, found):
    throttled = send(98, 9.5, 10, 1000, 5000)
    assert checks(*limited(), *burst(1000, 9), throttled, send(99, 10.1, at, 100)) == found
    other = send(99, 10.1, at, 100, process=8)
    assert checks(*limited(), *burst(1000, 9), throttled, other) == []


def test_a_broker_describes_the_quotas_as_they_were_set():
    settings, _ = limited()
    wrong = own(1, "confirm", 2, 3, None, {"quotas": [quota(2 * RATE)]})
    assert checks(settings, wrong) == ["quotas/known"]
    assert checks(settings, own(1, "confirm", 2, 3, None, {"quotas": []})) == []
