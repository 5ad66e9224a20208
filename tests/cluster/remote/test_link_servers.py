"""A Toxiproxy that is none, hangs, or ends: one line each, in bounded time."""

import asyncio
import os
import socket
from pathlib import Path

import pytest

from kraftproof.cluster.docker.pod_process import PodProcess
from kraftproof.cluster.protocol import ClusterError
from kraftproof.cluster.remote.toxiproxy import program as programs
from kraftproof.cluster.remote.toxiproxy import server as servers
from kraftproof.cluster.remote.toxiproxy.server import LinkServer

ANSWERS = """#!/usr/bin/env python3
import sys
from http.server import BaseHTTPRequestHandler, HTTPServer
class Answers(BaseHTTPRequestHandler):
    def log_request(self, code):
        pass
    def do_GET(self):
        self.send_response(200)
        self.end_headers()
at = sys.argv.index
print("up", flush=True)
HTTPServer((sys.argv[at("-host") + 1], int(sys.argv[at("-port") + 1])), Answers).serve_forever()
"""


def write(folder: Path, text: str) -> Path:
    path = folder / "toxiproxy-server"
    path.write_text(text)
    path.chmod(0o755)
    return path


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as server:
        return int(server.getsockname()[1])


def link(path: Path, port: int = 0) -> LinkServer:
    """Return the server of a link without proxies, on a port of loopback, by default a free one."""
    port = port or free_port()
    command = (str(path), "-host", "127.0.0.1", "-port", str(port))

    async def spawn() -> PodProcess:
        return await PodProcess.start((), command)

    return LinkServer("1>2", "127.0.0.1", port, (), spawn)


async def started(server: LinkServer) -> None:
    try:
        await server.start()
    finally:
        await server.end()


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("#!/bin/sh\necho out of luck >&2; exit 7", " ended with status 7: out of luck"),
        ("#!/bin/sh\nexit 0", " ended with status 0: nothing printed"),
    ],
)
def test_a_server_that_ends_at_its_start_is_one_line(tmp_path, text, said) -> None:
    with pytest.raises(ClusterError) as refused:
        asyncio.run(started(link(write(tmp_path, text))))
    assert str(refused.value) == f"toxiproxy of link 1>2{said}"


def test_a_server_that_never_answers_is_one_line(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(servers, "CALL_S", 0.2)
    monkeypatch.setattr(servers, "START_S", 0.6)
    path = write(tmp_path, "#!/bin/sh\nexec sleep 60")
    with socket.create_server(("127.0.0.1", 0)) as silent, pytest.raises(ClusterError) as refused:
        asyncio.run(started(link(path, silent.getsockname()[1])))
    assert str(refused.value) == "toxiproxy of link 1>2: no answer in 0.2 s"


def test_a_server_that_ends_or_hangs_later_has_failed(tmp_path, monkeypatch) -> None:
    async def failures() -> list[str | None]:
        server = link(write(tmp_path, ANSWERS))
        await server.start()
        found = [await server.failure()]
        assert isinstance(server._process, PodProcess)
        server._process._process.kill()
        while await server.failure() is None:  # noqa: ASYNC110 - the kernel ends the process
            await asyncio.sleep(0.02)
        found.append(await server.failure())
        await server._replace()
        found.append(await server.failure())
        await server.end()
        await server.start()
        found.append(await server.failure())
        monkeypatch.setattr(servers, "LOOK_S", 0.2)
        server._process._process.send_signal(19)  # SIGSTOP
        found.append(await server.failure())
        await server.end()
        return found

    ended = "toxiproxy of link 1>2 ended with status -9: up"
    assert asyncio.run(failures()) == [
        None,
        ended,
        ended,  # though a new process serves the link
        None,
        "toxiproxy of link 1>2: no answer in 0.2 s",
    ]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("#!/bin/sh\nexec sleep 60", "gives no answer to -help in 0.2 s"),
        ("#!/bin/sh\necho a program of somebody else", "is no Toxiproxy 2: its -help lacks -host"),
        ("no program", "can't be run: Exec format error"),
    ],
)
def test_a_program_that_is_no_toxiproxy_is_refused(tmp_path, monkeypatch, text, reason) -> None:
    monkeypatch.setattr(programs, "HELP_S", 0.2 if "sleep" in text else 30.0)
    path = write(tmp_path, text)
    monkeypatch.setenv("PATH", f"{tmp_path}:{os.environ['PATH']}")
    advice = "remove it from PATH, or put the toxiproxy-server of a release there"
    assert programs.missing() == f"{path} {reason}; {advice}"
    with pytest.raises(ClusterError) as refused:
        programs.program()
    assert str(refused.value) == f"toxiproxy: {path} {reason}; {advice}"
