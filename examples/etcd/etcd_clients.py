"""Clients of etcd, one class a workload, over the JSON gateway of etcd's v3 API."""

import json
from base64 import b64decode, b64encode

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.http import connect_json
from kraftproof.cluster.systems.system import Client, Completion, ErrorTable, Outcome
from kraftproof.workloads.bank import ACCOUNTS, FIRST_BALANCE

TIMEOUT_S = 2.0
LEASE_S = 2
CHANGES = ("write", "cas", "add", "txn", "transfer", "lock", "use", "unlock")
NOT_PROPOSED = {"etcdserver: too many requests"}
"""Errors of a request that no node has proposed; after all others a change may have been done."""
ERRORS = ErrorTable(reads={"read"}, refusals=dict.fromkeys(CHANGES, NOT_PROPOSED))


class EtcdClient(Client):
    """One connection at a time, to the next node once a connection is lost."""

    timeout_s = TIMEOUT_S

    def __init__(self, cluster, random):
        self.cluster = cluster
        self.nodes = [node.node_id for node in cluster.nodes]
        random.shuffle(self.nodes)
        self.connection = None

    @property
    def node(self):
        """The node that the client talks to, or would talk to next."""
        return self.nodes[0]

    async def open(self):
        """Connect if there is no connection."""
        if self.connection is None:
            address = self.cluster.address(self.node, "client")
            try:
                self.connection = await connect_json(address, self.timeout_s)
            except ConnectionFailed:
                self.close()
                raise

    def close(self):
        """Drop the connection, and turn to the next node."""
        if self.connection is not None:
            self.connection.close()
            self.connection = None
        self.nodes.append(self.nodes.pop(0))

    async def invoke(self, f, key, value):
        """Do one operation; an error of etcd becomes fail or info by the table of errors."""
        try:
            return Completion(outcome=Outcome.OK, value=await getattr(self, f)(key, value))
        except RefusedError as error:
            return Completion(outcome=Outcome.FAIL, error=str(error))
        except EtcdError as error:
            # The node may lack a leader: the next operation asks another node.
            outcome = ERRORS.of(f, str(error))
            return Completion(outcome=outcome, error=str(error), connected=False)

    async def post(self, path, request):
        """Return etcd's answer to a request."""
        status, answer = await self.connection.post(path, request, self.timeout_s)
        if status != 200:
            raise EtcdError(answer.get("message") or answer.get("error") or f"status {status}")
        return answer

    async def ask(self, path, request):
        """Return the answer to a request that changes nothing, so that no outcome is unknown."""
        try:
            return await self.post(path, request)
        except (EtcdError, OutcomeUnknown) as error:
            raise ConnectionFailed(f"asked first: {error}") from error

    async def get(self, *keys):
        """Return (value, revision of its last change) of each key, all at one moment."""
        reads = [{"requestRange": {"key": base64(key)}} for key in keys]
        done = await self.ask("/v3/kv/txn", {"success": reads})
        found = [one["response_range"].get("kvs") for one in done["responses"]]
        return [(load(kvs[0]), kvs[0]["mod_revision"]) if kvs else (None, "0") for kvs in found]

    async def commit(self, compare, operations):
        """Do operations if all comparisons hold; return etcd's answer."""
        return await self.post("/v3/kv/txn", {"compare": compare, "success": operations})

    async def replace(self, revisions, values):
        """Put values by key if the keys of `revisions` have not changed since."""
        compare = [
            {"key": base64(key), "target": "MOD", "modRevision": revision}
            for key, revision in revisions.items()
        ]
        done = await self.commit(compare, [put(key, value) for key, value in values.items()])
        if not done.get("succeeded"):
            raise RefusedError("changed meanwhile")


class Register(EtcdClient):
    """Read, write and compare-and-set of one key."""

    async def read(self, key, value):
        """Return the value of a key; null if there is none."""
        found = await self.ask("/v3/kv/range", {"key": base64(key)})
        return load(found["kvs"][0]) if "kvs" in found else None

    async def write(self, key, value):
        """Set a key."""
        await self.post("/v3/kv/put", put(key, value)["requestPut"])
        return value

    async def cas(self, key, value):
        """Set a key to the second value if the key holds the first."""
        old, new = value
        compare = {"key": base64(key), "target": "VALUE", "value": base64(json.dumps(old))}
        if old is None:
            compare = {"key": base64(key), "target": "CREATE", "createRevision": "0"}
        done = await self.commit([compare], [put(key, new)])
        if not done.get("succeeded"):
            raise RefusedError("unequal")
        return value


