"""The bank: totals, overdrafts, and values that it can't read."""

import json

import pytest
import typer
from typer.testing import CliRunner

from kraftproof.commands.check import check

app = typer.Typer()
app.command()(check)
MOVED = {"from": 0, "to": 1, "amount": 5}


def checked(tmp_path, *operations, options=()):
    """What check says of operations (f, input, output) of one process."""
    events = [
        {"process": 0, "type": kind, "f": f, "value": value}
        for f, asked, told in operations
        for kind, value in (("invoke", asked), ("ok", told))
    ]
    path = tmp_path / "h.jsonl"
    path.write_text(
        "".join(json.dumps({"index": place} | event) + "\n" for place, event in enumerate(events))
    )
    return CliRunner().invoke(app, [str(path), *options])


def test_a_transfer_between_two_reads(tmp_path):
    before, after = {"0": 60, "1": 40}, {"0": 55, "1": 45}
    moves = [("read", None, before), ("transfer", MOVED, MOVED), ("read", None, after)]
    assert checked(tmp_path, *moves).output.startswith("valid ")
    moves[2] = ("read", None, {"0": 55, "1": 40})
    result = checked(tmp_path, *moves)
    assert result.exit_code == 1
    assert "its balances come to 95, those of read (operation 0) to 100" in result.output


def test_an_overdraft_is_wrong_unless_it_is_allowed(tmp_path):
    moves = [("transfer", MOVED, MOVED), ("read", None, {"0": -5, "1": 5})]
    result = checked(tmp_path, *moves)
    assert result.exit_code == 1
    assert "account 0 is overdrawn" in result.output
    assert checked(tmp_path, *moves, options=("--model", "bank-overdraft")).exit_code == 0


def test_an_account_that_was_overdrawn_before_anybody_looked(tmp_path):
    """5 left an account that held 3 and came back before the first read."""
    back = {"from": 1, "to": 0, "amount": 5}
    moves = [("transfer", MOVED, None), ("transfer", back, None), ("read", None, {"0": 3, "1": 9})]
    assert checked(tmp_path, *moves).exit_code == 1
    assert checked(tmp_path, *moves, options=("--model", "bank-overdraft")).exit_code == 0


@pytest.mark.parametrize(
    ("operation", "wanted"),
    [
        (("transfer", {"from": 0, "to": 1}, None), "field value: transfer takes"),
        (("transfer", {"from": 0, "to": 1, "amount": -1}, None), "field value: transfer takes"),
        (("transfer", None, None), "field value: transfer takes"),
        (("read", None, [1]), "field value: read answers a map of accounts to balances, not [1]"),
    ],
)
def test_what_it_can_not_read_is_one_line(tmp_path, operation, wanted):
    result = checked(tmp_path, operation, options=("--model", "bank"))
    assert result.exit_code == 3
    assert wanted in result.stderr
    assert result.stderr.count("\n") == 1
