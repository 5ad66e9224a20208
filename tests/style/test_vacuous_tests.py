"""Tests that pass when their data is empty are named, and no others."""

import ast
import subprocess
import sys
from pathlib import Path
from textwrap import indent

import pytest

from scripts import vacuous_tests
from scripts.vacuous_tests import asserting_helpers, vacuous

ROOT = Path(__file__).resolve().parents[2]
HEAD = """
import subprocess
SOME = (1, 2)
NONE = ()
def check(one):
    assert one
def check_each(many):
    for one in many:
        assert one
"""


def is_vacuous(body: str, head: str = "") -> bool:
    tree = ast.parse(f"{HEAD}{head}\ndef test(fixture):\n{indent(body, '    ')}")
    return [each.name for each in vacuous(tree, asserting_helpers([tree]))] == ["test"]


@pytest.mark.parametrize(
    "body",
    [
        "for one in made():\n    assert one",
        "for one in NONE:\n    assert one",
        "for one in range(len(fixture)):\n    assert one",
        "for one in fixture:\n    for other in SOME:\n        assert one != other",
        "for one, other in zip(SOME, made(), strict=False):\n    assert one == other",
        "for one in [*made()]:\n    assert one",
        "if fixture:\n    assert fixture.x",
        "while fixture:\n    assert fixture.pop()",
        "assert all(made())",
        "assert all(one > 0 for one in made())",
        "assert not any(one < 0 for one in fixture)",
        "assert [one for one in made() if one < 0] == []",
        "wrong = sorted(one for one in made() if one < 0)\nassert wrong == []",
        "wrong = [one for one in made() if one < 0]\nassert not wrong",
        "assert {one.x for one in made()} <= {1, 2}",
        "assert all(made()) and not any(made())",
        "check_each(made())\nfor one in made():\n    assert one",
        "subprocess.check(1)\nfor one in made():\n    assert one",
        "for _ in range(0):\n    assert fixture",
        "if fixture:\n    return\nassert fixture.x",
        "with fixture:\n    if fixture.x:\n        return None\nassert fixture.y",
        "time.sleep(1)",
        "fixture.scope.sleep(1)\nfixture.stop()",
    ],
)
def test_a_test_that_passes_without_data_is_named(body):
    assert is_vacuous(body)


@pytest.mark.parametrize(
    "body",
    [
        "found = made()\nassert found\nfor one in found:\n    assert one",
        "for one in SOME:\n    assert one",
        "for one in (3, *made()):\n    assert one",
        "for _ in range(3):\n    assert fixture",
        "for one, other in zip(SOME, made(), strict=True):\n    assert one == other",
        "for one in [one + 1 for one in SOME]:\n    assert one",
        "if fixture:\n    assert fixture.x\nelse:\n    assert fixture == []",
        "assert all(one > 0 for one in SOME)",
        "assert all(made()) or fixture",
        "assert any(made())",
        "assert [one for one in made() if one > 0] == [1]",
        "check(made())",
        "with pytest.raises(ValueError, match='x'):\n    made()",
        "def run():\n    assert fixture\nrun()",
        "seen = 0\nwhile seen < 9:\n    seen += 1\n    assert fixture",
        "pass",
        "assert fixture\nif fixture.x:\n    return\nassert fixture.y",
        "def made():\n    return fixture\nassert made()",
        "time.sleep(1)\nassert fixture",
    ],
)
def test_a_test_that_surely_asserts_is_not_named(body):
    assert not is_vacuous(body, head="import pytest")


@pytest.mark.parametrize(
    ("decorator", "expected"),
    [
        ("@given(fixture=st.lists(st.integers()))", False),
        ("@given(st.lists(st.integers()))", False),
        ("@pytest.mark.parametrize(('fixture', 'x'), [([1], 2)])", False),
        ("@pytest.mark.slow", True),
    ],
)
def test_parameters_that_are_drawn_have_elements(decorator, expected):
    source = f"{decorator}\ndef test(fixture):\n    for one in fixture:\n        assert one"
    assert [each.name for each in vacuous(ast.parse(source), ())] == ["test"] * expected


def test_a_file_that_is_none_is_one_line(tmp_path):
    path = tmp_path / "absent.py"
    command = [sys.executable, "-m", "scripts.vacuous_tests", str(path)]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"vacuous_tests: {path}: ")


def test_the_command_names_file_line_and_test_and_ends_with_1(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(vacuous_tests, "ROOT", tmp_path)  # its tests/ would be read for helpers
    path = tmp_path / "mine" / "test_mine.py"
    path.parent.mkdir()
    path.write_text("def test_it():\n    assert all(one for one in made())\n")
    assert vacuous_tests.main([str(path)]) == 1
    assert capsys.readouterr() == (
        "mine/test_mine.py:1: test_it may pass without an assertion\n",
        "",
    )
