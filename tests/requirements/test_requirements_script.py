"""scripts/requirements.py: rows, marks and what it says of them."""

from pathlib import Path

import pytest

from scripts import requirements
from scripts.requirements import RequirementsError, Row

HEAD = "id\tdue\tsection\tin short\n"


def row(requirement: str, *, is_due: bool = True) -> Row:
    return Row(requirement=requirement, is_due=is_due, section="a section", words="some words")


def test_a_due_row_without_a_test_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    rows = [row("595-01"), row("595-02"), row("595-03"), row("631-01", is_due=False)]
    tests = {"595-01": ["tests/a.py::b", "tests/a.py::c", "tests/a.py::d"]}
    reasons = {"595-02": "for a reason"}
    assert requirements.report(rows, tests, reasons, only_missing=False) == 1
    assert capsys.readouterr().out.splitlines() == [
        "",
        "KIP-595: a section",
        "595-01  some words | a.py::b, a.py::c and 1 more",
        "595-02  some words | out of scope: for a reason",
        "595-03  some words | MISSING",
        "",
        "KIP-631: a section",
        "631-01  some words | not due yet",
        "",
        "4 rows, 3 due now: 2 proven or out of scope, 1 missing; 1 have a test",
    ]
    tests["595-03"] = ["tests/a.py::e"]
    assert requirements.report(rows, tests, reasons, only_missing=True) == 0


@pytest.mark.parametrize(
    ("tests", "reasons", "fault"),
    [
        ({"595-99": ["t"]}, {}, "t: 595-99 is no row of requirements.tsv"),
        ({"595-01": ["t"]}, {"595-01": "r"}, "595-01 has a test, t"),
        ({"595-01": ["t"]}, {}, None),
    ],
)
def test_marks_and_reasons_must_fit_the_rows(tests, reasons, fault) -> None:
    found = requirements.find_faults([row("595-01")], tests, reasons)
    assert found is None if fault is None else fault in found


@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("595-01\tnow\ta section\n", "line 2: 4 fields are expected"),
        ("595-01\tnow\ta\tb\n595-01\tnow\ta\tb\n", "line 3: 595-01 is there already"),
        ("595-01\tsoon\ta\tb\n", "595-01 is due 'soon', not now or later"),
    ],
)
def test_a_wrong_table_is_one_line(tmp_path: Path, text: str, named: str) -> None:
    path = tmp_path / "rows.tsv"
    path.write_text(HEAD + text)
    with pytest.raises(RequirementsError) as caught:
        requirements.read_rows(path)
    assert named in str(caught.value)


def test_the_table_in_the_repository_has_every_row_of_four_kips() -> None:
    rows = requirements.read_rows()
    counts = {"595": 78, "631": 104, "590": 22, "497": 16}
    for kip, count in counts.items():
        numbers = [each.requirement for each in rows if each.requirement.startswith(kip)]
        assert numbers == [f"{kip}-{number:02d}" for number in range(1, count + 1)]
    assert all(each.is_due for each in rows if each.requirement.startswith("595"))
    assert requirements.read_reasons(rows) == {}


def test_a_long_test_carries_no_row(tmp_path: Path) -> None:
    path = tmp_path / "test_rows.py"
    path.write_text(
        "import pytest\n"
        '@pytest.mark.requirement("595-01")\ndef test_quick(): pass\n'
        '@pytest.mark.long\n@pytest.mark.requirement("595-02")\ndef test_long(): pass\n'
    )
    collector = requirements.Collector()
    settings = ("-c", str(requirements.ROOT / "pyproject.toml"), "-p", "no:cacheprovider")
    asked = ["--collect-only", "-qq", *settings, str(path)]
    assert pytest.main(asked, plugins=[collector]) == 0
    assert list(collector.tests) == ["595-01"]
    assert collector.errors == []
