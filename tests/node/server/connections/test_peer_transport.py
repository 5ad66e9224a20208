"""Connections to peers whose host, as a broker registered the name, leads nowhere."""

import asyncio

import pytest

from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.server.peer_transport import PeerSocket
from kraftproof.node.server.security.peer_credentials import PeerCredentials
from kraftproof.node.shell.ports import AnswerReader


class Owner:
    """Waits for the end of a connection."""

    def __init__(self) -> None:
        self.has_ended = asyncio.Event()

    def answered(
        self, connection: PeerSocket, correlation_id: int, read: AnswerReader[Send | Forward]
    ) -> None:
        raise AssertionError(f"an answer: {connection} {correlation_id} {read}")

    def ended(self, connection: PeerSocket) -> None:
        del connection
        self.has_ended.set()


@pytest.mark.parametrize("host", ["a..b", "a" * 64 + ".x", "a\0b", "no-such-host.invalid"])
def test_a_host_that_leads_nowhere_ends_the_connection(host: str) -> None:
    async def main() -> None:
        owner = Owner()
        PeerSocket(owner, "node-1", PeerCredentials()).open(host, host, 9092)
        await asyncio.wait_for(owner.has_ended.wait(), 20)

    asyncio.run(main())
