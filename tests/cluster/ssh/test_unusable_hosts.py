"""Hosts on which no run can start: one early line with the host, the value and what is expected."""

import pytest

from kraftproof import cli

pytestmark = pytest.mark.docker

MISTAKES = {
    "directory-of-root": ('directory = "/root/x"', "this login can't write in /root"),
    "directory-in-file": ('directory = "/etc/passwd"', "directory /etc/passwd: /etc/passwd is a"),
    "directory-of-nobody": ('directory = "~no-one/x"', "directory ~no-one/x: Could not determine"),
    "full-disk": (
        'directory = "/dev/shm/x"',
        "directory /dev/shm/x: its disk has 54 MiB left, 64 MiB are needed",
    ),
    "foreign-address": (
        'node_address = "192.0.2.1"',
        "a node can't listen at 192.0.2.1 (Cannot assign requested address): give node_address",
    ),
    "shell-as-python": ('python = "/bin/sh"', "probe: /bin/sh: 0: Illegal option -S (is '/bin/sh'"),
    "true-as-python": ('python = "/bin/true"', "probe: exit status 0 (is '/bin/true' a Python 3?)"),
    "no-sudo": ('sudo = "nosudo -n"', "there is no nosudo: name another way by sudo"),
}


@pytest.fixture(scope="module")
def full(hosts):
    """A disk of 64 MiB on the first host, of which 10 are in use."""
    hosts.run(0, "sh", "-c", "head -c 10M /dev/zero >/dev/shm/in-use")
    return hosts


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_host_that_can_not_be_used_is_one_early_line(full, tmp_path, capsys, mistake):
    setting, said = MISTAKES[mistake]
    # Only faults of links need sudo here, and a link needs two hosts.
    count, nemesis = (2, "partition") if mistake == "no-sudo" else (1, "kill")
    path = full.write_hosts(extra="" if setting.startswith("node_") else setting, count=count)
    if setting.startswith("node_"):
        path.write_text(path.read_text() + setting + "\n")
    command = ["test", "--backend", "ssh", "--hosts", str(path), "--nodes", str(count)]
    command += ["--system", "examples/kv/system.py:KV", "--workload", "register"]
    command += ["--nemesis", nemesis, "--store", str(tmp_path / "store")]
    assert cli.run(command) == 3
    (line,) = capsys.readouterr().err.splitlines()
    assert "host alpha: " in line
    assert said in line
    assert not list(tmp_path.glob("store/*"))
