"""A client of the key-value servers in docker-compose.yml, one JSON object a line."""

import asyncio
import json

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.systems.compose.client import ComposeClient
from kraftproof.cluster.systems.system import Completion, ErrorTable, Outcome

TIMEOUT_S = 1.0


class KVClient(ComposeClient):
    """One connection at a time, to the next service once a connection is lost."""

    workloads = ("register",)
    errors = ErrorTable(reads={"read"}, refusals={"cas": {"unequal"}})
    probe = b'{"f": "read", "key": "probe", "value": null}\n'
    streams = None

    async def open(self):
        """Connect if there is no connection."""
        if self.streams is not None:
            return
        address = self.cluster.address(self.node, "client")
        try:
            async with asyncio.timeout(TIMEOUT_S):
                self.streams = await asyncio.open_connection(address.host, address.port)
        except (OSError, TimeoutError) as error:
            self.close()
            raise ConnectionFailed(f"node {self.node}: {type(error).__name__}") from error

    async def invoke(self, f, key, value):
        """Send one line and read one line."""
        reader, writer = self.streams
        try:
            async with asyncio.timeout(TIMEOUT_S):
                writer.write(json.dumps({"f": f, "key": key, "value": value}).encode() + b"\n")
                answer = json.loads(await reader.readline())
        except (OSError, TimeoutError, ValueError) as error:
            self.close()
            raise OutcomeUnknown(f"no answer: {type(error).__name__}") from error
        if "error" in answer:
            return Completion(outcome=self.errors.of(f, answer["error"]), error=answer["error"])
        return Completion(outcome=Outcome.OK, value=answer["value"])

    def close(self):
        """Drop the connection, and turn to the next service."""
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None
        self.next_node()