class Set(EtcdClient):
    """A key of etcd for each element."""

    async def add(self, key, value):
        """Put the key of an element."""
        await self.post("/v3/kv/put", put(f"{key}/{value}", value)["requestPut"])
        return value

    async def read(self, key, value):
        """Return all elements: the keys from key/ up to key0, the next text after all key/..."""
        keys = {"key": base64(f"{key}/"), "range_end": base64(f"{key}0")}
        return [load(kv) for kv in (await self.ask("/v3/kv/range", keys)).get("kvs", ())]


class Counter(EtcdClient):
    """A sum in one key, which is replaced if it has not changed."""

    async def add(self, key, value):
        """Add to the sum."""
        [(held, revision)] = await self.get(key)
        await self.replace({key: revision}, {key: (held or 0) + value})
        return value

    async def read(self, key, value):
        """Return the sum."""
        [(held, _)] = await self.get(key)
        return held or 0


class Append(EtcdClient):
    """A key for each list; a transaction reads its lists, then replaces the changed lists."""

    async def txn(self, key, value):
        """Do the actions in their order, on the lists as they are at one moment."""
        keys = sorted({f"{key}/{name}" for _, name, _ in value})
        found = dict(zip(keys, await self.get(*keys), strict=True))
        lists = {at: held or [] for at, (held, _) in found.items()}
        answer, changed = [], {}
        for f, name, element in value:
            at = f"{key}/{name}"
            if f == "append":
                lists[at] = changed[at] = [*lists[at], element]
            answer.append([f, name, element if f == "append" else lists[at]])
        if changed:
            await self.replace({at: revision for at, (_, revision) in found.items()}, changed)
        return answer


class Bank(EtcdClient):
    """A key for each account."""

    async def balances(self, key, names):
        """Return the balance of each account, and the revisions of the keys."""
        keys = [f"{key}/{name}" for name in names]
        found = await self.get(*keys)
        held = [FIRST_BALANCE if balance is None else balance for balance, _ in found]
        revisions = dict(zip(keys, (revision for _, revision in found), strict=True))
        return dict(zip(names, held, strict=True)), revisions

    async def read(self, key, value):
        """Return all balances."""
        return (await self.balances(key, ACCOUNTS))[0]

    async def transfer(self, key, value):
        """Move money if the balance suffices."""
        source, target, amount = value["from"], value["to"], value["amount"]
        held, revisions = await self.balances(key, (source, target))
        if held[source] < amount:
            raise RefusedError("insufficient")
        left = {
            f"{key}/{source}": held[source] - amount,
            f"{key}/{target}": held[target] + amount,
        }
        await self.replace(revisions, left)
        return value


class Lock(EtcdClient):
    """A key with a lease; its token is the revision that created the key."""

    async def lock(self, key, value):
        """Create the key with a lease of LEASE_S seconds, which nobody keeps alive."""
        lease = await self.ask("/v3/lease/grant", {"TTL": LEASE_S})
        compare = {"key": base64(key), "target": "CREATE", "createRevision": "0"}
        done = await self.commit([compare], [put(key, "held", lease=lease["ID"])])
        if not done.get("succeeded"):
            raise RefusedError("held")
        return int(done["header"]["revision"])

    async def use(self, key, value):
        """Write to the protected key if the lock still has the token; return whether it had."""
        done = await self.commit([has_token(key, value)], [put(f"{key}/used", value)])
        return bool(done.get("succeeded"))

    async def unlock(self, key, value):
        """Delete the key if the lock still has the token."""
        await self.commit([has_token(key, value)], [{"requestDeleteRange": {"key": base64(key)}}])
        return value


CLIENTS = {
    "register": Register,
    "set": Set,
    "counter": Counter,
    "append": Append,
    "bank": Bank,
    "lock": Lock,
}


class EtcdError(Exception):
    """An error that etcd answers."""


class RefusedError(Exception):
    """etcd refused the operation, so the operation had no effect."""


def base64(text):
    """Return a text as the JSON gateway takes keys and values."""
    return b64encode(text.encode()).decode()


def load(kv):
    """Return the value of a key as its client wrote it."""
    return json.loads(b64decode(kv["value"]))


def put(key, value, **more):
    """Return the operation that sets a key."""
    return {"requestPut": {"key": base64(key), "value": base64(json.dumps(value)), **more}}


def has_token(key, token):
    """Return the comparison that holds while a lock has the token."""
    return {"key": base64(key), "target": "CREATE", "createRevision": str(token)}
