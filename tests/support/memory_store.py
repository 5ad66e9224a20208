"""A store in memory, in virtual time, that serves every workload: right, or with one known bug.

An operation takes effect at one moment between its call and its answer; some answers get lost.
`bug` is None or one of BUGS.
"""

from random import Random

from kraftproof.checkers import check_paths
from kraftproof.checkers.initial import parse_initial
from kraftproof.cluster.simulated.kernel.scheduler import Scheduler
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.systems.system import Completion, Outcome
from kraftproof.run.history import HistoryRecorder
from kraftproof.workloads.bank import ACCOUNTS, FIRST_BALANCE
from kraftproof.workloads.catalogue import make_workload
from kraftproof.workloads.workload import Load

MS = 1_000_000
RUN_NS = 4_000 * MS
LOST_SHARE = 0.004
BUGS = ("forgets", "not-atomic", "takes-old-tokens", "repeats", "skips", "drops", "is-poor")
"""Loses all values once; changes what was read some time before; has no fencing; some sends append
twice; some polls leave out a record; some sends append nothing; accounts begin with another sum.
"""
MOST_POLLED = 5


class Store:
    """Values by key, and one method for each operation of a workload."""

    def __init__(self, bug):
        self.values = {}
        self.bug = bug
        self.chance = Random("drops")

    def register(self, f, key, value):
        held = self.values.get(key)
        if f == "read":
            return held
        if f == "cas" and held != value[0]:
            raise ValueError("unequal")
        self.values[key] = value if f == "write" else value[1]
        return value

    def set(self, f, key, value):
        held = self.values.get(key, [])
        if f == "read":
            return list(held)
        self.values[key] = [*held, value]
        return value

    def queue(self, f, key, value):
        held = self.values.setdefault(key, [])
        if f == "dequeue":
            return held.pop(0) if held else None
        held.append(value)
        return value

    def counter(self, f, key, value):
        if f == "add":
            self.values[key] = self.values.get(key, 0) + value
        return self.values.get(key, 0)

    def append(self, f, key, value):
        lists = dict(self.values.get(key, {}))
        answer = []
        for action, name, element in value:
            if action == "append":
                lists[name] = [*lists.get(name, []), element]
            answer.append([action, name, element if action == "append" else lists.get(name, [])])
        self.values[key] = lists
        return answer

    def bank(self, f, key, value):
        first = FIRST_BALANCE - (self.bug == "is-poor")
        held = dict(self.values.get(key) or dict.fromkeys(ACCOUNTS, first))
        if f == "read":
            return held
        if held[value["from"]] < value["amount"]:
            raise ValueError("insufficient")
        held[value["from"]] -= value["amount"]
        held[value["to"]] += value["amount"]
        self.values[key] = held
        return value

    def log_topics(self, f, key, value):
        return {"outcome": "deleted"} if f == "delete" else self.log(f, key, value)

    def log(self, f, key, value):
        held = self.values.get(key, [])
        if f == "create":
            return {"outcome": "created"}
        if f == "assign":
            return value
        if f == "send":
            times = 1 + (self.bug == "repeats" and len(held) % 7 == 0)
            if self.bug == "drops" and len(held) == 5:
                times = self.chance.randrange(2)
            self.values[key] = [*held, *[value["value"]] * times]
            return {"offset": None if value["acks"] == 0 else len(held)}
        position = value["position"] or 0
        records = list(enumerate(held))[position : position + MOST_POLLED]
        if self.bug == "skips" and f == "poll" and len(records) == MOST_POLLED:
            records.pop(1)
        return {"records": records, "log_start": 0, "end": len(held)}

    def lock(self, f, key, value):
        token, is_held = self.values.get(key, (0, False))
        if f == "lock":
            if is_held:
                raise ValueError("held")
            self.values[key] = (token + 1, True)
            return token + 1
        if f == "unlock":
            if token == value:
                self.values[key] = (token, False)
            return value
        if self.bug == "takes-old-tokens":
            return value <= token
        return is_held and token == value


class MemoryProcess:
    """A client of the store whose operations are recorded."""

    def __init__(self, session):
        self.session = session
        self.number = session.next_number()

    async def invoke(self, f, key, value=None):
        session = self.session
        invoked = session.recorder.invoke(self.number, f, key, value, None)
        completion = await self.carried_out(f, key, value)
        session.recorder.complete(invoked, completion)
        if completion.outcome is Outcome.INFO:
            self.number = session.next_number()
        return completion

    async def carried_out(self, f, key, value):
        session, store = self.session, self.session.store
        before = dict(store.values)
        await session.delay()
        if store.bug == "not-atomic" and f != "read" and key in before:
            store.values[key] = before[key]
        try:
            answer = getattr(store, session.name.replace("-", "_"))(f, key, value)
        except ValueError as error:
            return Completion(outcome=Outcome.FAIL, error=str(error))
        await session.delay()
        if session.chance.random() < LOST_SHARE:
            outcome = Outcome.FAIL if f == "read" else Outcome.INFO
            return Completion(outcome=outcome, error="lost")
        return Completion(outcome=Outcome.OK, value=answer)

    def close(self):
        self.number = self.session.next_number()


class MemorySession:
    """A run of a workload against the store."""

    load = Load(rate=150, concurrency=6, session_ns=RUN_NS)

    def __init__(self, name, seed, store, scope, recorder):
        self.name, self.store, self.scope, self.recorder = name, store, scope, recorder
        self.random, self.chance = Random(f"workload {seed}"), Random(f"delays {seed}")
        self.run_id = f"s{seed}"
        self.ending = False
        self.numbers = 0

    def next_number(self):
        self.numbers += 1
        return self.numbers

    def process(self):
        return MemoryProcess(self)

    async def delay(self):
        await self.scope.sleep(int(self.chance.expovariate(0.2) * MS))

    async def whole(self, workload):
        running = self.scope.spawn(workload.run(self))
        await self.scope.sleep(RUN_NS // 2)
        if self.store.bug == "forgets":
            self.store.values.clear()
        await self.scope.sleep(RUN_NS // 2)
        self.ending = True
        await running
        return await workload.final_reads(self)


def verdict_of(name, seed, bug, folder):
    """Run a workload on a store with a bug or none; return the unread keys and the verdict."""
    scheduler = Scheduler()
    scope = SimulatedScope(scheduler)
    path = folder / f"{name}-{seed}.jsonl"
    recorder = HistoryRecorder(path, scope.now)
    workload = make_workload(name)
    session = MemorySession(name, seed, Store(bug), scope, recorder)
    task = scope.spawn(session.whole(workload))
    scheduler.run_until(task.finished, until_ns=100 * RUN_NS, maximum_events=1_000_000)
    unread = task.result
    recorder.close()
    initial = parse_initial(getattr(workload, "initial", ()), may_be_absent=True)
    (verdict,) = check_paths([path], workload.model, initial=initial)
    return unread, verdict
