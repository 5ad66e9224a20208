"""Lists: each anomaly by name, transactions, and the compiled parser against the plain one."""

from random import Random

import msgspec
import numpy as np
import pytest

from kraftproof.checkers.calls.lists import integers as integer_lists
from kraftproof.checkers.calls.lists import tracing as list_tracing
from kraftproof.checkers.calls.lists.lists import observed_texts
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.history.tables import operations_table
from kraftproof.checkers.verdict import Verdict
from tests.support.checkers.columnar import calls_of, decided, history, in_turn, judged


def txn(*actions, at):
    """A transaction; actions are "x1" to append 1 to x, or ("x", [...]) to read x."""
    answered = [
        ["append", action[0], int(action[1:])] if isinstance(action, str) else ["r", *action]
        for action in actions
    ]
    asked = [[f, name, None if f == "r" else value] for f, name, value in answered]
    return ("txn", asked, answered, *at)


ANOMALIES = {
    "phantom: a read of what nobody had begun to append": [txn(("x", [1]), at=(0, 1))],
    "internal": [txn("x1", ("x", []), at=(0, 1))],
    "future read": [txn(("x", [1]), "x1", at=(0, 1))],
    "duplicate elements": [txn("x1", at=(0, 1)), txn(("x", [1, 1]), at=(2, 3))],
    "incompatible order": [
        txn("x1", at=(0, 9)),
        txn("x2", at=(1, 8)),
        txn(("x", [1, 2]), at=(2, 3)),
        txn(("x", [2]), at=(4, 5)),
    ],
    "G1b, intermediate read": [txn("x1", "x2", at=(0, 3)), txn(("x", [1]), at=(1, 2))],
    "G0, write cycle": [
        txn("x1", "y1", at=(0, 9)),
        txn("x2", "y2", at=(1, 8)),
        txn(("x", [1, 2]), ("y", [2, 1]), at=(10, 11)),
    ],
    "G1c, circular information flow": [
        txn("x1", ("y", [2]), at=(0, 3)),
        txn("y2", ("x", [1]), at=(1, 2)),
    ],
    "G-single, read skew": [
        txn("x1", "y1", at=(0, 3)),
        txn(("x", [1]), ("y", []), at=(1, 2)),
    ],
    "G2-item, anti-dependency cycle": [
        txn("y1", ("x", []), at=(0, 3)),
        txn("x2", ("y", []), at=(1, 2)),
    ],
    "G-single, lost update": [
        txn(("x", []), "x1", at=(0, 3)),
        txn(("x", []), "x2", at=(1, 2)),
    ],
    "G-nonadjacent, anti-dependencies apart": [
        txn("x1", at=(0, 9)),
        txn("y1", at=(1, 8)),
        txn(("x", [1]), ("y", []), at=(2, 6)),
        txn(("x", []), ("y", [1]), at=(3, 7)),
    ],
    "G1c-realtime, circular information flow": [
        txn("y1", "x2", at=(0, 9)),
        txn(("y", [1]), at=(1, 2)),
        txn("x1", at=(3, 4)),
        txn(("x", [1, 2]), at=(10, 11)),
    ],
    "G0-realtime, write cycle": [
        txn("x1", at=(0, 1)),
        txn("x2", at=(2, 3)),
        txn(("x", [2, 1]), at=(4, 5)),
    ],
    "G-single-realtime, stale read": [txn("x1", at=(0, 1)), txn(("x", []), at=(2, 3))],
}


@pytest.mark.parametrize("name", ANOMALIES)
def test_an_anomaly_has_its_name(name):
    operations = history(*ANOMALIES[name])
    outcome = decided("list-append", operations)
    assert outcome.verdict is Verdict.INVALID
    assert outcome.anomaly == name
    (finding,) = judged("list-append", operations).findings
    assert f"({name})" in finding.sentence


def test_a_read_of_what_a_failed_append_left_is_named_an_aborted_read():
    operations = history(("append", 1, None, 0, 1), ("read", None, [1], 2, 3))
    operations[0] = msgspec.structs.replace(operations[0], status="fail")
    assert decided("list-append", operations).anomaly == "G1a, aborted read"
    further = history(
        ("append", 1, None, 0, 1), ("append", 2, None, 2, 3), ("read", None, [1, 2], 4, 5)
    )
    further[0] = msgspec.structs.replace(further[0], status="fail")
    assert decided("list-append", further).anomaly == "G1a, aborted read; dirty update"
    further[2] = msgspec.structs.replace(further[2], output=[2, 1])
    assert decided("list-append", further).anomaly == "G1a, aborted read"


def test_an_append_that_was_lost_happened_if_it_was_read_and_with_all_its_transaction():
    lost = ("txn", [["append", "x", 1], ["append", "y", 1]], None, 0, None)
    read = txn(("x", [1]), at=(1, 2))
    assert decided("list-append", history(lost, read)).verdict is Verdict.VALID
    skewed = txn(("y", []), at=(3, 4))
    assert decided("list-append", history(lost, read, skewed)).first_illegal_row == 2
    assert decided("list-append", history(lost, skewed)).verdict is Verdict.VALID


