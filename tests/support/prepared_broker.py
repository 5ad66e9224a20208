"""A server that answers each request of a client of Kafka with one prepared message. No tests."""

import asyncio

from kraftproof.cluster.protocol import Address, NodeInfo
from kraftproof.node.wire import codec, headers
from kraftproof.node.wire.frames import frame

SETTLE_S = 0.05
"""Both ends of a connection close in this time."""


class OneBroker:
    """As much of a cluster as the client needs: the address of one broker."""

    nodes = (NodeInfo(node_id=1, name="one", roles=("broker",)),)

    def __init__(self, port):
        self.port = port

    def address(self, node_id, port):
        return Address(host="127.0.0.1", port=self.port, peer_host="127.0.0.1")


async def serve(reader, writer, messages):
    while True:
        try:
            size = int.from_bytes(await reader.readexactly(4), "big")
        except asyncio.IncompleteReadError:
            break
        request = await reader.readexactly(size)
        key, version = (int.from_bytes(request[at : at + 2], "big") for at in (0, 2))
        _, header_version = codec.header_versions(key, version)
        correlation = int.from_bytes(request[4:8], "big")
        head = headers.encode_response_header(correlation, header_version)
        writer.write(frame(head, codec.encode_response(messages[key], version)))
    writer.close()


def completion(client_of, messages, f, key, value):
    """The completion of one operation against a server with the messages, by key of the API.

    `client_of` makes the client from the cluster of the one broker.
    """

    async def handle(reader, writer):
        await serve(reader, writer, messages)

    async def invoke():
        server = await asyncio.start_server(handle, "127.0.0.1", 0)
        client = client_of(OneBroker(server.sockets[0].getsockname()[1]))
        try:
            await client.open()
            return await client.invoke(f, key, value)
        finally:
            client.close()
            server.close()
            await asyncio.sleep(SETTLE_S)

    return asyncio.run(invoke())
