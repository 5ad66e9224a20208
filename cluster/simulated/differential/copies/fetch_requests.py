"""Compare the requests of a broker that follows several partitions, and their moments."""

from random import Random
from typing import Final

from msgspec import Struct

from kraftproof.cluster.simulated.background.client_batches import client_batch
from kraftproof.cluster.simulated.differential.bare_data_plane import START_MS
from kraftproof.cluster.simulated.differential.copies.fetch_messages import (
    fetch_of,
    fetched,
    list_offsets_of,
    listed,
)
from kraftproof.cluster.simulated.differential.copies.fetch_model import (
    MS,
    NOBODY,
    OUT_OF_RANGE,
    Asked,
    Copy,
    FetchModel,
    Key,
    Part,
    Stored,
    Wanted,
)
from kraftproof.cluster.simulated.differential.copies.fetch_rig import (
    BROKER_EPOCH,
    FetchRig,
    flush_record,
    led_by,
    level_record,
)
from kraftproof.cluster.simulated.differential.core.versions import FETCH, LIST_OFFSETS
from kraftproof.cluster.simulated.differential.difference import same
from kraftproof.cluster.simulated.differential.leaders.produces import placed
from kraftproof.node.core.base.config import ReplicationPolicy

HISTORIES: Final = 4
STEPS: Final = 60
LEADERS: Final = (2, 3)
ERRORS: Final = (3, 5, 6, 56, 74, 75, 100)
STRANGER: Final = (9, 9)
VALUE: Final = bytes(4096)
"""So large that the index has an entry for each batch, and a log is cut exactly there."""


class _Open(Struct):
    """A request without an answer, with the partitions as they were at its sending."""

    correlation: int
    wanted: Wanted
    asked: dict[Key, Asked]


