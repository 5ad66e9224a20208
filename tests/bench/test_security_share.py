"""The share of security in a profile: what enters its files, and only the own time of the door."""

import pytest

from bench.security_share import share_of, shares

CORE, DOOR = ("node/core/x.py", 1, "step"), ("/k/node/core/controller/authorized.py", 1, "decide")
RIGHT, NAMES = ("/k/node/core/security/rights.py", 1, "allows"), ("/usr/lib/re.py", 1, "match")


def test_time_in_files_of_security_and_below_counts_once() -> None:
    rows = {
        CORE: (1, 1, 6.0, 10.0, {}),
        DOOR: (1, 1, 1.0, 4.0, {CORE: (1, 1, 1.0, 4.0)}),
        RIGHT: (2, 2, 2.0, 3.0, {DOOR: (1, 1, 2.0, 3.0), RIGHT: (1, 1, 0.5, 0.5)}),
        NAMES: (1, 1, 1.0, 1.0, {RIGHT: (1, 1, 1.0, 1.0)}),
    }
    assert share_of(rows) == pytest.approx(0.4), "1 s of the door and 3 s of the rights, of 10 s"


@pytest.mark.simulation
def test_a_run_without_security_spends_little_on_security() -> None:
    (share,) = shares(1, 5.0)
    assert 0 < share < 0.1
