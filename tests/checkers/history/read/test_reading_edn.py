"""Jepsen's histories and logs: read as they mean, or refused by file, line and field."""

import gzip
import json
import random

import pytest

from kraftproof.checkers.history.operations import HistoryError
from kraftproof.checkers.history.read import located_operations_of, operations_table_of
from kraftproof.checkers.history.read.edn import MAX_DEPTH, EdnError, edn_forms
from tests.checkers.conftest import HISTORIES
from tests.support.random_cases import random_cases


def forms(text):
    return [value for _, value in edn_forms(enumerate(text.encode().splitlines(), start=1))]


def operations(tmp_path, text, name="h.edn"):
    path = tmp_path / name
    path.write_text(text)
    return sorted(located_operations_of(path), key=lambda operation: operation.index)


def refusal(tmp_path, text, name="h.edn"):
    with pytest.raises(HistoryError) as refused:
        operations(tmp_path, text, name)
    message = str(refused.value)
    assert "\n" not in message
    return message.removeprefix(str(tmp_path / name))


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("nil", None),
        ("true false", True),
        ("-0 +7 12N", 0),
        ("9223372036854775808", 2**63),
        ("123456789012345678901234567890N", 123456789012345678901234567890),
        ("1.5 -2e3 1.5M 7M", 1.5),
        ("1/3", "1/3"),
        ("-4/6", "-2/3"),
        ("4/2", 2),
        ("0x1F", 31),
        ("-0xa", -10),
        ("#:n{:a 1 :_/b 2 :m/c 3 d 4}", {"n/a": 1, "b": 2, "m/c": 3, "d": 4}),
        ("#:n {:a :b, :c {:d :e}}", {"n/a": "b", "n/c": {"d": "e"}}),
        ("#:n{#_ :x :a 1}", {"n/a": 1}),
        (":append", "append"),
        (":jepsen/op", "jepsen/op"),
        ("unit-1", "unit-1"),
        (r'"a\n\"\\A é"', 'a\n"\\A é'),
        (r"\a", "a"),
        (r"\newline", "newline"),
        ("##Inf", "##Inf"),
        ("##-Inf", "##-Inf"),
        ('#inst "2024"', "2024"),
        ("#{3 1 2}", [1, 2, 3]),
        ("#{10 9 :a}", ["a", 10, 9]),
        ("{:a 1, 2 {nil []}}", {"a": 1, "2": {"null": []}}),
        ("#jepsen.history.Op{:index 0}", {"index": 0}),
        ("{:a #_ 5 #_ [6] 1}", {"a": 1}),
        ("#_ #_ 1 2 3", 3),
        ("; 1 [\n,,2", 2),
    ],
)
def test_every_kind_of_value(text, value):
    found = forms(f"{{:v 0}} {text}")[1]
    assert (found, type(found)) == (value, type(value))


def test_a_history_is_a_sequence_of_forms_or_one_vector_of_them():
    assert forms("{:a 1}\n{:a 2}") == forms("[{:a 1}\n{:a 2}]") == forms("({:a 1} {:a 2})")
    assert forms("") == forms("[]") == forms("; nothing") == []


@pytest.mark.parametrize(
    ("text", "line", "problem"),
    [
        ("[1\n[2", 2, "the [ of this line is never closed"),
        ("{:a 1}\n}", 2, "unmatched }"),
        ("[{:a [1}", 1, "unmatched }, which would close the [ of line 1"),
        ("[1]\n2", 2, "2 after the end of the history"),
        ("{:a}", 1, "a map with a key without a value"),
        ("{:a 1 :a 2}", 1, "a map with the key a twice"),
        ('{:a "b', 1, "a string that does not end in its line"),
        (r'{:a "\q"}', 1, r"no such escape: \q"),
        (r'{:a "\ud800"}', 1, "no such escape"),
        ("{:a 01}", 1, "no such number: 01"),
        ("{:a 1x}", 1, "no such number: 1x"),
        ("{:a 0xg}", 1, "no such number: 0xg"),
        ("{:a 1/0}", 1, "a number out of range: 1/0"),
        ("{:a 1/" + "9" * 5000 + "}", 1, "a number out of range: 1/999"),
        ("#{1 2 1}", 1, "a set with 1 twice"),
        ("#:n[1]", 1, "unreadable: '#:n[1]'"),
        ("#:n{:a 1]", 1, "unmatched ], which would close the { of line 1"),
        ("{:a 1e999}", 1, "a number out of range"),
        ("{:a " + "9" * 5000 + "}", 1, "a number out of range: 99999"),
        ("{:a ::b}", 1, "no such keyword: ::b"),
        ("{:a \\ }", 1, "unreadable"),
        ("{:a \x00}", 1, "unreadable: '\\x00}'"),
        ("1 #_", 0, "nothing follows #_"),
        ("{:a #_}", 1, "nothing follows #_"),
        ("[" * (MAX_DEPTH + 2), 1, f"nested deeper than {MAX_DEPTH}"),
    ],
)
def test_what_is_no_edn_is_refused_with_its_line(text, line, problem):
    with pytest.raises(EdnError, match=r"^.*$") as refused:
        forms(text)
    assert (refused.value.line, problem in str(refused.value)) == (line, True)


