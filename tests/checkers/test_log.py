"""The model log: each kind of finding, and what is none."""

import pytest

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.logs.model import Log
from kraftproof.checkers.options import CheckOptions


def operations(*fields):
    """Operations (process, f, input, output, status), one after the other."""
    return [
        Operation(
            index=place, process=process, f=f, key="null", input=asked, output=told, status=status,
            invoke_index=2 * place, complete_index=2 * place + 1,
        )
        for place, (process, f, asked, told, status) in enumerate(fields)
    ]  # fmt: skip


def send(value, offset, status="ok"):
    return (0, "send", [["send", "t", value]], [["send", "t", [offset, value]]], status)


def poll(*records, process=1):
    return (process, "poll", [["poll"]], [["poll", {"t": [list(one) for one in records]}]], "ok")


def checks(*fields):
    history, model = operations(*fields), Log()
    for one in history:
        model.validate(one)
    return {finding.check for finding in model.check("null", history, CheckOptions())}


ASSIGN = (1, "assign", ["t"], ["t"], "ok")
BOTH = (send(7, 0), send(8, 1))


@pytest.mark.parametrize(
    ("fields", "found"),
    [
        ([*BOTH, ASSIGN, poll((0, 7), (1, 8))], set()),
        ([*BOTH, poll((0, 7)), poll((1, 8))], set()),
        ([send(7, 0), send(8, 5), poll((0, 7), (5, 8))], set()),
        ([send(7, None, "info"), poll((0, 7))], set()),
        ([*BOTH, poll((0, 7))], set()),
        ([*BOTH, poll((0, 7), (1, 8)), ASSIGN, poll((0, 7))], set()),
        ([*BOTH, poll((0, 7), (1, 9))], {"log/one-value", "log/sent", "log/lost"}),
        ([send(7, 0), poll((0, 7), (1, 7))], {"log/duplicate"}),
        ([send(7, 0), send(8, 0)], {"log/one-value"}),
        ([send(7, 0, "fail"), poll((0, 7))], {"log/sent"}),
        ([poll((0, 7)), send(7, 0)], {"log/sent"}),
        ([poll((0, 7))], {"log/sent"}),
        ([*BOTH, poll((1, 8))], {"log/lost"}),
        ([*BOTH, poll((0, 7), (1, 8)), poll((0, 7))], {"log/order"}),
        ([*BOTH, poll((1, 8), (0, 7))], {"log/order"}),
        (
            [*BOTH, send(9, 2), poll((0, 7), (1, 8), process=2), poll((0, 7), (2, 9))],
            {"log/skipped"},
        ),
    ],
)
def test_each_kind(fields, found):
    assert checks(*fields) == found


@pytest.mark.parametrize(
    "field",
    [
        (0, "send", [["send", "t"]], None, "ok"),
        (0, "send", [["send", "t", 1]], [["send", "t", 1]], "ok"),
        (0, "poll", [["poll"]], [["poll", {"t": [[None, 1]]}]], "ok"),
        (0, "poll", "x", None, "info"),
    ],
)
def test_what_is_no_send_or_poll_is_refused(field):
    (one,) = operations(field)
    with pytest.raises(ValueError, match="field value: "):
        Log().validate(one)
