"""The model log: each kind of finding, and what is none."""

import pytest

from kraftproof.checkers import check_paths
from kraftproof.checkers.history.operations import Operation
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.logs.jepsen import NOTHING_POLLED, NOTHING_SENT
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
SUBSCRIBE = (1, "subscribe", ["t"], ["t"], "ok")
DEBUG = (1, "debug-topic-partitions", ["t"], {}, "ok")


def own_poll(value):
    return (
        2,
        "txn",
        [["send", "t", value], ["poll"]],
        [["send", "t", [0, value]], ["poll", {"t": [[0, value]]}]],
        "ok",
    )


NO_ANSWER = (1, "poll", [["poll"]], None, "info")
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
        ([*BOTH, ASSIGN, poll((1, 8))], set()),
        ([*BOTH, SUBSCRIBE, poll((1, 8))], set()),
        ([*BOTH, ASSIGN, poll((1, 8)), poll((1, 8), process=2)], {"log/lost"}),
        ([*BOTH, send(9, 2), ASSIGN, poll((0, 7)), ASSIGN, poll((2, 9))], set()),
        ([*BOTH, send(9, 2), ASSIGN, poll((0, 7), (2, 9))], {"log/lost", "log/skipped"}),
        ([*BOTH, ASSIGN, poll((0, 7)), NO_ANSWER, poll((1, 8))], set()),
        ([*BOTH, poll((0, 7), (1, 8)), poll((0, 7))], {"log/order"}),
        ([*BOTH, poll((1, 8), (0, 7))], {"log/order"}),
        ([*BOTH, SUBSCRIBE, poll((0, 7), (1, 8)), poll((0, 7))], set()),
        ([*BOTH, SUBSCRIBE, poll((1, 8), (0, 7))], {"log/order"}),
        ([send(7, 1), send(8, 0)], {"log/send-order"}),
        ([send(7, None, "info"), send(8, 0), poll((0, 8), (1, 7))], set()),
        ([send(6, 1), send(7, None, "info"), send(8, 0), poll((0, 8), (1, 6))], set()),
        ([send(7, 1), send(8, None, "info"), poll((0, 8), (1, 7))], {"log/send-order"}),
        ([own_poll(7), poll((0, 7))], {"log/precommitted"}),
        ([*BOTH, poll((0, 7)), DEBUG], {"log/unseen"}),
        ([*BOTH, poll((0, 7), (1, 8)), DEBUG], set()),
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


KAFKA = """
{:type :invoke, :f :subscribe, :value [0 1], :process 1, :index 0}
{:type :ok, :f :subscribe, :value [0 1], :process 1, :index 1}
{:type :invoke, :f :txn, :value [[:send 0 7] [:send 1 8] [:poll]], :process 0, :index 2}
{:type :ok, :f :txn, :value [[:send 0 [0 7]] [:send 1 [4 8]] [:poll {}]], :process 0, :index 3}
{:type :invoke, :f :txn, :value [[:poll] [:send 0 9]], :process 1, :index 4}
{:type :ok, :f :txn, :value [[:poll {0 [[0 7]], 1 [[4 8]]}] [:send 0 [2 9]]], :process 1, :index 5}
{:type :invoke, :f :txn, :value [[:send 0 6]], :process 0, :index 6}
{:type :fail, :f :txn, :value [[:send 0 6]], :process 0, :index 7}
{:type :invoke, :f :txn, :value [[:poll]], :process 1, :index 8}
{:type :ok, :f :txn, :value [[:poll {0 [[2 9]]}]], :process 1, :index 9}
"""


@pytest.mark.parametrize(
    ("polled", "via", "found"),
    [
        ("[2 9]", ":subscribe", None),
        ("[2 6]", ":subscribe", "log/sent"),
        ("[3 9]", ":subscribe", "log/duplicate"),
        ("[0 7]", ":subscribe", None),  # a rebalance may put a consumer back
        ("[0 7]", ":assign", "log/order"),
        ("[0 7] [0 7]", ":subscribe", "log/order"),  # but not inside of one operation
    ],
)
def test_transactions_of_sends_and_polls_are_inferred_and_judged(tmp_path, polled, via, found):
    path = tmp_path / "h.edn"
    text = KAFKA.replace("[[:poll {0 [[2 9]]}]]", "[[:poll {0 [" + polled + "]}]]")
    path.write_text(text.replace(":subscribe", via))
    (run,) = check_paths([path])
    assert run.model == "log"
    assert (found is None) == (run.verdict.value == "valid")
    assert found is None or found in {finding.check for finding in run.findings}


def rebalanced(tmp_path, log):
    """Writes a history whose last poll goes back inside of an operation with a rebalance log."""
    path = tmp_path / "h.edn"
    polled = ":value [[:poll {0 [[0 7] [0 7]]}]], "
    text = KAFKA.replace(":value [[:poll {0 [[2 9]]}]], ", f"{polled}:rebalance-log {log}, ")
    path.write_text(text)
    return path


@pytest.mark.parametrize(
    ("log", "is_valid"),
    [
        ("[{:keys [0]}]", True),
        ("[{:keys [1] :type :assigned} {:keys [1 0]}]", True),
        ("({:keys (0)})", True),
        ("[{:keys [1]}]", False),
        ("[{:keys []}]", False),
        ("[]", False),
        ("nil", False),
    ],
)
def test_a_rebalance_inside_of_an_operation_may_put_its_logs_back(tmp_path, log, is_valid):
    (run,) = check_paths([rebalanced(tmp_path, log)])
    assert run.model == "log"
    assert {one.check for one in run.findings} == (set() if is_valid else {"log/order"})


@pytest.mark.parametrize("log", ["7", "[7]", "{:keys [0]}", "[{}]", "[{:keys 0}]"])
def test_another_rebalance_log_is_refused(tmp_path, log):
    path = rebalanced(tmp_path, log)
    with pytest.raises(ValueError, match=r":11: field rebalance-log: a list of maps with a list"):
        list(check_paths([path]))


@pytest.mark.parametrize(
    ("steps", "reason"),
    [
        ([send(7, 0, "info"), poll((0, 7))], NOTHING_SENT),
        ([send(7, 0), poll()], NOTHING_POLLED),
        ([send(7, 0), poll((0, 7))], None),
    ],
)
def test_a_history_without_sends_or_polls_proves_nothing(steps, reason):
    rows = operations_table(operations(*steps))
    assert Log().judge_rows("null", rows, CheckOptions()) == ([], reason)
