"""The examples of CONTRIBUTING.md are a package that works once it is installed."""

import json
import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(?:python|toml)\n# (\S+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
KRAFTPROOF = (sys.executable, "-m", "kraftproof")


@pytest.fixture
def installed(tmp_path):
    """The environment in which the examples are installed, as pip would: files and metadata."""
    blocks = dict(BLOCK.findall((ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")))
    groups = tomllib.loads(blocks.pop("pyproject.toml"))["project"]["entry-points"]
    site = tmp_path / "site"
    for name, source in blocks.items():
        (site / name).parent.mkdir(parents=True, exist_ok=True)
        (site / name).write_text(source, encoding="utf-8")
    metadata = site / "mychaos-1.0.dist-info"
    metadata.mkdir()
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: mychaos\nVersion: 1.0\n")
    lines = []
    for group, points in groups.items():
        lines += [f"[{group}]", *(f"{name} = {target}" for name, target in points.items())]
    (metadata / "entry_points.txt").write_text("\n".join(lines) + "\n")
    return {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), str(ROOT)])}


def kraftproof(environment, *arguments):
    return subprocess.run(
        [*KRAFTPROOF, *arguments],
        env=environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.long
def test_the_fault_the_workload_and_the_system_run(installed, tmp_path) -> None:
    done = kraftproof(
        installed,
        *("test", "--backend", "simulated", "--system", "patient", "--workload", "create-only"),
        *("--nemesis", "kill-broker", "--time-limit", "20", "--engine", "inline", "--json"),
        *("--store", str(tmp_path / "store")),
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert json.loads(done.stdout.splitlines()[-1])["verdict"] == "valid"


def test_the_model_judges(installed, tmp_path) -> None:
    history = tmp_path / "tally.jsonl"
    events = [
        {"process": 0, "type": "invoke", "f": "add", "value": 2},
        {"process": 1, "type": "invoke", "f": "sum", "value": None},
        {"process": 0, "type": "ok", "f": "add", "value": 2},
        {"process": 1, "type": "ok", "f": "sum", "value": 0},
        {"process": 1, "type": "invoke", "f": "sum", "value": None},
        {"process": 1, "type": "ok", "f": "sum", "value": 2},
    ]

    def write() -> None:
        numbered = [
            {"index": index, "time": index * 1000, "key": "c", **event}
            for index, event in enumerate(events)
        ]
        history.write_text("".join(json.dumps(event) + "\n" for event in numbered))

    write()
    command = ("check", "--model", "tally", "--engine", "inline", str(history))
    right = kraftproof(installed, *command)
    assert right.returncode == 0, right.stdout + right.stderr
    events[-1]["value"] = 0
    write()
    wrong = kraftproof(installed, *command)
    assert wrong.returncode == 1, wrong.stdout + wrong.stderr


def test_the_installed_plugins_are_listed_and_named_in_the_help(installed, tmp_path) -> None:
    listed = json.loads(kraftproof(installed, "list", "--json").stdout)
    found = {
        (kind, item["name"]): item["source"]
        for kind, items in listed.items()
        for item in items
        if item["source"] != "kraftproof"
    }
    assert found == {
        ("faults", "kill-broker"): "mychaos 1.0",
        ("workloads", "create-only"): "mychaos 1.0",
        ("models", "tally"): "mychaos 1.0",
        ("systems", "patient"): "mychaos 1.0",
    }
    (tmp_path / "site" / "mychaos" / "tally.py").write_text("import nowhere\n")
    broken = kraftproof(installed, "list", "models")
    assert broken.returncode == 0, broken.stderr
    assert "does not import: ModuleNotFoundError: No module named 'nowhere'" in " ".join(
        broken.stdout.split()
    )
    told = " ".join(kraftproof(installed, "--help").stdout.split())
    assert "fault kill-broker (mychaos)" in told
    assert "model tally (mychaos)" in told
