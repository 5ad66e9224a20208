"""A system that is one file, and no Kafka: examples/kv runs, and is found to lose what it had."""

import json
import secrets
import subprocess
import sys
from pathlib import Path

import pytest

from kraftproof import cli
from kraftproof.cluster.docker.engine import connect_engine
from kraftproof.images.base import ensure_base
from tests.docs.fences import fences

ROOT = Path(__file__).resolve().parents[3]
KV = f"{ROOT}/examples/kv/system.py:KV"


def run(store, *arguments, folder="/"):
    command = (sys.executable, "-m", "kraftproof", "test", "--workload", "register", "--json")
    return subprocess.run(
        [*command, "--store", str(store), *arguments],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        timeout=200,
    )


def losses(done):
    """Return the reasons of a run whose values got lost, after looking at how it ended."""
    assert done.returncode == 1, done.stdout + done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["verdict"] == "invalid"
    assert result["bitten"]["kill"] >= 1
    return result, [why for why in result["why"] if why.startswith("cas-register/linearizable")]


def test_the_page_shows_the_files_as_they_are():
    shown = {one.file_name: one.text for one in fences(ROOT / "docs/systems.md") if one.file_name}
    assert shown.keys() == {"server.py", "system.py"}
    for name, text in shown.items():
        assert text == f"# {name}\n" + (ROOT / "examples/kv" / name).read_text()


def is_told_by_two_operations(why):
    before, _, after = why.partition("; ")
    return "returned null" in before and "had completed before it began" in after


def test_a_system_of_one_file_loses_its_values_and_two_operations_say_so(tmp_path):
    done = run(
        tmp_path,
        *("--system", "examples/kv/system.py:KV", "--nemesis", "kill,pause"),
        *("--time-limit", "14", "--fault-every", "5", "--min-bites", "1"),
        folder=ROOT,
    )
    result, found = losses(done)
    assert found
    assert all(is_told_by_two_operations(why) for why in found)
    lines = (Path(result["run"]) / "history.jsonl").read_text().splitlines()
    events = [json.loads(line) for line in lines]
    answered = [one for one in events if one["type"] == "ok" and one["f"] == "read"]
    # What the client returned is recorded as it is: texts, and null where nothing was written.
    assert {type(one["value"]) for one in answered} == {str, type(None)}
    run_id = json.loads((Path(result["run"]) / "run.json").read_text())["run_id"]
    assert all(one["value"].endswith(f"@{run_id}") for one in answered if one["value"])
    written = [(one["key"], one["value"]) for one in events if one["f"] == "write"]
    tried = [one for one in events if one["f"] == "write" and one["type"] == "invoke"]
    assert len({(one["key"], one["value"]) for one in tried}) == len(tried) < len(written)
    options = json.loads((Path(result["run"]) / "run.json").read_text())
    assert options["system"] == KV
    assert [node["name"] for node in options["nodes"]] == ["server-1", "server-2", "server-3"]


@pytest.mark.docker
@pytest.mark.slow
def test_the_same_file_runs_in_containers_that_a_partition_divides(tmp_path):
    done = run(
        tmp_path,
        *("--system", KV, "--backend", "docker", "--nemesis", "kill,pause,partition"),
        *("--time-limit", "22", "--fault-every", "5", "--min-bites", "1"),
    )
    result, found = losses(done)
    assert found
    assert all(is_told_by_two_operations(why) for why in found)
    assert result["bitten"]["partition"] >= 1
    assert result["bitten"]["pause"] >= 1


@pytest.fixture
def image():
    """An image with an entry point of its own, which would run in place of the command."""
    client = connect_engine()
    tag = f"kraftproof-test/entry-point:{secrets.token_hex(4)}"
    name, _, version = tag.partition(":")
    container = client.containers.create(ensure_base(client, print), labels={"kraftproof": "1"})
    try:
        entry = ['ENTRYPOINT ["false"]', "LABEL kraftproof=1"]
        container.commit(repository=name, tag=version, changes=entry)
        yield tag
    finally:
        container.remove(force=True)
        client.images.remove(tag)
        client.close()


