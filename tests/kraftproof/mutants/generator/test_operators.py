"""Each operator offers the edits of its kind, and no edit of code that only people read."""

from pathlib import Path

import pytest

from kraftproof.errors import UsageError
from kraftproof.mutants.generator.candidates import candidates, read_sources
from kraftproof.mutants.generator.operators import OPERATORS
from kraftproof.mutants.generator.source import Source

NODE = Path(__file__).resolve().parents[4] / "node"


def offered(operator, text):
    """The lines that valid edits of an operator put in the place of others."""
    source = Source(module="kraftproof.node.example", path="example.py", text=text)
    lines = set()
    for one in candidates(source):
        if one.operator == operator and one.is_valid:
            changed = source.applied(one.replacement).splitlines()
            lines.update(line.strip() for line in changed if line not in text.splitlines())
    return lines


BODY = "def f(a: int, b: int, state: S) -> None:\n    {}\n"


@pytest.mark.parametrize(
    ("operator", "statement", "expected"),
    [
        ("comparison", "x = a < b", {"x = a > b"}),
        ("comparison", "x = a is not b", {"x = a is b"}),
        ("comparison", "x = (a or b) in s", {"x = (a or b) not in s"}),
        ("boundary", "x = 0 <= a < b", {"x = 0 < a < b", "x = 0 <= a <= b"}),
        ("boundary", "x = a == b", set()),
        ("negated-condition", "x = [i for i in s if i]", {"x = [i for i in s if not i]"}),
        ("negated-condition", "x = a if not b else 0", {"x = a if b else 0"}),
        ("negated-condition", "x = a and b", {"x = a or b"}),
        ("swapped-branches", "x = a if b else -1", {"x = (-1) if b else a"}),
        ("arithmetic", "x = a + b", {"x = a - b"}),
        ("arithmetic", "a += 2", {"a -= 2"}),
        ("arithmetic", "x = min(a, b)", {"x = max(a, b)"}),
        ("constant", "x = 3", {"x = 4", "x = 2"}),
        ("constant", "x = True", {"x = False"}),
        ("constant", "x = 'text'", set()),
        ("off-by-one", "x = a + 1", {"x = a"}),
        ("off-by-one", "x = s[a:]", {"x = s[(a + 1):]", "x = s[(a - 1):]"}),
        ("off-by-one", "h(end)", {"h((end + 1))", "h((end - 1))"}),
        ("dropped-statement", "h(a)", {"pass"}),
        ("dropped-statement", "state.a = b", {"pass"}),
        ("dropped-statement", "x = a", set()),
        ("early-return", "x = a", {"return"}),
        ("swapped-arguments", "h(a, b)", {"h(b, a)"}),
        ("swapped-arguments", "h(x=a, y=b)", {"h(x=b, y=a)"}),
        ("missing-field", "h(a, x=1, y=2)", {"h(a, x=1)", "h(a, y=2)"}),
        ("dropped-element", "x = (a, b)", {"x = (a,)", "x = (b,)"}),
        ("dropped-element", "x = {1: a, 2: b}", {"x = {1: a}", "x = {2: b}"}),
        ("wrong-variable", "x = a", {"x = b"}),
        (
            "wrong-variable",
            "x = [state.left, state.right]",
            {"x = [state.right, state.right]", "x = [state.left, state.left]"},
        ),
    ],
)
def test_an_operator_offers_its_edits(operator, statement, expected):
    text = BODY.format(statement)
    assert offered(operator, text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "def f(a: int) -> None:\n    assert a < 3\n",
        "def f(a: int = 3) -> str:\n    return f'{a + 1}'\n",
        "@dataclass(frozen=True)\nclass A:\n    pass\n",
        "def describe(a: int) -> str:\n    return str(a + 1)\n",
        "__all__ = ('a', 'b')\n",
    ],
)
def test_code_that_is_left_out(text):
    assert {name for name in OPERATORS if offered(name, text)} == set()
    assert offered("constant", "def f() -> int:\n    return 3\n") != set()


def test_an_edit_of_a_repeated_line_is_unique():
    text = "def f(a: int) -> None:\n    g(1)\n    g(1)\n    g(1)\n"
    source = Source(module="kraftproof.node.example", path="example.py", text=text)
    found = list(candidates(source))
    applied = [source.edit(one.replacement).apply(text) for one in found]
    assert len(applied) > 3
    assert applied == [source.applied(one.replacement) for one in found]


def test_every_edit_of_real_modules_is_unique_and_described():
    (source,) = read_sources([NODE / "core" / "raft" / "elections.py"])
    found = list(candidates(source))
    assert {one.operator for one in found} >= {"comparison", "boundary", "dropped-statement"}
    applied = [one.mutant().edits[0].apply(source.text) for one in found]
    assert applied == [source.applied(one.replacement) for one in found]


@pytest.mark.parametrize(
    ("path", "reason"),
    [
        (NODE / "core" / "absent.py", "no such file or directory"),
        (Path(__file__), "not in the node's source"),
        (NODE / "core" / "ruff.toml", "no module to edit"),
        (NODE / "wire" / "messages" / "generated", "no module to edit"),
    ],
)
def test_a_path_without_a_module_is_refused(path, reason):
    with pytest.raises(UsageError, match=reason) as refused:
        read_sources([path])
    assert "\n" not in str(refused.value)
