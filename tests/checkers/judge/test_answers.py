"""A transaction whose answer has other actions than the asked ones contradicts itself: refused."""

import json

import pytest

from kraftproof.checkers.checking import CheckerInputError, check_paths
from kraftproof.checkers.history.columns import columns_of
from kraftproof.checkers.models import model_named
from kraftproof.checkers.sources import find_sources


def recorded(folder, *pairs):
    """A history of transactions, given as (asked, answered), one after the other."""
    path = folder / "history.jsonl"
    events = [
        {"process": 0, "type": kind, "f": "txn", "value": value}
        for pair in pairs
        for kind, value in zip(("invoke", "ok"), pair, strict=True)
    ]
    lines = [json.dumps({"index": index, **event}) for index, event in enumerate(events)]
    path.write_text("\n".join(lines))
    return path


OTHER_ACTIONS = [
    ("multi-register", [["w", "y", 1], ["w", "z", 1]], [["w", "y", 1]]),
    ("multi-register", [["w", "y", 1]], [["w", "y", 2]]),
    ("multi-register", [["r", "y", None]], [["r", "z", 0]]),
    ("multi-register", [["r", "y", None]], [["w", "y", 0]]),
    ("multi-register", [["w", "y", 1], ["w", "z", 2]], [["w", "z", 2], ["w", "y", 1]]),
    ("list-append", [["append", "x", 1], ["append", "x", 2]], [["append", "x", 1]]),
    ("list-append", [["append", "x", 1]], [["append", "x", 2]]),
    ("list-append", [["r", "x", None]], [["r", "y", []]]),
    ("list-append", [["append", "x", 1]], [["r", "x", [1]]]),
    ("list-append", [], [["append", "x", 1]]),
]


@pytest.mark.parametrize(("model", "asked", "answered"), OTHER_ACTIONS)
def test_other_actions_are_refused(tmp_path, model, asked, answered):
    path = recorded(tmp_path, (asked, answered))
    with pytest.raises(CheckerInputError, match="txn answers other actions than") as refused:
        list(check_paths([path], model))
    assert "\n" not in str(refused.value)
    with pytest.raises(CheckerInputError, match="no model fits the operations txn"):
        list(check_paths([path]))


@pytest.mark.parametrize(("model", "asked", "answered"), OTHER_ACTIONS)
def test_compiled_engines_refuse_them_too(tmp_path, model, asked, answered, monkeypatch):
    one = model_named(model)
    with monkeypatch.context() as patched:
        patched.setattr(type(one), "validate", lambda *_: None)
        (source,) = find_sources([recorded(tmp_path, (asked, answered))], model)
        columns = columns_of(source.read().table)
    with pytest.raises(ValueError, match="txn answers other actions than it was asked for"):
        one.calls_of(columns)


@pytest.mark.parametrize(
    ("model", "asked", "answered"),
    [
        ("multi-register", [["write", "y", 1], ["r", "y", 7]], [["w", "y", 1], ["read", "y", 1]]),
        ("multi-register", None, [["w", "y", 1]]),
        ("list-append", [["append", "x", {"a": 1, "b": 2}]], [["append", "x", {"b": 2, "a": 1}]]),
        ("list-append", [["read", "x", None]], [["r", "x", []]]),
        ("list-append", None, [["append", "x", 1]]),
    ],
)
def test_the_same_actions_in_other_words_are_checked(tmp_path, model, asked, answered):
    (verdict,) = check_paths([recorded(tmp_path, (asked, answered))], model)
    assert verdict.verdict == "valid"