@pytest.mark.docker
@pytest.mark.long
def test_the_image_and_the_environment_of_a_deployment_are_its_own(image, tmp_path):
    path = tmp_path / "mine.py"
    path.write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT / 'examples/kv')!r})\n"
        "from dataclasses import replace\n"
        "from system import KV\n"
        "class Mine(KV):\n    name = 'mine'\n"
        "    def deployment(self, site):\n"
        "        set_up = (('sh', '-c', 'echo $GREETING two words >> greeted'), ('true',))\n"
        f"        return replace(super().deployment(site), image={image!r}, setup=set_up,\n"
        "            environment={'GREETING': 'hello'})\n"
    )
    done = run(
        tmp_path / "store",
        *("--system", f"{path}:Mine", "--backend", "docker", "--nemesis", "kill"),
        *("--time-limit", "8", "--fault-every", "4", "--min-bites", "1"),
    )
    assert done.returncode in {0, 1, 2}, done.stderr
    result = json.loads(done.stdout.splitlines()[-1])
    assert result["ok"] > 50, done.stdout
    assert result["bitten"]["kill"] == 1
    greeted = [one.read_text() for one in Path(result["run"]).glob("nodes/*/greeted")]
    assert greeted == ["hello two words\n"] * 3  # once, also where the node was killed


@pytest.mark.parametrize(
    ("arguments", "expected"),
    [
        (
            "--nemesis clock --backend docker",
            "--nemesis clock: the system kv can't have that on docker (a node has to report its "
            "wall clock), only ",
        ),
        (
            "--nemesis clock",
            "--nemesis clock: the system kv can't have that on local (a node has to report its "
            "wall clock), only ",
        ),
        (
            "--backend simulated --nemesis kill",
            "--backend simulated: the system kv runs only on local, docker",
        ),
        ("--nodes 3+3", "--nodes 3+3: the system kv takes 3 or server=3"),
        ("--nodes server=x", "--nodes server=x: 3+3, 5, or controller=3,broker=3 is expected"),
        ("--nodes server=2,server=3", "--nodes server=2,server=3: server=3: each role once"),
        ("--nodes server=0", "--nodes 0: 1 to 32 is expected"),
        ("--node-config a=b", "--node-config a: the system kv takes no settings"),
        (
            "--system-version 3.4.0",
            "--system-version 3.4.0: the system kv has no choice of versions",
        ),
        (
            "--workload topics --nemesis none",
            "--workload topics: the clients of the system kv serve only register, set, queue",
        ),
    ],
)
def test_what_the_system_can_not_have_is_refused_in_one_line(arguments, expected, tmp_path, capsys):
    words = arguments.split()
    given = [] if "--workload" in words else ["--workload", "register"]
    store = ["--store", str(tmp_path), "--time-limit", "3"]
    status = cli.run(["test", "--system", KV, *given, *store, *words])
    lines = capsys.readouterr().err.strip().splitlines()
    assert status == 3
    assert expected in lines[-1]
    assert "Traceback" not in "".join(lines)


def test_the_reference_system_takes_nodes_by_role_and_no_plain_number(tmp_path, capsys):
    assert cli.run(["test", "--nodes", "5", "--dry-run"]) == 3
    said = capsys.readouterr().err
    assert "5: the system reference takes 3+3 or controller=3,broker=3" in said
    assert cli.run(["test", "--nodes", "controller=3", "--dry-run"]) == 3
    assert "--nodes: the system reference needs at least one broker" in capsys.readouterr().err
    both = []
    for nodes in ("2+1", "controller=2,broker=1"):
        assert cli.run(["test", "--nodes", nodes, "--dry-run"]) == 0
        both.append(capsys.readouterr().out)
    assert both[0] == both[1] != ""