def test_the_same_anomaly_has_its_name_however_much_is_known():
    """What others read later, or between, adds edges and changes no name."""
    seen = txn(("x", [1]), ("y", [1]), at=(2, 10))
    skew = [txn("x1", "y1", at=(0, 9)), txn(("y", [1]), at=(1, 8))]
    cases = {
        "G-single, read skew": [*skew, txn(("x", [1]), ("y", []), at=(2, 10))],
        "G1b, intermediate read": [
            txn("x1", "x2", at=(0, 9)),
            txn(("x", [1]), "x3", at=(1, 8)),
            txn(("x", [1, 3, 2]), at=(2, 10)),
        ],
        "G2-item, anti-dependency cycle": [
            txn(("x", []), "y1", at=(0, 9)),
            txn(("y", []), "x1", at=(1, 8)),
            seen,
        ],
        "G-single, lost update": [
            txn(("x", []), "x1", at=(0, 9)),
            txn(("x", []), "x2", at=(1, 8)),
            txn(("x", [1, 2]), at=(2, 10)),
        ],
        "G0, write cycle": [
            txn("x1", "x3", at=(0, 9)),
            txn("x2", at=(1, 8)),
            txn(("x", [1, 2, 3]), at=(10, 11)),
        ],
    }
    cases["internal"] = [txn("x1", "x2", ("x", [1]), at=(0, 1))]
    for name, steps in cases.items():
        assert decided("list-append", history(*steps)).anomaly == name
    three = [txn(("x", []), "y1", at=(0, 9)), txn(("y", []), "z1", at=(1, 8))]
    three.append(txn(("z", []), "x1", at=(2, 10)))
    assert decided("list-append", history(*three)).anomaly == "G2-item, anti-dependency cycle"


def test_a_read_of_its_own_first_append_is_no_intermediate_read():
    own = [txn("x1", ("x", [1]), "x2", at=(0, 1)), txn(("x", [1, 2]), at=(2, 3))]
    assert decided("list-append", history(*own)).verdict is Verdict.VALID


def test_single_operations_are_linearizable_or_a_stale_read():
    appends = [("append", n, None, 2 * n, 2 * n + 1) for n in range(3)]
    good, stale = ("read", None, [0, 1, 2], 6, 7), ("read", None, [0, 1], 8, 9)
    assert decided("list-append", history(*appends, good)).verdict is Verdict.VALID
    assert decided("list-append", history(*appends, good, stale)).first_illegal_row == 4


@pytest.mark.parametrize("value", [5, [["push", "x", 1]], [["append", "x"]], [7]])
def test_a_transaction_of_another_form_is_refused(value):
    with pytest.raises(ValueError, match="field value: txn takes"):
        calls_of("list-append", in_turn(("txn", value, value)))
    with pytest.raises(ValueError, match="field value: a read answers a list, not 5"):
        calls_of("list-append", in_turn(("read", None, 5)))


def long_history(random, count):
    steps, held = [], []
    for number in range(count):
        if random.random() < 0.5:
            held.append(random.choice([number, -number, number << 40, number % 7]))
            steps.append(("append", held[-1], None))
        else:
            steps.append(("read", None, random.choice([list(held), held[:3], None, [10**17]])))
    return columns_of(operations_table(in_turn(*steps)))


def test_the_compiled_parser_reads_what_the_plain_one_reads():
    columns = long_history(Random(4), 400)
    fast, plain = integer_lists.observed_integers(columns), observed_texts(columns)
    assert fast is not None
    for name in ("row", "is_read", "list_number", "seen"):
        assert np.array_equal(getattr(fast, name), getattr(plain, name)), name
    same = {}
    for a, b in zip(fast.values.tolist(), plain.values.tolist(), strict=True):
        assert same.setdefault(a, b) == b
    assert len(set(same.values())) == len(same) > 100
    found, first = list_tracing.trace(*pairs(plain), plain.list_number, plain.seen, plain.values)
    quick = integer_lists.trace(*pairs(plain)[0], *pairs(plain)[1], plain.list_number, plain.seen,
                                plain.values)  # fmt: skip
    assert np.array_equal(found, quick[0])
    assert np.array_equal(first, quick[1])
    assert (first != np.arange(len(first))).any()


def pairs(told):
    writes, lost = ~told.is_read & (told.row % 5 > 0), ~told.is_read & (told.row % 5 == 0)
    return [(told.list_number[some], told.value[some]) for some in (writes, lost)]


@pytest.mark.parametrize("text", ["[1,]", "[1 2]", "[", "[1.5]", '["a"]', "[--1]", "[1,,2]", "7"])
def test_the_compiled_parser_leaves_other_texts_alone(text):
    data, offsets = np.frombuffer(text.encode(), np.uint8), np.array([0, len(text)])
    assert not integer_lists.parse(data, offsets, 1)[2]
    data = np.frombuffer(b"[-1, 2 ,3]", np.uint8)
    found, lengths, is_read = integer_lists.parse(data, np.array([0, 10]), 1)
    assert (found.tolist(), lengths.tolist(), is_read) == ([-1, 2, 3], [3], True)
