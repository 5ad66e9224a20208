"""`kraftproof explain` of a run that its nodes' logs make invalid."""

import json

import pytest
import typer
from typer.testing import CliRunner

from kraftproof.checkers.history.tables import read_table, write_table
from kraftproof.commands.explain import explain
from tests.checkers.spark.test_engines_agree import TOPIC_LOG, topic_events, write_run

S = 1_000_000_000
app = typer.Typer()
app.command()(explain)


@pytest.fixture
def two_leaders(tmp_path):
    """A run whose history is in order; node 2 turns leader in node 1's epoch."""
    run = write_run(tmp_path / "run", "topics", topic_events(lost=False), TOPIC_LOG)
    rows = read_table(run / "tables", "trace").to_pylist()
    rows.append(rows[1] | {"seq": 1, "time": 7 * S, "role": "leader"})
    write_table(run / "tables", "trace", rows)
    return run


def test_it_says_which_check_and_shows_the_nodes_around_the_moment(two_leaders):
    result = CliRunner().invoke(app, [str(two_leaders)])
    assert result.exit_code == 1, result.output
    first, second, *rest = result.output.splitlines()
    assert first.startswith("invalid ")
    assert second.startswith("  kraft/one-leader-an-epoch")
    (heading,) = [line for line in rest if "node 1" in line and "node 2" in line]
    after = rest[rest.index(heading) + 1 :]
    assert after[-1].split("s ", 1)[0].strip() == "7.000"
    assert after[-1].count("leader, 1 / 2") == 2


def test_its_json_is_that_of_check(two_leaders):
    result = CliRunner().invoke(app, [str(two_leaders), "--json"])
    assert result.exit_code == 1
    told = json.loads(result.output)
    assert told["verdict"] == "invalid"
    assert "kraft/one-leader-an-epoch" in {one["check"] for one in told["findings"]}


def test_one_key_of_it_is_judged_by_its_own_history(two_leaders):
    result = CliRunner().invoke(app, [str(two_leaders), "--key", "t"])
    assert result.exit_code == 0, result.output
    assert "nothing to explain" in result.output
