"""Keys, transactions and drains in values, told by the whole history and alike for all forms."""

import json

import pytest

from kraftproof.checkers.history.operations import HistoryError
from kraftproof.checkers.history.read import located_operations_of, operations_table_of


def table_of(tmp_path, *pairs, is_keyed=None):
    """The operations of pairs (f, invoked value, answered value), one process after the other."""
    path = tmp_path / "h.jsonl"
    events = []
    for f, asked, told in pairs:
        for kind, value in (("invoke", asked), ("ok", told)):
            index = len(events)
            events.append({"index": index, "process": 0, "type": kind, "f": f, "value": value})
    path.write_text("".join(json.dumps(event) + "\n" for event in events))
    table = operations_table_of(path, is_keyed=is_keyed)
    located = sorted(located_operations_of(path, is_keyed=is_keyed), key=lambda one: one.index)
    if not any(f == "drain" for f, _, _ in pairs):
        assert [one.key for one in located] == table["key"].to_pylist()
    return table


def keys(tmp_path, *pairs, is_keyed=None):
    return table_of(tmp_path, *pairs, is_keyed=is_keyed)["key"].to_pylist()


def test_a_read_that_asks_for_a_key_makes_lists_keys(tmp_path):
    pairs = [("write", [[1, 2], 5], [[1, 2], 5]), ("read", [[1, 2], None], [[1, 2], 5])]
    assert keys(tmp_path, *pairs) == ["[1,2]", "[1,2]"]


def test_pairs_of_which_one_answer_has_another_first_part_are_values(tmp_path):
    pairs = [("write", [1, 2], [1, 2]), ("read", None, [1, 2])]
    assert keys(tmp_path, *pairs) == ["null", "null"]


def test_the_user_has_the_last_word_on_keys(tmp_path):
    pairs = [("write", [1, 2], [1, 2]), ("write", [3, 4], [3, 4])]
    assert keys(tmp_path, *pairs) == ["1", "3"]
    assert keys(tmp_path, *pairs, is_keyed=False) == ["null", "null"]
    assert keys(tmp_path, *pairs, is_keyed=True) == ["1", "3"]


def test_a_value_without_a_key_among_keyed_ones_is_named_with_the_way_out(tmp_path):
    pairs = [("read", [1, None], [1, 2]), ("write", 7, 7)]
    with pytest.raises(HistoryError, match=r":4: field value: Expected \[key value\], got 7: give"):
        keys(tmp_path, *pairs)


@pytest.mark.parametrize("f", ["txn", "write", "anything"])
def test_actions_make_a_transaction_whatever_its_function(tmp_path, f):
    pairs = [(f, [["w", "x", 1]], [["w", "x", 1]]), (f, [["r", "x", None]], [["r", "x", 1]])]
    assert table_of(tmp_path, *pairs)["f"].to_pylist() == ["txn", "txn"]


def test_a_list_that_is_no_action_leaves_all_as_they_are(tmp_path):
    pairs = [("write", [["w", "x", 1]], None), ("write", [["x"]], None)]
    assert table_of(tmp_path, *pairs)["f"].to_pylist() == ["write", "write"]


def test_a_drain_is_as_many_takes_as_it_answers(tmp_path):
    pairs = [("enqueue", 1, 1), ("enqueue", 2, 2), ("drain", None, [1, 2])]
    table = table_of(tmp_path, *pairs)
    assert table["f"].to_pylist() == ["enqueue", "enqueue", "dequeue", "dequeue"]
    assert [json.loads(text) for text in table["output"].to_pylist()][2:] == [1, 2]
    begun, over = table["invoke_index"].to_pylist(), table["complete_index"].to_pylist()
    assert over[2] < begun[3]


def test_a_drain_that_answers_no_list_is_named_by_its_line(tmp_path):
    with pytest.raises(HistoryError, match=":2: field value: drain answers a list"):
        table_of(tmp_path, ("drain", None, 1))
