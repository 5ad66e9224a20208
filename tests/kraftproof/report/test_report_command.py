"""`kraftproof report`: pages written again from run directories alone."""

import html
import json
import re
import shutil
from xml.etree import ElementTree

import pytest

from tests.support.command import KRAFTPROOF, call, run

PAGES = ("report.html", "report.md", "junit.xml")


@pytest.fixture(scope="module")
def invalid_run(tmp_path_factory):
    """The run of a seed that shows a planted bug, kept by a search."""
    store = tmp_path_factory.mktemp("invalid")
    done = run(KRAFTPROOF, "sim", "--seed", "0", "--mutant", "A18", "--store", store, timeout=120)
    assert done.returncode == 1, done.stderr
    (directory,) = store.iterdir()
    return directory


def copy(directory, tmp_path):
    """Return a copy of a run directory without its pages."""
    copied = tmp_path / "moved" / "run"
    shutil.copytree(directory, copied)
    for page in PAGES:
        (copied / page).unlink(missing_ok=True)
    return copied


def checked(directory):
    """Return the verdict and the findings of `kraftproof check`."""
    done = call("check", directory, "--json")
    found = json.loads(done.stdout)
    return done.returncode, found["verdict"], [one["sentence"] for one in found["findings"]]


def test_pages_are_written_again_from_the_directory_alone(healthy_run, tmp_path):
    directory = copy(healthy_run, tmp_path)
    done = call("report", directory)
    status, verdict, findings = checked(directory)
    assert (done.returncode, done.stdout) == (status, f"{verdict} {directory}/report.html\n")
    assert (status, verdict, findings) == (0, "valid", [])
    assert '<h1 class="valid">valid</h1>' in (directory / "report.html").read_text()
    assert (directory / "report.md").read_text().strip()
    assert 'failures="0" errors="0"' in (directory / "junit.xml").read_text()


def test_the_pages_of_an_invalid_run_have_the_verdict_and_the_findings_of_check(
    invalid_run, tmp_path
):
    directory = copy(invalid_run, tmp_path)
    done = call("report", directory)
    status, verdict, findings = checked(directory)
    assert (done.returncode, status, verdict) == (1, 1, "invalid"), done.stderr
    assert findings
    page = (directory / "report.html").read_text()
    assert '<h1 class="invalid">invalid</h1>' in page
    listed = re.findall(r"<td>([^<]*)</td></tr>", page.partition('id="findings"')[2])
    assert list(map(html.unescape, listed))[: len(findings)] == findings
    failures = [
        one.get("message") for one in ElementTree.parse(directory / "junit.xml").iter("failure")
    ]
    assert set(findings) <= set(failures)


def test_the_exit_code_is_of_the_worst_verdict(healthy_run, invalid_run, tmp_path):
    valid, invalid = copy(healthy_run, tmp_path / "a"), copy(invalid_run, tmp_path / "b")
    done = call("report", valid, invalid)
    assert done.returncode == 1
    assert [line.split()[0] for line in done.stdout.splitlines()] == ["valid", "invalid"]


def test_a_directory_that_is_no_run_is_one_line_and_nothing_is_written(healthy_run, tmp_path):
    directory, other = copy(healthy_run, tmp_path), tmp_path / "other"
    other.mkdir()
    done = call("report", directory, other)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"kraftproof: {other}")
    assert done.stderr.count("\n") == 1
    assert not any((directory / page).exists() for page in PAGES)


@pytest.mark.parametrize("page", PAGES)
def test_a_page_that_cant_be_written_is_one_line(healthy_run, tmp_path, page):
    directory = copy(healthy_run, tmp_path)
    (directory / page).mkdir()  # file permissions would not stop root
    done = call("report", directory)
    assert done.returncode == 3, done.stderr
    assert done.stderr == f"kraftproof: {directory / page}: Is a directory\n"


@pytest.mark.parametrize("field", ["system", "nodes", "started"])
def test_a_run_of_another_version_names_the_field_that_is_missing(healthy_run, tmp_path, field):
    directory = copy(healthy_run, tmp_path)
    run = json.loads((directory / "run.json").read_text())
    del run[field]
    (directory / "run.json").write_text(json.dumps(run))
    done = call("report", directory)
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr.startswith(f"kraftproof: {directory}/run.json: no {field}, ")
    assert done.stderr.count("\n") == 1
    assert not any((directory / page).exists() for page in PAGES)


def test_a_file_in_the_place_of_the_tables_is_one_line(healthy_run, tmp_path):
    directory = copy(healthy_run, tmp_path)
    shutil.rmtree(directory / "tables", ignore_errors=True)
    (directory / "tables").write_text("x")
    done = call("report", directory)
    assert done.returncode == 3, done.stderr
    assert done.stderr == f"kraftproof: {directory / 'tables'}: File exists\n"


def test_a_folder_in_the_place_of_a_table_is_one_line(healthy_run, tmp_path):
    directory = copy(healthy_run, tmp_path)
    table = directory / "tables" / "verdicts.parquet"
    table.unlink(missing_ok=True)
    table.mkdir(parents=True)
    done = call("report", directory)
    assert done.returncode == 3, done.stderr
    assert done.stderr == f"kraftproof: {table}: Is a directory\n"


def test_a_run_file_of_many_brackets_is_one_line(healthy_run, tmp_path):
    directory = copy(healthy_run, tmp_path)
    (directory / "run.json").write_text("[" * 200_000)
    done = call("report", directory)
    assert done.returncode == 3, done.stderr[-300:]
    assert done.stderr == f"kraftproof: {directory}/run.json: Expected `object`, got `array`\n"


def test_an_old_run_without_an_outcome_is_unknown_but_has_pages(healthy_run, tmp_path):
    directory = copy(healthy_run, tmp_path)
    (directory / "outcome.json").unlink()
    done = call("report", directory)
    status, verdict, _ = checked(directory)
    assert done.returncode == status, done.stderr
    assert done.stdout == f"{verdict} {directory}/report.html\n"
    assert f'<h1 class="{verdict}">{verdict}</h1>' in (directory / "report.html").read_text()