def test_text_that_is_hostile_is_refused_quickly():
    for text in ("[" * 10**6, '"' * 99_999, '"' + "\\" * 10**6, "#" * 10**5, "[" + "1 " * 10**5):
        with pytest.raises(EdnError):
            forms(text)
    with pytest.raises(EdnError, match=r"byte 3 is no UTF-8"):
        list(edn_forms([(1, b"{:\xff 1}")]))


def test_a_form_has_a_bounded_number_of_values(monkeypatch):
    monkeypatch.setattr("kraftproof.checkers.history.read.edn.MAX_VALUES", 50)
    assert len(forms("[{:a [1 2]} " * 1 + "{:a [1 2]} " * 40 + "]")) == 41
    with pytest.raises(EdnError, match="a form of more than 50 values"):
        forms("[{:a [" + "1 " * 60)


REGISTER = """
[{:process 0, :type :invoke, :f :write, :value 3}
 {:process :nemesis, :type :info, :f :start, :value nil}
 {:process 1, :type :invoke, :f :cas, :value [3 4]}
 {:process 0, :type :ok, :f :write, :value 3, :time 17}
 {:process 1, :type :info, :f :cas, :value [3 4], :error :timeout}
 {:process 2, :type :invoke, :f :read, :value nil}]
"""


def test_a_register(tmp_path):
    write, cas, read = operations(tmp_path, REGISTER)
    assert (write.f, write.input, write.output, write.status) == ("write", 3, 3, "ok")
    assert (write.invoke_index, write.complete_index, write.complete_time) == (0, 2, 17)
    assert (cas.input, cas.status, cas.error, cas.key) == ([3, 4], "info", "timeout", "null")
    assert (read.process, read.complete_index) == (2, None)


def test_independent_keys(tmp_path):
    text = """
    {:process 0, :type :invoke, :f :read, :value [7 nil], :index 10}
    {:process 0, :type :ok, :f :read, :value [7 [1 2]], :index 11}
    {:process 1, :type :invoke, :f :cas, :value [:b [1 2]], :index 14}
    {:process 1, :type :info, :f :cas, :value :timed-out, :index 15}
    """
    read, cas = operations(tmp_path, text)
    assert (read.key, read.input, read.output, read.complete_index) == ("7", None, [1, 2], 11)
    assert (cas.key, cas.input, cas.output) == ("b", [1, 2], "timed-out")
    third = "{:process 2, :type :invoke, :f :read, :value [7 nil]}\n" * 1000
    lines = "".join(
        line.replace(":process 2", f":process {i}") + "\n"
        for i, line in enumerate(third.splitlines())
    )
    unkeyed = "{:process 5000, :type :invoke, :f :write, :value 4}"
    assert "field value: Expected [key value], got 4" in refusal(tmp_path, lines + unkeyed)


def test_a_cas_alone_is_no_key_and_a_value(tmp_path):
    (cas,) = operations(tmp_path, "{:process 0 :type :invoke :f :cas :value [0 1]}")
    assert (cas.key, cas.input) == ("null", [0, 1])


def test_transactions(tmp_path):
    appends = operations(
        tmp_path,
        """{:process 0 :type :invoke :f :txn :value [[:append 1 2] [:r 1 nil]]}
        {:process 0 :type :ok :f :txn :value [[:append 1 2] [:r 1 [2]]]}
        {:process 1 :type :invoke :value [[:r 1 nil]]}""",
    )
    assert appends[0].output == [["append", 1, 2], ["r", 1, [2]]]
    assert appends[1].f == "txn"
    (registers,) = operations(
        tmp_path, "{:process 0 :type :invoke :f :txn :value [[:w :x 2] [:r :y nil]]}"
    )
    assert registers.input == [["w", "x", 2], ["r", "y", None]]


def test_a_set(tmp_path):
    text = """{:process 0 :type :invoke :f :add :value 3}
    {:process 0 :type :ok :f :add :value 3}
    {:process 0 :type :invoke :f :read :value nil}
    {:process 0 :type :ok :f :read :value #{5 3}}"""
    add, read = operations(tmp_path, text)
    assert (add.input, read.output) == (3, [3, 5])


