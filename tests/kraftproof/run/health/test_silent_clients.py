"""A run that waits for a client that never returns says so, while it waits and in the end."""

import re
import signal
import subprocess

from tests.support.command import begin

SYSTEM = """
import asyncio

from kraftproof.cluster.systems.system import Client, Deployment, System

SERVER = '''
import socket, sys, time
listener = socket.create_server((sys.argv[1], int(sys.argv[2])))
time.sleep(600)
'''


class Silent(System):
    name = "silent"
    nodes = "1"
    workloads = ("register",)

    def deployment(self, site):
        at = site.address("client")
        command = (site.python, "server.py", at.host, str(at.port))
        return Deployment(command=command, files={"server.py": SERVER})

    def client(self, cluster, workload, random):
        return SilentClient()


class SilentClient(Client):
    async def open(self):
        pass

    async def invoke(self, f, key, value):
        await asyncio.Event().wait()

    def close(self):
        pass
"""
LATE = re.compile(
    r"10 calls of clients did not return: invoke of \w+ of client 'silent' \(.*\) has run for "
    r"\d+ s; a client needs a time-out of its own"
)


def test_a_run_names_the_calls_that_do_not_return(tmp_path):
    (tmp_path / "system.py").write_text(SYSTEM)
    process = begin(
        *("test", "--system", f"{tmp_path}/system.py:Silent", "--nemesis", "none"),
        *("--time-limit", "1", "--store", tmp_path / "store"),
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    try:
        for line in process.stdout:
            if "waiting for at most 300 s: " in line:
                break
        assert LATE.search(line), line
        process.send_signal(signal.SIGINT)
        process.communicate(timeout=60)
    finally:
        process.kill()
        process.wait()
    assert process.returncode == 130
    (directory,) = (tmp_path / "store").iterdir()
    assert LATE.search((directory / "report.md").read_text())
