"""Two harnesses on the same ports: a run that met another run's nodes is unknown, never invalid."""

import json
import socket
import subprocess
import sys
from contextlib import contextmanager
from pathlib import Path

from kraftproof import cli
from kraftproof.checkers.guards.contamination import foreign_value, signs
from tests.support.same_ports import KV, given

ROOT = Path(__file__).resolve().parents[3]


def free_ports(count):
    sockets = [socket.socket() for _ in range(count)]
    for one in sockets:
        one.bind(("127.0.0.1", 0))
    ports = [one.getsockname()[1] for one in sockets]
    for one in sockets:
        one.close()
    return ports


@contextmanager
def other_harness(tmp_path, ports):
    """A cluster of another harness on the ports."""
    environment = {"XDG_RUNTIME_DIR": str(tmp_path / "other"), "PATH": "/usr/bin:/bin"}
    (tmp_path / "other").mkdir(mode=0o700)
    command = (sys.executable, "-m", "tests.support.same_ports", tmp_path / "store-of-other")
    process = subprocess.Popen(
        [*map(str, command), *map(str, ports)],
        cwd=ROOT,
        env=environment,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        assert process.stdout.readline() == "up\n"
        yield
        process.stdin.close()


def judged(tmp_path, capsys, *more):
    store = ("--store", str(tmp_path / "store"), "--time-limit", "4", "--min-bites", "0", "--json")
    system = () if "--system" in more else ("--system", KV)
    status = cli.run(["test", *system, "--workload", "register", *store, *more])
    return status, json.loads(capsys.readouterr().out.splitlines()[-1])


def test_nodes_that_find_their_ports_taken_are_another_runs(tmp_path, capsys):
    ports = free_ports(3)
    with other_harness(tmp_path, ports), given(ports):
        status, found = judged(tmp_path, capsys, "--nemesis", "none")
    assert (status, found["verdict"]) == (2, "unknown")
    assert any(f"contaminated: port 127.0.0.1:{ports[0]}" in why for why in found["why"])


FOREIGN = """
import sys
sys.path.insert(0, {folder!r})
from dataclasses import replace
from system import KV


class Mixed(KV):
    '''The key-value server, whose nodes sometimes answer for another run and name its cluster.'''

    name = "mixed"
    reads = 0

    def client(self, cluster, workload, random):
        client = super().client(cluster, workload, random)
        invoke = client.invoke

        async def mixed(f, key, value):
            done = await invoke(f, key, value)
            self.reads += f == "read"
            return replace(done, value="1@fffff") if {is_mixed} and self.reads == 20 else done

        client.invoke = mixed
        return client

    async def identity(self, cluster, node_id):
        return {identity}
"""


def mixed(tmp_path, capsys, *, is_mixed, identity):
    path = tmp_path / "mixed.py"
    folder = str(ROOT / "examples/kv")
    path.write_text(FOREIGN.format(folder=folder, is_mixed=is_mixed, identity=identity))
    return judged(tmp_path, capsys, "--nemesis", "none", "--system", f"{path}:Mixed")


def test_a_value_of_another_run_makes_a_wrong_answer_unknown(tmp_path, capsys):
    status, found = mixed(tmp_path, capsys, is_mixed=True, identity="'one'")
    assert (status, found["verdict"]) == (2, "unknown")
    assert any("has the value 1@fffff of another run" in why for why in found["why"])
    again = cli.run(["check", found["run"]])  # whoever judges the directory again says the same
    assert (again, capsys.readouterr().out.split()[0]) == (2, "unknown")


def test_nodes_of_two_clusters_are_told(tmp_path, capsys):
    status, found = mixed(tmp_path, capsys, is_mixed=False, identity="'AB'[node_id == 2]")
    assert (status, found["verdict"]) == (2, "unknown")
    why = "contaminated: the nodes belong to 2 clusters: node 1 to A, node 2 to B"
    assert why in found["why"]


def test_one_cluster_and_own_values_are_no_sign(tmp_path, capsys):
    status, found = mixed(tmp_path, capsys, is_mixed=False, identity="'one'")
    assert (status, found["verdict"]) == (0, "valid"), found["why"]


def test_a_node_that_prints_that_its_address_is_in_use_is_a_sign(tmp_path):
    for node, text in (("1", "ready"), ("2", "[Errno 98] bind: Address already in use")):
        (tmp_path / node).mkdir()
        (tmp_path / node / "output.log").write_text(f"start\n{text}\n")
    [found] = signs(tmp_path / "history.jsonl", tmp_path, "0abcd")
    assert found.kind == "contaminated"
    assert found.sentence == (
        "contaminated: node 2 found its address in use, by another program or by another node with "
        "the same address"
    )
    for targets, signs_left in (([2], 0), ([1], 1)):
        row = {"index": 0, "time": 0, "phase": "intent", "fault": "f0", "kind": "taken-port"}
        text = json.dumps({**row, "targets": targets})
        (tmp_path / "faults.jsonl").write_text(text)
        assert len(list(signs(tmp_path / "history.jsonl", tmp_path, "0abcd"))) == signs_left


def test_only_answered_values_of_other_runs_count(tmp_path):
    path = tmp_path / "history.jsonl"
    rows = [
        {"type": "invoke", "value": "1@fffff"},
        {"type": "ok", "value": ["3@0abcd", "x@fffff", "12@s7x"]},
        {"type": "info", "value": "1@fffff"},
    ]
    path.write_text("".join(json.dumps(row, separators=(",", ":")) + "\n" for row in rows))
    assert foreign_value(path, "0abcd") is None
    assert foreign_value(path, "0abce") == ("3@0abcd", 2)
