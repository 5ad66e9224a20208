"""The wheel alone, without extras, beside a project with packages of the same names as ours."""

import json

import pytest

from tests.wheel.installed import OWN_NAMES, Installed, install

pytestmark = pytest.mark.wheel

SHORT = (
    *("--nodes", "3+2", "--time-limit", "8", "--store", "store"),
    *("--faults", "faults.txt", "--min-bites", "1"),
)
IMAGES = "images need the extra docker: pip install 'kraftproof[docker]'"
LOCAL_CODE = """
import images, node, workloads
import kraftproof.node, kraftproof.workloads
from pathlib import Path

from kraftproof.checkers import check_paths

assert (node.OWN, workloads.OWN, images.OWN) == ("my node", "my workloads", "my images")
assert kraftproof.node is not node
assert kraftproof.workloads is not workloads
(judged,) = check_paths([Path("history.jsonl")])
print(judged.verdict.name)
try:
    import kraftproof.images.build
except RuntimeError as error:
    print(error)
"""


@pytest.fixture(scope="module")
def installed(tmp_path_factory) -> Installed:
    return install(tmp_path_factory.mktemp("bare"))


@pytest.fixture(scope="module")
def history(installed):
    made = installed.kraftproof("generate", "--operations", "200", "--out", "history.jsonl")
    assert made.returncode == 0, made.stderr
    return "history.jsonl"


def test_only_one_name_of_ours_is_installed(installed):
    (record,) = installed.site_packages.glob("kraftproof-*.dist-info/RECORD")
    paths = [line.partition(",")[0].split("/") for line in record.read_text().splitlines()]
    tops = {path[0] for path in paths if not path[0].endswith(".dist-info")}
    assert tops - {".."} == {"kraftproof"}
    assert {path[-2] for path in paths if path[0] == ".."} == {"bin"}
    assert not any((installed.site_packages / name).exists() for name in OWN_NAMES)


@pytest.mark.parametrize("backend", ["simulated", "local"])
def test_a_run_is_judged_valid(installed, backend):
    # A broker, since a pause of the active controller can take longer than an election.
    (installed.project / "faults.txt").write_text("2 4 pause target=5\n")
    done = installed.kraftproof("test", "--backend", backend, *SHORT)
    assert done.returncode == 0, done.stdout + done.stderr


def test_a_history_is_judged_inline(installed, history):
    done = installed.kraftproof("check", history, "--json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["verdict"] == "valid"


def test_a_project_imports_its_own_packages_and_ours(installed, history):
    (installed.project / "own.py").write_text(LOCAL_CODE)
    done = installed.run("python", "own.py")
    assert (done.returncode, done.stdout) == (0, f"VALID\n{IMAGES}\n"), done.stderr


@pytest.mark.parametrize(
    ("command", "line"),
    [
        (
            ("test", "--backend", "docker"),
            "--backend docker needs the extra docker: pip install 'kraftproof[docker]'",
        ),
        (
            ("test", "--engine", "spark"),
            "--engine spark needs the extra spark: pip install 'kraftproof[spark]'",
        ),
    ],
    ids=["docker", "spark"],
)
def test_a_missing_extra_is_named(installed, command, line):
    done = installed.kraftproof(*command, "--store", "unused")
    assert (done.returncode, done.stdout) == (3, "")
    assert done.stderr == f"kraftproof: {line}\n"
