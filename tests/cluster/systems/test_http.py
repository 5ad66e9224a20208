"""JSON over HTTP: a request that was never sent has failed, an answer that is lost is unknown."""

import asyncio
import json
from pathlib import Path

import pytest

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.http import asked_date, connect_json
from kraftproof.cluster.protocol import Address, NodeInfo
from kraftproof.cluster.systems.registry import make_system

ETCD = f"{Path(__file__).resolve().parents[3]}/examples/etcd/system.py:Etcd"
WHOLE = b'HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\n{"a": 12}'
CHUNKED = (
    b"HTTP/1.1 503 Unavailable\r\nTransfer-Encoding: chunked\r\n\r\n"
    b'5\r\n{"a":\r\n4\r\n 12}\r\n0\r\n\r\n'
)
SETTLE_S = 0.05
"""Both ends of a connection close in this time."""


async def served(answer, use):
    """Serve one answer to each request of a connection, and use the address."""
    asked = []

    async def serve(reader, writer):
        try:
            while head := await reader.readuntil(b"\r\n\r\n"):
                [length] = [
                    n.split(b":")[1] for n in head.splitlines() if n.startswith(b"Content-L")
                ]
                asked.append((head.split()[1].decode(), json.loads(await reader.read(int(length)))))
                if answer is None:
                    break
                writer.write(answer)
        except asyncio.IncompleteReadError:
            pass
        writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        found = await use(Address(host="127.0.0.1", port=port, peer_host=""))
        await asyncio.sleep(SETTLE_S)
        return found, asked


@pytest.mark.parametrize(("answer", "status"), [(WHOLE, 200), (CHUNKED, 503)])
def test_answers_come_whole_and_in_chunks_over_one_connection(answer, status):
    async def use(address):
        connection = await connect_json(address, 1.0)
        answers = [await connection.post("/path", {"n": n}, 1.0) for n in range(2)]
        connection.close()
        return answers

    answers, asked = asyncio.run(served(answer, use))
    assert answers == [(status, {"a": 12})] * 2
    assert asked == [("/path", {"n": 0}), ("/path", {"n": 1})]


@pytest.mark.parametrize(
    "answer", [None, b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{", b"\r\n\r\n"]
)
def test_a_lost_answer_is_unknown(answer):
    async def use(address):
        connection = await connect_json(address, 1.0)
        with pytest.raises(OutcomeUnknown):
            await connection.post("/path", {}, 0.2)
        connection.close()

    _, asked = asyncio.run(served(answer, use))
    assert asked == [("/path", {})]


def test_what_was_never_sent_has_failed():
    async def use(address):
        connection = await connect_json(address, 1.0)
        with pytest.raises(OutcomeUnknown):
            await connection.post("/path", {}, 1.0)  # the node hangs up
        with pytest.raises(ConnectionFailed):
            await connection.post("/path", {}, 1.0)
        connection.close()
        return address

    address, asked = asyncio.run(served(None, use))
    assert len(asked) == 1
    with pytest.raises(ConnectionFailed):
        asyncio.run(connect_json(address, 1.0))


def test_an_etcd_that_knows_no_leader_has_no_roles():
    """The gateway leaves out fields that are 0, such as the id of a leader that is not there."""
    told = json.dumps({"header": {"member_id": "7"}, "raftTerm": "3"}).encode()
    answer = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n%s" % (len(told), told)

    class Alone:
        nodes = (NodeInfo(node_id=1, name="server-1", roles=("server",)),)

        def __init__(self, address):
            self.address = lambda node_id, port: address

    async def use(address):
        return await make_system(ETCD).roles(Alone(address))

    assert asyncio.run(served(answer, use))[0] == {}


DATED = b"HTTP/1.1 404 Not Found\r\ndate: Mon, 30 Nov 2026 05:25:07 GMT\r\n\r\n"


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (DATED, 1796016307 * 10**9),
        (DATED.replace(b"date", b"DATE"), 1796016307 * 10**9),
        (b"HTTP/1.1 200 OK\r\n\r\n", None),
        (DATED.replace(b"Nov", b"Now"), None),
        (DATED.replace(b"Nov", b"\xff"), None),
        (DATED.replace(b"2026", b"99999999999"), None),
        (b"HTTP/1.1 200 OK\r\n" + b"x" * 100_000, None),
        (b"", None),
    ],
)
def test_the_clock_of_a_server_is_the_date_of_any_answer(answer, found):
    async def serve(reader, writer):
        assert (await reader.readuntil(b"\r\n\r\n")).startswith(b"GET /version HTTP/1.1\r\n")
        writer.write(answer)
        writer.close()

    async def whole():
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            address = Address(host="127.0.0.1", port=port, peer_host="")
            return await asked_date(address, "/version", 1.0)

    assert asyncio.run(whole()) == found


def test_a_server_that_is_down_or_silent_has_no_clock():
    async def serve(reader, writer):
        await reader.read()  # until the other end gives up
        writer.close()

    async def whole():
        async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
            port = server.sockets[0].getsockname()[1]
            address = Address(host="127.0.0.1", port=port, peer_host="")
            silent = await asked_date(address, "/", 0.05)
            await asyncio.sleep(SETTLE_S)
        return silent, await asked_date(address, "/", 1.0)

    assert asyncio.run(whole()) == (None, None)
