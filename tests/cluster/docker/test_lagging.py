"""A controller in a container that was away too long comes back by the leader's snapshot."""

import pytest

from tests.support.lagging import run_with_a_lagging_controller, shows_catching_up
from tests.support.long_cases import long

pytestmark = [pytest.mark.docker, pytest.mark.slow]


@pytest.mark.requirement("631-34")
@pytest.mark.parametrize("kind", [long("kill"), long("partition")])
def test_a_controller_that_was_away_catches_up_by_snapshot(kind, tmp_path, capsys):
    shows_catching_up(run_with_a_lagging_controller("docker", kind, tmp_path), capsys)
