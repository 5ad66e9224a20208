"""Dead runs whose hosts exist no more: sweeps try a few times, and then give up in one line."""

import socket
import subprocess

import pytest

from kraftproof.cluster.owner import Owner, this_owner
from kraftproof.cluster.processes import identify
from kraftproof.cluster.ssh import records
from kraftproof.cluster.ssh.hosts_file import HostEntry
from kraftproof.cluster.ssh.leftovers import sweep


@pytest.fixture
def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        return int(listener.getsockname()[1])


def test_a_host_that_exists_no_more_is_given_up(tmp_path, monkeypatch, closed_port):
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    with subprocess.Popen(["sleep", "60"]) as harness:
        process = identify(harness.pid)
        harness.kill()
    assert process is not None
    fingerprint = "SHA256:" + "a" * 43
    gone = HostEntry(name="gone", address="127.0.0.1", port=closed_port, fingerprint=fingerprint)
    owner = Owner(namespace=this_owner().namespace, process=process)
    record = records.HostsRecord(run="dead", owner=owner, hosts=(gone,))
    records.write_record(tmp_path, record)
    error = f"ssh run dead: host gone: 127.0.0.1:{closed_port} can't be reached: Connection refused"
    assert sweep() == [error]
    assert sweep() == [error]
    tried, given_up = sweep()
    assert tried == error
    assert given_up.startswith("ssh run dead: given up after 3 sweeps: gone; the keeper of a host")
    assert sweep() == []
