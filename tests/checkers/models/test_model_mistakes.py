"""Models in files that go wrong outside of their checks: one line, exit code 3, never a verdict."""

import json

import pytest

from kraftproof.cli import run

STOCK = "from tests.checkers.models.example_model import Stock\nclass A(Stock):\n    "
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
        assert (said.out + said.err).count("\n") >= 1
        return status, said.out, said.err.replace(str(tmp_path), "")

    return judge


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("return 7", "TypeError: operation 0 has the key 7, which is no text (model "),
        ("return None", "TypeError: operation 0 has the key None, which is no text (model "),
        ("raise KeyError('x')", "KeyError: 'x' (model "),
        ("raise SystemExit(0)", "SystemExit: 0 (model "),
        ("import pytest; pytest.fail('no key')", "Failed: no key (model "),
    ],
)
def test_a_model_that_gives_no_keys_is_unknown(check, body, wanted):
    status, out, error = check(f"def key(self, operation): {body}")
    assert (status, error) == (2, "")
    assert f"the checker of stock crashed: {wanted}" in out
    assert "mine.py)" in out


def test_a_key_that_is_refused_is_one_line(check):
    status, out, error = check("def key(self, operation): raise ValueError('field key: odd')")
    assert (status, out) == (3, "")
    assert error == "kraftproof check: /h.jsonl:2: field key: odd\n"


@pytest.mark.parametrize(
    ("body", "wanted"),
    [
        ("raise SystemExit(0)", "SystemExit: 0"),
        ("import pytest; pytest.fail('odd')", "Failed: odd"),
        ("import asyncio; raise asyncio.CancelledError", "CancelledError: no reason given"),
    ],
)
def test_a_model_that_ends_the_program_passes_for_no_verdict(check, body, wanted):
    status, out, error = check(f"def step(self, state, call): {body}")
    assert (status, error) == (2, "")
    assert f"key k: the checker of stock crashed: {wanted} (model " in out


def test_a_file_without_a_class_says_what_is_missing(check):
    status, _, error = check("pass", class_name="")
    assert status == 3
    assert error.endswith("a file, give its class too, as in /mine.py:ClassName\n")


def test_a_refusal_of_several_lines_is_told_in_one(check):
    refuse = "raise ValueError('field value: one\\ntwo')"
    status, out, error = check(f"def validate(self, operation): {refuse}")
    assert (status, out) == (3, "")
    assert error == "kraftproof check: /h.jsonl:2: field value: one\\ntwo\n"
