"""Redis with Sentinel as a system under test: each node has a server and the Sentinel beside it."""

import asyncio
import json
import time

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.systems.programs import DebianPackages
from kraftproof.cluster.systems.system import (
    Client,
    Completion,
    Deployment,
    ErrorTable,
    Outcome,
    System,
    SystemUnavailableError,
)

TIMEOUT_S = 1.0
ASK_EVERY_S = 0.5
NOT_DONE = {"READONLY", "NOREPLICAS", "LOADING", "MASTERDOWN", "unequal"}
"""First words of errors after which surely nothing was done."""
CHANGES = ("write", "cas", "add", "enqueue", "dequeue")
SERVER = """port {port}
bind {host}
protected-mode no
save ""
appendonly yes
repl-diskless-sync-delay 0
min-replicas-max-lag 2
"""
SENTINEL = """port {port}
bind {host}
protected-mode no
sentinel monitor main {primary} 2
sentinel down-after-milliseconds main 1000
sentinel failover-timeout main 5000
"""
CAS = (
    "if (redis.call('get', KEYS[1]) or 'null') ~= ARGV[1] then return 0 end "
    "redis.call('set', KEYS[1], ARGV[2]) return 1"
)


class Redis(System):
    """A primary, two replicas and three Sentinels, of Debian's packages."""

    name = "redis"
    backends = ("docker", "ssh")
    workloads = ("register", "set", "queue", "counter")
    errors = ErrorTable(reads={"read"}, refusals=dict.fromkeys(CHANGES, NOT_DONE))

    def ports(self, node):
        """Return the ports of the server and of its Sentinel."""
        return {"server": 6379, "sentinel": 26379}

    def deployment(self, site):
        """Return a server and its Sentinel; the first node is the primary at first."""
        server, sentinel = site.address("server"), site.address("sentinel")
        primary = site.addresses[site.nodes[0].node_id]["server"]
        settings = SERVER.format(port=server.port, host=server.host)
        if site.node != site.nodes[0]:
            settings += f"replicaof {primary.host} {primary.port}\n"
        watched = SENTINEL.format(
            port=sentinel.port, host=sentinel.host, primary=f"{primary.host} {primary.port}"
        )
        return Deployment(
            command=("sh", "-c", "redis-sentinel sentinel.conf & exec redis-server redis.conf"),
            files={"redis.conf": settings, "sentinel.conf": watched},
            image=DebianPackages(packages=("redis-server", "redis-sentinel")),
            probe=b"PING\r\n",
        )

    async def lacks(self, cluster):
        """Wait until the primary has its replicas, and each Sentinel knows the others."""
        nodes = len(cluster.nodes)
        for node in cluster.nodes:
            try:
                answered = await ask(
                    cluster, node.node_id, "sentinel", "SENTINEL", "MASTER", "main"
                )
            except (ConnectionFailed, OutcomeUnknown) as error:
                return f"{node.name}: {error}"
            facts = dict(zip(answered[::2], answered[1::2], strict=True))
            if (facts["num-slaves"], facts["num-other-sentinels"]) != (str(nodes - 1),) * 2:
                return f"{node.name}: its Sentinel does not know all nodes"
        return None

    async def roles(self, cluster):
        """Return the primary that most Sentinels name."""
        votes = []
        for node in cluster.nodes:
            try:
                votes.append(await primary_of(cluster, node.node_id))
            except (ConnectionFailed, OutcomeUnknown):
                continue
        if not votes:
            return {}
        primary = max(votes, key=votes.count)
        others = tuple(n.node_id for n in cluster.nodes if n.node_id != primary)
        return {"primary": (primary,), "backup": others}

    def client(self, cluster, workload, random):
        """Return a client that asks the Sentinel of a drawn node."""
        if workload not in COMMANDS:
            raise SystemUnavailableError(f"the system redis has no client for {workload!r}")
        return RedisClient(cluster, random, COMMANDS[workload])


COMMANDS = {
    "register": {
        "read": lambda key, value: ("GET", key),
        "write": lambda key, value: ("SET", key, json.dumps(value)),
        "cas": lambda key, value: ("EVAL", CAS, "1", key, *map(json.dumps, value)),
    },
    "set": {
        "read": lambda key, value: ("SMEMBERS", key),
        "add": lambda key, value: ("SADD", key, json.dumps(value)),
    },
    "queue": {
        "enqueue": lambda key, value: ("RPUSH", key, json.dumps(value)),
        "dequeue": lambda key, value: ("LPOP", key),
    },
    "counter": {
        "read": lambda key, value: ("INCRBY", key, "0"),
        "add": lambda key, value: ("INCRBY", key, str(value)),
    },
}
"""The command of each operation, by workload."""