LOG = """INFO  jepsen.core - starting
INFO  jepsen.util - 0\t:invoke\t:cas\t[0 3]
INFO  jepsen.util - :nemesis\t:info\t:start\tnil
WARN  jepsen.util - something else
INFO  jepsen.util - 1\t:invoke\t:read\tnil
INFO  jepsen.util - 1\t:ok\t:read\t"x y"
INFO  jepsen.util - 0\t:info\t:cas\t:timed-out
2024-05-01 10:00:00,123{GMT}\tINFO\t[jepsen worker 3] jepsen.util: 3\t:invoke\t:write\t4
2024-05-01 10:00:00,124{GMT}\tINFO\t[jepsen worker 3] jepsen.util: 3\t:fail\t:write\t4\t:refused
"""


@pytest.mark.parametrize("name", ["h.log", "h.txt", "history"])
def test_the_log_of_a_test(tmp_path, name):
    text = LOG if name == "h.log" else LOG.partition("\n")[2]
    cas, read, write = operations(tmp_path, text, name)
    assert (cas.f, cas.input, cas.status, cas.invoke_index) == ("cas", [0, 3], "info", 0)
    assert (read.output, read.status) == ("x y", "ok")
    assert (write.status, write.error) == ("fail", "refused")


def test_a_log_of_something_else_is_refused(tmp_path):
    assert "no line of this log is that of an operation" in refusal(tmp_path, "a\nb\n", "h.log")


@pytest.mark.parametrize(
    ("text", "wanted"),
    [
        ("{:process 0 :type :invoke :f :read :value [}", ":1: not EDN: unmatched }"),
        ("\n5", ":2: not an event: Expected `object`, got `int`"),
        ("{:type :invoke :f :read}", ":1: Object missing required field `process`"),
        ("{:process 1.5 :type :invoke :f :read}", ":1: field process: Expected `int`, got `float`"),
        ("{:process 1\n:type :done\n :f :read}", ":1: field type: Invalid enum value 'done'"),
        ("{:process 1 :type :ok :f :read}", ":1: field process: process 1 completes an operation"),
        (
            "{:process 1 :type :invoke :f :read}\n{:process 1 :type :invoke :f :read}",
            ":2: field process: process 1 invokes read, but its read of line 1 is open",
        ),
        (
            "{:process 1 :type :invoke :f :read :time 9}\n{:process 1 :type :ok :f :read :time 8}",
            ":2: field time: 8 is before the operation was invoked, at 9",
        ),
        (
            "{:process 1 :type :invoke :f :r :index 5}\n{:process 1 :type :ok :f :r :index 4}",
            ":2: field index: 4 does not follow 5",
        ),
    ],
)
def test_what_is_no_history_is_named_by_line_and_field(tmp_path, text, wanted):
    assert refusal(tmp_path, text).startswith(wanted)


def as_edn(event):
    value = json.dumps(event["value"]).replace(",", " ").replace("null", "nil")
    key = json.dumps(event["key"])
    return (
        f"{{:process {event['process']}, :type :{event['type']}, :f :{event['f']},"
        f" :key {key}, :value {value}, :index {event['index']}}}\n"
    )


@pytest.mark.parametrize("name", ["etcd/etcd_000", "etcd/etcd_002", "kv/c10-bad"])
def test_a_real_history_means_the_same_in_its_original_form(tmp_path, name):
    original = HISTORIES / f"{name}.jsonl"
    events = [json.loads(line) for line in original.read_text().splitlines()]
    path = tmp_path / "h.edn.gz"
    path.write_bytes(gzip.compress("".join(map(as_edn, events)).encode()))
    table = operations_table_of(path).drop_columns(["error"])
    assert table.equals(operations_table_of(original).drop_columns(["error"]))


@pytest.mark.parametrize("seed", range(random_cases(200)))
def test_a_damaged_file_is_read_or_refused_in_a_line(tmp_path, seed):
    rng = random.Random(seed)
    text = list(REGISTER)
    for _ in range(rng.randrange(1, 5)):
        text[rng.randrange(len(text))] = rng.choice(
            ["", '"', "[", "}", "#", ":", "\\", "9", "é", ";"]
        )
    try:
        found = len(operations(tmp_path, "".join(text)))
    except HistoryError as error:
        found, lines = 0, str(error).removeprefix(str(tmp_path / "h.edn:")).splitlines()
        assert (len(lines), lines[0][0].isdigit()) == (1, True)
    assert found <= 3
