"""Delegation tokens: times within the maximum, removed tokens, descriptions."""

from kraftproof.checkers.models.administration.tokens import Tokens
from kraftproof.checkers.options import CheckOptions
from tests.checkers.models.administration.test_single_writer import KEY, operation

CREATED = operation(
    0, "create", 10, 20, {"lifetime": 1000}, {"issued": 5000, "expiry": 5500, "maximum": 6000}
)


def checks(*operations):
    model = Tokens()
    for one in operations:
        model.validate(one)
    return [finding.check for finding in model.check(KEY, operations, CheckOptions())]


def renew(expiry, f="renew"):
    return operation(1, f, 30, 40, {"period": 100}, {"expiry": expiry})


def login(accepted, f="login"):
    return operation(5, f, 90, 95, {"token": "t"}, {"accepted": accepted})


def test_a_token_never_outlives_its_maximum():
    assert checks(CREATED, renew(6000)) == []
    assert checks(CREATED, renew(6001)) == ["tokens/maximum"]
    assert checks(CREATED, renew(9000, "expire")) == ["tokens/maximum"]


def test_a_created_token_lives_no_longer_than_asked_for():
    told = {"issued": 5000, "expiry": 5500, "maximum": 6001}
    long = operation(0, "create", 10, 20, {"lifetime": 1000}, told)
    assert checks(long) == ["tokens/maximum"]
    told = {"issued": 5000, "expiry": 6500, "maximum": 6000}
    assert checks(operation(0, "create", 10, 20, {"lifetime": 1000}, told)) == ["tokens/maximum"]


def test_a_removed_token_is_refused_at_the_end():
    removed = operation(1, "remove", 30, 40, {"period": 1}, {"expiry": 5100})
    assert checks(CREATED, login(True, "final")) == []
    assert checks(CREATED, removed, login(False, "final")) == []
    assert checks(CREATED, removed, login(True)) == []
    assert checks(CREATED, removed, login(True, "final")) == ["tokens/latest"]


def test_a_description_shows_the_times_of_a_known_state():
    def shown(expiry):
        return operation(5, "describe", 90, 95, {"token": "t"}, {"expiry": expiry, "maximum": 6000})

    assert checks(CREATED, renew(5900), shown(5500)) == []
    assert checks(CREATED, renew(5900), shown(5900)) == []
    assert checks(CREATED, renew(5900), shown(None)) == []
    assert checks(CREATED, renew(5900), shown(5800)) == ["tokens/known"]
