"""A cas that did not find its old value is a failed operation, and no ok that answers false."""

import json

import pytest

from kraftproof.cli import run

REFUSAL = "field value: cas of status ok answers false: "


def history_of(path, ends, first=0):
    """Writes 1 a number of times, then a cas that is completed in the given way, and a read."""
    calls = [("write", 1, "ok", 1)] * (first + 1)
    calls += [("cas", [5, 2], *ends), ("read", None, "ok", 1)]
    rows = []
    for f, asked, status, answer in calls:
        rows.append({"type": "invoke", "f": f, "value": asked})
        rows.append({"type": status, "f": f, "value": answer})
    lines = [json.dumps({"index": i, "process": 0, **row}) for i, row in enumerate(rows)]
    path.write_text("\n".join(lines))
    return str(path)


@pytest.mark.parametrize("first", [0, 6000], ids=["short", "columns"])
def test_a_success_that_answers_false_is_refused_in_one_line(tmp_path, capsys, first):
    history = history_of(tmp_path / "h.jsonl", ("ok", False), first)
    assert run(["check", history]) == 3
    said = capsys.readouterr()
    assert (said.out, said.err.count("\n")) == ("", 1)
    assert REFUSAL in said.err
    assert 'with the status "fail"' in said.err


@pytest.mark.parametrize(
    "ends", [("fail", False), ("fail", [5, 2])], ids=["answers-false", "repeats-its-values"]
)
def test_a_failed_cas_changes_nothing(tmp_path, ends):
    assert run(["check", history_of(tmp_path / "h.jsonl", ends)]) == 0


@pytest.mark.parametrize("answer", [[5, 2], True, None])
def test_other_answers_of_a_success_are_read_as_a_success(tmp_path, answer):
    assert run(["check", history_of(tmp_path / "h.jsonl", ("ok", answer))]) == 1