class _Run:
    """One broker beside its model."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._policy = ReplicationPolicy(
            is_enabled=True,
            fetch_wait_ms=random.randint(1, 900),
            fetch_partition_bytes=random.randint(1, 1 << 20),
            fetch_response_bytes=random.randint(1, 1 << 24),
            fetch_backoff_ns=random.choice((30, 170, 1000)) * MS,
            request_timeout_ns=random.randint(1000, 30_000) * MS,
        )
        keys = [(topic, index) for topic in (1, 2) for index in range(random.randint(1, 2))]
        copies = [Copy(key=key, epoch=random.randint(0, 5)) for key in keys]
        self._level = random.randint(7, 30)
        self._rig = FetchRig(self._policy, copies, LEADERS, self._level)
        self._model = FetchModel(self._policy, copies)
        for copy in copies:
            self._model.follow(copy.key, LEADERS[0], copy.epoch, self._rig.now_ns)
        self._open: list[_Open] = []
        self._keys = keys

    def run(self) -> None:
        """Take drawn steps."""
        self._compare()
        for _ in range(STEPS):
            steps = [self._wait, self._wait, self._follow, self._configure, self._flush]
            steps += [self._answer] * (6 * bool(self._open))
            self._random.choice(steps)()
            self._compare()

    # The steps

    def _wait(self) -> None:
        due, now, random = self._model.due(), self._rig.now_ns, self._random
        wanted = now + random.randint(0, 90 * MS)
        if due is not None and due > now:
            wanted = random.choice((due, due, due - 1))
        self._rig.now_ns = wanted
        self._rig.pass_time(0)

    def _follow(self) -> None:
        key = self._random.choice(self._keys)
        leader = self._random.choice((*LEADERS, *LEADERS, NOBODY))
        epoch = self._model.copies[key].epoch + 1
        self._rig.change(led_by(key, leader))
        self._model.follow(key, leader, epoch, self._rig.now_ns)

    def _configure(self) -> None:
        if self._random.random() < 0.4:
            self._level = self._random.randint(7, 30)
            self._rig.change(level_record(self._level))
            return
        self._flush_each(self._random.choice((1, 2)), flushes=self._random.random() < 0.5)

    def _flush_each(self, topic: int, *, flushes: bool) -> None:
        self._rig.change(flush_record(topic, flushes_each=flushes))
        for copy in self._model.copies.values():
            if copy.key[0] == topic:
                copy.flushes_each = flushes
                copy.ask_for_flush()

    def _flush(self) -> None:
        """End the oldest fsync, or all of them."""
        count = len(self._rig.flushes)
        for key in self._rig.flush(self._random.choice((min(count, 1), count))):
            self._model.copies[key].flush()

    def _answer(self) -> None:
        random, model = self._random, self._model
        asked = self._open.pop(random.randrange(len(self._open)))
        wanted = asked.wanted
        if wanted.timestamp is not None:
            self._answer_search(asked, wanted.keys[0], wanted.timestamp)
            return
        chance, cuts = random.random(), random.random() < 0.2
        if cuts:  # the log is cut during a flush
            self._flush_each(wanted.keys[0][0], flushes=True)
        parts = tuple(part for key in wanted.keys for part in self._draw_parts(key, cuts=cuts))
        if chance < 0.1:
            model.failed(wanted.leader, self._rig.now_ns)
            message = None if chance < 0.05 else fetched(parts, error=random.choice((-1, 110)))
            self._rig.resume(asked.correlation, message)
            return
        model.fetched(wanted.leader, asked.asked, parts, self._rig.now_ns)
        self._rig.resume(asked.correlation, fetched(parts))

    def _answer_search(self, asked: _Open, key: Key, timestamp: int) -> None:
        random, copy = self._random, self._model.copies[key]
        ends = [batch.end for batch in copy.batches]
        offset: int | None = random.choice((copy.end, copy.end + 3, copy.start, *ends))
        if copy.end and random.random() < 0.4:
            offset = random.randrange(copy.end)
        error = 0
        if random.random() < 0.15:
            offset, error = random.choice(((None, 0), (offset, 6), (None, 6)))
        is_lost = random.random() < 0.1
        useful = None if is_lost or error else offset
        self._model.found(key, asked.asked[key].role, timestamp, useful, self._rig.now_ns)
        message = None if is_lost else listed(key, offset, error)
        self._rig.resume(asked.correlation, message)

    def _draw_parts(self, key: Key, *, cuts: bool) -> list[Part]:
        """Draw what an answer says about a partition, maybe nothing."""
        random, copy = self._random, self._model.copies[key]
        chance = random.random()
        if chance < 0.05:
            return []
        if chance < 0.1:
            return [Part(key=STRANGER)]
        part = Part(key=key, watermark=random.randint(0, copy.end + 4))
        if chance < 0.3:
            part.error = random.choice((OUT_OF_RANGE, *ERRORS))
        elif (cuts or chance < 0.4) and len(copy.batches) > 1:
            part.diverging = self._draw_diverging(copy)
        else:
            part.batches = self._draw_batches(copy)
            part.is_damaged = bool(part.batches) and random.random() < 0.05
            if random.random() < 0.1:
                part.diverging = random.choice(((3, -1), (-1, 3), (0, -1)))
        return [part, part] if part.batches and random.random() < 0.1 else [part]

    def _draw_diverging(self, copy: Copy) -> tuple[int, int]:
        """Draw the epoch and the end of the common part, which is the begin of a batch."""
        at = self._random.randrange(1, len(copy.batches))
        end = copy.batches[at].base
        epoch = copy.batches[self._random.randrange(at, len(copy.batches))].epoch
        if self._random.random() < 0.3:
            end += 100
            epoch = copy.batches[at - 1].epoch
            if epoch == copy.last_epoch:
                end = copy.batches[at].base
        return epoch, end

    def _draw_batches(self, copy: Copy) -> tuple[Stored, ...]:
        random, base = self._random, copy.end
        epoch = max(copy.last_epoch, 0)
        found: list[Stored] = []
        for _ in range(random.choice((0, 1, 1, 2))):
            epoch = random.randint(epoch, max(epoch, copy.epoch))
            if random.random() < 0.06:
                # an empty log may begin below the offset, with the batch that has the offset
                base += random.choice((1, -1)) if base > copy.start else 1
            if random.random() < 0.06:
                epoch = copy.epoch + 1
            count = random.choice((1, 3))
            data = client_batch([VALUE] * count, START_MS, (-1, -1, -1))
            found.append(Stored(base, base + count, epoch, placed(data, base, epoch)))
            base += count
        return tuple(found)

    # The comparison

    def _compare(self) -> None:
        """Compare the requests of the step, the logs, and the time of the next Fetch."""
        rig, model = self._rig, self._model
        model.settle(rig.now_ns)
        sent, rig.sent = rig.sent, []
        same("the number of requests", len(sent), len(model.wanted))
        for one, wanted in zip(sent, model.wanted, strict=True):
            same("who is asked", one.destination, wanted.leader)
            is_fetch = wanted.timestamp is None
            table = FETCH if is_fetch else LIST_OFFSETS
            version = table[max(least for least in table if least <= self._level)]
            roles = {key: model.asked(key) for key in wanted.keys}
            if is_fetch:
                ends = {key: self._place(key) for key in wanted.keys}
                message = fetch_of(wanted, ends, self._policy, version, BROKER_EPOCH)
            else:
                message = list_offsets_of(wanted, roles[wanted.keys[0]].role.epoch)
            same("the request", one.message, message)
            same("its version", one.version, version)
            same("its time-out", one.timeout_ns, self._policy.request_timeout_ns)
            self._open.append(_Open(one.correlation, wanted, roles))
        model.wanted = []
        for key, copy in model.copies.items():
            index = rig.index(key)
            found = (index.start_offset, index.end_offset, index.high_watermark)
            same(f"the cuts of {key}", rig.changes_of(key), copy.changes)
            copy.changes = []
            same(f"the flushes of {key}", rig.flushes_of(key), [end for _, end in copy.flushes])
            same(f"the log of {key}", found, (copy.start, copy.end, copy.watermark))
        due = model.due()
        same("the time of the next Fetch", rig.fetch_deadline, due)

    def _place(self, key: Key) -> tuple[int, int, int, int]:
        copy = self._model.copies[key]
        return copy.epoch, copy.end, copy.last_epoch, copy.start


def compare_fetch_requests(random: Random) -> None:
    """Let brokers follow drawn partitions of drawn leaders.

    Raises:
        DifferenceError: a request, a log or a moment is not what the rules demand.
    """
    for _ in range(HISTORIES):
        _Run(random).run()
