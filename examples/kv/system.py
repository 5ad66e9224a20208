"""The key-value server of this folder as a system under test."""

import asyncio
import json
from pathlib import Path

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.systems.system import (
    Client,
    Completion,
    Deployment,
    ErrorTable,
    Outcome,
    System,
    SystemUnavailableError,
)

SERVER = Path(__file__).with_name("server.py")
TIMEOUT_S = 1.0
REQUESTS = {
    "register": {},
    "set": {"add": "push"},
    "queue": {"enqueue": "push", "dequeue": "pop"},
    "counter": {"add": "count", "read": "total"},
}
"""The operations of each workload whose name differs from the server's."""


class KV(System):
    """A key-value server of three nodes that keeps nothing on disk."""

    name = "kv"
    workloads = tuple(REQUESTS)
    errors = ErrorTable(reads={"read"}, refusals={"cas": {"unequal"}})

    def deployment(self, site):
        """Return one Python process; the site knows all addresses."""
        addresses = {node: ports["client"] for node, ports in site.addresses.items()}
        words = {node: f"{at.host}:{at.port}" for node, at in addresses.items()}
        return Deployment(
            command=(site.python, "server.py", words[site.node.node_id], *words.values()),
            files={"server.py": SERVER.read_text()},
            probe=b'{"f": "read", "key": "probe", "value": null}\n',
        )

    def client(self, cluster, workload, random):
        """Return a client of a node that is drawn."""
        if workload not in REQUESTS:
            raise SystemUnavailableError(f"the system kv has no client for {workload!r}")
        return KVClient(cluster, random, REQUESTS[workload])


class KVClient(Client):
    """One connection at a time, to the next node once a connection is lost."""

    def __init__(self, cluster, random, requests):
        self.cluster = cluster
        self.requests = requests
        self.nodes = [node.node_id for node in cluster.nodes]
        random.shuffle(self.nodes)
        self.streams = None

    @property
    def node(self):
        """The node that the client talks to, or would talk to next."""
        return self.nodes[0]

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
                request = {"f": self.requests.get(f, f), "key": key, "value": value}
                writer.write(json.dumps(request).encode() + b"\n")
                answer = json.loads(await reader.readline())
        except (OSError, TimeoutError, ValueError) as error:
            self.close()
            raise OutcomeUnknown(f"no answer: {type(error).__name__}") from error
        if "error" in answer:
            return Completion(outcome=KV.errors.of(f, answer["error"]), error=answer["error"])
        return Completion(outcome=Outcome.OK, value=answer["value"])

    def close(self):
        """Drop the connection, and turn to the next node."""
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None
        self.nodes.append(self.nodes.pop(0))
