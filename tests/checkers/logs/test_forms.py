"""The form of a partition's operations: which one shows it, and what answers of no worth say."""

import pytest

from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.logs.model import Log
from kraftproof.checkers.options import CheckOptions

ANSWERED = {"log_start": 0, "end": 3}


def send(value, offset, acks=-1):
    return 0, "send", {"value": value, "acks": acks}, {"offset": offset}, "ok"


def poll(*records, position=None, status="ok", process=1):
    answer = {"records": [list(one) for one in records], **ANSWERED} if status == "ok" else None
    return process, "poll", {"position": position}, answer, status


def final(*values):
    records = [list(one) for one in enumerate(values)]
    answer = {"records": records, "log_start": 0, "end": len(values)}
    return 2, "final", {"position": None}, answer, "ok"


def assign(status):
    return 1, "assign", {"position": 0}, None, status


def judged(*fields):
    """Return the broken promises, and the reason of an unknown verdict; operations follow."""
    operations = [
        Operation(
            index=place, process=process, f=f, key="t-0", input=asked, output=told, status=status,
            invoke_index=2 * place, complete_index=2 * place + 1,
        )
        for place, (process, f, asked, told, status) in enumerate(fields)
    ]  # fmt: skip
    for one in operations:
        Log().validate(one)
    found, reason = Log().judge_rows("t-0", operations_table(operations), CheckOptions())
    return {one.check for one in found if one.kind == "safety"}, reason


@pytest.mark.parametrize("f", ["create", "delete", "move", "cancel", "elect"])
@pytest.mark.parametrize("value", [None, 3, ["t"]])
def test_an_operation_that_no_rule_reads_may_come_first_with_any_value(f, value):
    first = (9, f, value, None, "ok")
    assert judged(first, send("a", 0), final("a")) == (set(), None)
    assert judged(first, send("a", 0), final("b"))[0] == {"log/one-value", "log/lost", "log/sent"}


@pytest.mark.parametrize("f", ["create", "elect"])
def test_such_an_operation_may_come_first_in_jepsens_form(f):
    sent = (0, "send", [["send", "t", 7]], [["send", "t", [0, 7]]], "ok")
    polled = (1, "poll", [["poll"]], [["poll", {"t": [[0, 7]]}]], "ok")
    assert judged((9, f, None, None, "ok"), sent, polled) == (set(), None)


def test_two_forms_in_one_partition_are_refused_by_operation():
    other = (1, "poll", [["poll"]], [["poll", {"t-0": [[0, "a"]]}]], "ok")
    with pytest.raises(ValueError, match=r"field value: operation 1, poll .*: Expected `object`"):
        judged(send("a", 0), other)
    with pytest.raises(ValueError, match=r"field value: operation 1, send .*: a list of sends"):
        judged(other, send("a", 0))


LOG = [send("a", 0), send("b", 1), send("c", 2)]


def test_a_lost_answer_may_have_moved_a_reader_whose_library_keeps_its_position():
    first, last = poll((0, "a")), poll((2, "c"))
    assert judged(*LOG, first, last, final("a", "b", "c"))[0] == {"log/skipped"}
    for lost in (poll(status="info"), poll(position=1, status="info"), assign("info")):
        assert judged(*LOG, first, lost, last, final("a", "b", "c")) == (set(), None)
    for harmless in (poll(status="fail"), assign("fail"), poll(status="info", process=7)):
        assert judged(*LOG, first, harmless, last, final("a", "b", "c"))[0] == {"log/skipped"}


def test_an_offset_that_no_broker_stated_is_no_acknowledgement():
    """A producer with acks=0 succeeds once the request is sent, so a later send may come first."""
    unheard = send("x", 1, acks=0)
    assert judged(unheard, send("y", 0), final("y", "x")) == (set(), None)
    assert judged(send("x", 1), send("y", 0), final("y", "x"))[0] == {"log/append-order"}
    assert judged(unheard, final("y", "x"))[1] == "no send was acknowledged: nothing was checked"


def idempotent(field, *, is_so):
    process, f, asked, told, status = field
    return process, f, {**asked, "idempotent": is_so}, told, status


@pytest.mark.parametrize("is_so", [True, False])
@pytest.mark.parametrize(
    "other", [send("x", None, acks=0), (0, "send", {"value": "x"}, None, "info")]
)
def test_a_value_of_two_sends_may_stand_in_the_log_twice(other, is_so):
    for sends in ((send("x", 0), other), (other, send("x", 1))):
        both = [idempotent(one, is_so=is_so) for one in sends]
        assert judged(*both, final("x", "x")) == (set(), None)
        repeated = judged(*both, final("x", "x", "x"))[0]
        assert repeated == ({"log/duplicate"} if is_so else set())
    assert judged(send("x", 1), other, final("x", "x"))[0] == {"log/append-order"}


def test_a_value_whose_first_send_failed_may_come_from_a_later_one():
    failed, later = (
        (0, "send", {"value": "x"}, None, "fail"),
        (3, "send", {"value": "x"}, None, "info"),
    )
    known = send("y", 1)
    assert judged(failed, later, known, poll((0, "x")), final("x", "y")) == (set(), None)
    assert judged(failed, known, final("x", "y"))[0] == {"log/sent"}
