"""An accepted login without a credential, or with a token out of its time, goes red."""

import pytest

from kraftproof.cluster.simulated.invariants.security.logins import wrong_login
from kraftproof.node.core.base.types import Instant, Monotonic, WallClock
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.principal import Principal
from kraftproof.node.wire.records import metadata as records

USER = records.UserScramCredentialRecord(name="u", mechanism=1, iterations=4096)
TOKEN = records.DelegationTokenRecord(
    owner="User:o", issue_timestamp=0, max_timestamp=900, expiration_timestamp=500, token_id="t"
)
KNOWN = apply_all(EMPTY_IMAGE, (USER, TOKEN))


def at(wall_ms):
    return Instant(Monotonic(0), WallClock(wall_ms * 1_000_000))


def user(name):
    return Principal(type="User", name=name)


def owner(name="o"):
    return Principal(type="User", name=name, token_authenticated=True)


@pytest.mark.parametrize(
    ("name", "principal", "images", "wall_ms", "wrong"),
    [
        ("u", user("u"), (KNOWN, KNOWN), 1, None),
        ("u", user("u"), (KNOWN, EMPTY_IMAGE), 1, None),
        ("u", user("u"), (EMPTY_IMAGE, EMPTY_IMAGE), 1, "no credential"),
        ("u", user("v"), (KNOWN, KNOWN), 1, "the principal is v"),
        ("t", owner(), (KNOWN, KNOWN), 500, None),
        ("t", owner(), (KNOWN, KNOWN), 501, "the token ended at 500"),
        ("t", owner(), (KNOWN, EMPTY_IMAGE), 1, "no such token"),
        ("t", owner("t"), (KNOWN, KNOWN), 1, "the principal is User:t"),
    ],
)
def test_each_wrong_login_is_named(name, principal, images, wall_ms, wrong):
    left_ms = 500 - wall_ms if name == "t" else 0
    found = wrong_login(name, principal, images, at(wall_ms), left_ms)
    assert (found is None) == (wrong is None)
    assert wrong is None or wrong in found


@pytest.mark.parametrize(
    ("lifetime_ms", "is_wrong"), [(399, False), (400, False), (401, True), (0, True)]
)
def test_a_session_ends_with_its_token(lifetime_ms, is_wrong):
    found = wrong_login("t", owner(), (KNOWN, KNOWN), at(100), lifetime_ms)
    assert (found is not None) == is_wrong
    assert not is_wrong or "and the token 400 ms" in found
