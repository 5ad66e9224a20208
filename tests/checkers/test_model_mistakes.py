"""Models in files that go wrong outside of their checks: one line, exit code 3, never a verdict."""

import json

import pytest

from kraftproof.cli import run

STOCK = "from tests.checkers.example_model import Stock\nclass A(Stock):\n    "
EVENTS = [("invoke", 2), ("ok", 2), ("invoke", 1), ("ok", 1)]


@pytest.fixture
def check(tmp_path, capsys):
    """Checks one history with a model of one body; returns exit code, output, and complaint."""
    lines = [
        {"index": i, "process": 0, "type": kind, "f": "restock", "key": "k", "value": value}
        for i, (kind, value) in enumerate(EVENTS)
    ]
    (tmp_path / "h.jsonl").write_text("\n".join(map(json.dumps, lines)))

    def judge(body, class_name=":A"):
        (tmp_path / "mine.py").write_text(f"{STOCK}{body}\n")
        model = f"{tmp_path / 'mine.py'}{class_name}"
        history = tmp_path / "h.jsonl"
        status = run(["check", "--engine", "inline", str(history), "--model", model])
        said = capsys.readouterr()
        assert said.err.count("\n") == 1
        return status, said.out, said.err.replace(str(tmp_path), "")

    return judge


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("return 7", ": no keys by stock: TypeError: operation 0 has the key 7, which is no text"),
        ("return None", ": no keys by stock: TypeError: operation 0 has the key None, which is no"),
        ("raise ValueError('field key: odd')", ":2: field key: odd"),
        ("raise KeyError('x')", ": no keys by stock: KeyError: 'x'"),
    ],
)
def test_keys_that_are_none_are_one_line(check, body, wanted):
    status, out, error = check(f"def key(self, operation): {body}")
    assert (status, out) == (3, "")
    assert error.startswith(f"kraftproof check: /h.jsonl{wanted}")


def test_a_model_that_ends_the_program_passes_for_no_verdict(check):
    status, out, error = check("def step(self, state, call): raise SystemExit(0)")
    assert (status, out) == (3, "")
    assert error == "kraftproof: a plug-in or a model ended the program, with status 0\n"


def test_a_file_without_a_class_says_what_is_missing(check):
    status, _, error = check("pass", class_name="")
    assert status == 3
    assert error.endswith("a file, give its class too, as in /mine.py:ClassName\n")


def test_a_refusal_of_several_lines_is_told_in_one(check):
    refuse = "raise ValueError('field value: one\\ntwo')"
    status, out, error = check(f"def validate(self, operation): {refuse}")
    assert (status, out) == (3, "")
    assert error == "kraftproof check: /h.jsonl:2: field value: one\\ntwo\n"