class RedisClient(Client):
    """A client beside one node, whose Sentinel it asks for the primary every half second."""

    def __init__(self, cluster, random, commands):
        self.cluster = cluster
        self.commands = commands
        self.homes = [node.node_id for node in cluster.nodes]
        random.shuffle(self.homes)
        self.asked_s = 0.0
        self.primary = None
        self.streams = None

    @property
    def node(self):
        """The primary as the client knows it; before, the node whose Sentinel it asks."""
        return self.primary or self.homes[0]

    async def open(self):
        """Ask the Sentinel, and connect to the primary if there is no connection."""
        try:
            if time.monotonic() - self.asked_s > ASK_EVERY_S:
                self.asked_s = time.monotonic()
                primary = await primary_of(self.cluster, self.homes[0])
                if primary != self.primary:
                    self.drop()
                    self.primary = primary
            if self.streams is None:
                self.streams = await connect(self.cluster, self.node, "server")
        except OutcomeUnknown as error:
            raise ConnectionFailed(str(error)) from error

    async def invoke(self, f, key, value):
        """Send one command and read its answer."""
        command = self.commands[f](key, value)
        try:
            answer = await call(self.streams, *command)
        except RedisError as error:
            word = str(error).split(maxsplit=1)[0]
            return Completion(outcome=Redis.errors.of(f, word), error=str(error), connected=False)
        if command[0] == "EVAL" and answer == 0:
            return Completion(outcome=Outcome.FAIL, error="unequal")
        if f in {"read", "dequeue"}:
            return Completion(outcome=Outcome.OK, value=decoded(answer))
        return Completion(outcome=Outcome.OK, value=value)

    def drop(self):
        """Close the connection to the primary."""
        if self.streams is not None:
            self.streams[1].close()
            self.streams = None

    def close(self):
        """Close the connection, and ask the Sentinel at the next opening."""
        self.drop()
        self.asked_s = 0.0


class RedisError(Exception):
    """An error that Redis answers."""


def decoded(answer):
    """Return the JSON values in an answer; a set has its elements in order."""
    if isinstance(answer, list):
        return sorted(map(json.loads, answer))
    return json.loads(answer) if isinstance(answer, str) else answer


async def primary_of(cluster, node_id):
    """Return the primary that a node's Sentinel names."""
    host, _ = await ask(cluster, node_id, "sentinel", "SENTINEL", "GET-MASTER-ADDR-BY-NAME", "main")
    hosts = {cluster.address(n.node_id, "server").host: n.node_id for n in cluster.nodes}
    return hosts[host]


async def ask(cluster, node_id, port, *words):
    """Send one command over a connection of its own, and return the answer."""
    streams = await connect(cluster, node_id, port)
    try:
        return await call(streams, *words)
    except RedisError as error:
        raise OutcomeUnknown(str(error)) from error
    finally:
        streams[1].close()


async def connect(cluster, node_id, port):
    """Connect to a port of a node."""
    address = cluster.address(node_id, port)
    try:
        async with asyncio.timeout(TIMEOUT_S):
            return await asyncio.open_connection(address.host, address.port)
    except (OSError, TimeoutError) as error:
        raise ConnectionFailed(f"node {node_id}: {type(error).__name__}") from error


async def call(streams, *words):
    """Send a command in the protocol RESP2, and return the answer."""
    reader, writer = streams
    texts = [word.encode() for word in words]
    parts = [b"*%d\r\n" % len(texts), *(b"$%d\r\n%s\r\n" % (len(text), text) for text in texts)]
    try:
        async with asyncio.timeout(TIMEOUT_S):
            writer.write(b"".join(parts))
            return await answer_of(reader)
    except (OSError, EOFError, TimeoutError) as error:
        raise OutcomeUnknown(f"no answer: {type(error).__name__}") from error


async def answer_of(reader):
    """Read one answer: a text, a number, null, or a list of answers."""
    line = (await reader.readuntil(b"\r\n"))[:-2].decode()
    kind, rest = line[0], line[1:]
    if kind == "-":
        raise RedisError(rest)
    if kind == ":":
        return int(rest)
    if kind == "$":
        if rest == "-1":
            return None
        return (await reader.readexactly(int(rest) + 2))[:-2].decode()
    if kind == "*":
        return [await answer_of(reader) for _ in range(int(rest))]
    return rest
