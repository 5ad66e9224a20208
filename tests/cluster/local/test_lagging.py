"""A controller of real processes that was away too long comes back by the leader's snapshot."""

import json

import pytest

from tests.support.lagging import (
    SMALL_SNAPSHOTS,
    run_with_a_lagging_controller,
    shows_catching_up,
)


@pytest.mark.long
@pytest.mark.slow
@pytest.mark.requirement("631-34")
def test_a_killed_controller_catches_up_by_snapshot(tmp_path, capsys):
    result = run_with_a_lagging_controller("local", "kill", tmp_path)
    shows_catching_up(result, capsys)
    run = result.directory.path
    told = json.loads((run / "run.json").read_text())["options"]["node_config"]
    assert told == dict(SMALL_SNAPSHOTS)
    for node in range(1, 5):
        text = (run / "nodes" / str(node) / "server.properties").read_text()
        assert all(f"{key}={value}\n" in text for key, value in SMALL_SNAPSHOTS)
