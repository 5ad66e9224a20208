"""Compare a follower with its leaders: late and lost answers, elections, deletions, restarts."""

from random import Random
from typing import Final

from msgspec import Struct

from kraftproof.cluster.simulated.background.client_batches import client_batch
from kraftproof.cluster.simulated.differential.bare_data_plane import START_MS
from kraftproof.cluster.simulated.differential.copies.follower_rig import (
    LEADERS,
    NO_LEADER,
    FollowerRig,
    Sent,
)
from kraftproof.cluster.simulated.differential.copies.leader_log import LeaderLog, LogBatch
from kraftproof.cluster.simulated.differential.difference import (
    DifferenceError,
    check,
    same,
)
from kraftproof.cluster.simulated.differential.leaders.produces import placed
from kraftproof.node.wire.messages import Message, fetch_request, list_offsets_request

HISTORIES: Final = 8
STEPS: Final = 120
LAST_ROUNDS: Final = 60
"""Number of answers after which a follower has its leader's log, and has written checkpoints."""
BACKOFF_MS: Final = 1_100
"""Above the longest wait after an error."""


class _Request(Struct):
    """An open request, with the state of the follower and the answer at its sending."""

    epoch: int
    changes: int
    answer: Message


def compare_catch_up(random: Random) -> None:
    """Let followers copy the logs of drawn leaders, and compare their requests and logs.

    Raises:
        DifferenceError: the follower asks for something else, uses an answer to an older state, or
            does not reach its leader's log.
    """
    for _ in range(HISTORIES):
        _Run(random).run()


class _Run:
    """One follower and its leaders."""

    def __init__(self, random: Random) -> None:
        self._random = random
        epoch = random.choice((1, 4))
        configs = {"flush.messages": "1"} if random.random() < 0.3 else {}
        self._leader = LeaderLog(LEADERS[0], epoch, [], [(epoch, 0)])
        self._laggard = self._leader
        """A replica that has fetched nothing for a while."""
        self._known_epoch = epoch
        """The leader epoch that the follower knows."""
        self._has_leader = True
        self._rig = FollowerRig(epoch, configs)
        self._requests: dict[int, _Request] = {}

    def run(self) -> None:
        self._look()
        for _ in range(STEPS):
            self._step()
            self._look()
        self._settle()

    def _step(self) -> None:
        random, leader = self._random, self._leader
        kind = random.random()
        if kind < 0.25:
            self._produce()
        elif kind < 0.35:
            leader.high_watermark = random.randint(leader.high_watermark, leader.end)
        elif kind < 0.42:
            ends = [batch.end for batch in leader.batches if batch.end <= leader.high_watermark]
            within = random.randint(leader.start, leader.high_watermark)
            leader.raise_start(random.choice((*ends[-1:], within)))
        elif kind < 0.49:
            self._elect(has_leader=random.random() < 0.9)
        elif kind < 0.53:
            self._rig.pass_time(random.choice((40, BACKOFF_MS)))
        elif kind < 0.6:
            self._rig.flush()
        elif self._rig.sent:
            self._answer(random.choice(self._rig.sent))

    def _produce(self) -> None:
        leader, count = self._leader, self._random.choice((1, 1, 3))
        value = b"%d in epoch %d" % (leader.end, leader.epoch)
        data = client_batch([value] * count, START_MS, (-1, -1, -1))
        end = leader.end + count
        data = placed(data, leader.end, leader.epoch)
        leader.append(LogBatch(leader.end, end, leader.epoch, data))

    def _elect(self, *, has_leader: bool) -> None:
        """Elect another leader, or the same one; an unclean election drops committed records."""
        random, epoch = self._random, self._leader.epoch + 1
        log, kind = self._leader, random.random()
        if kind < 0.2:
            log = self._laggard
        lowest = log.start if kind < 0.4 else log.high_watermark
        ends = [batch.end for batch in log.batches if batch.end >= lowest]
        end = random.choice((log.end, *ends[:2], *ends[-2:]))
        if random.random() < 0.3:
            self._laggard = self._leader.lead(self._leader.leader, epoch, self._leader.end)
        self._leader = log.lead(random.choice(LEADERS), epoch, end)
        self._known_epoch = self._leader.epoch
        self._has_leader = has_leader
        self._rig.follow(self._leader.leader if has_leader else NO_LEADER)

    def _answer(self, sent: Sent) -> None:
        """Answer a request as at its arrival now, as at its sending, or not at all."""
        kind = self._random.random()
        if kind < 0.1:
            self._deliver(sent, None)
        elif kind < 0.45:
            self._deliver(sent, self._requests[sent.correlation].answer)
        else:
            self._deliver(sent, self._truth(sent))

    def _truth(self, sent: Sent) -> Message:
        node = sent.node if self._has_leader else NO_LEADER
        return self._leader.answer(sent.message, node)

    def _deliver(self, sent: Sent, message: Message | None) -> None:
        """Deliver an answer; an answer to an older state of the follower changes nothing."""
        rig, request = self._rig, self._requests.pop(sent.correlation)
        before, watermark = rig.changes, rig.index.high_watermark
        rig.answer(sent, message)
        is_late = request.epoch != self._known_epoch
        is_late = is_late or request.changes != before or not self._has_leader
        if message is None or is_late:
            what = f"an answer about epoch {request.epoch} in epoch {self._known_epoch}"
            same(f"the changes of the log by {what}", rig.changes - before, 0)
            same(f"the high watermark after {what}", rig.index.high_watermark, watermark)

    def _look(self) -> None:
        """Compare the new requests of the follower with its log and its leader."""
        rig, known = self._rig, self._requests
        for sent in rig.sent:
            if sent.correlation in known:
                continue
            same("the broker that is asked", sent.node, self._leader.leader)
            check("a follower without a leader asks nobody", self._has_leader)
            self._compare(sent.message)
            known[sent.correlation] = _Request(self._known_epoch, rig.changes, self._truth(sent))
        same("the end of the log", rig.index.end_offset, rig.end)

    def _compare(self, message: Message) -> None:
        rig = self._rig
        match message:
            case fetch_request.FetchRequest():
                part = message.topics[0].partitions[0]
                same("the offset of a Fetch", part.fetch_offset, rig.end)
                same("the start of a Fetch", part.log_start_offset, rig.start)
                epoch = part.current_leader_epoch
            case list_offsets_request.ListOffsetsRequest():
                epoch = message.topics[0].partitions[0].current_leader_epoch
            case _:
                raise DifferenceError(f"a follower sends {type(message).__name__}")
        same("the epoch of a request", epoch, self._known_epoch)

    def _settle(self) -> None:
        """Answer everything, maybe after a last election, and compare the logs."""
        if not self._has_leader or self._random.random() < 0.3:
            self._elect(has_leader=True)
        self._produce()
        self._leader.high_watermark = self._leader.end
        for _ in range(LAST_ROUNDS):
            self._look()
            for sent in list(self._rig.sent):
                self._deliver(sent, self._truth(sent))
            self._rig.flush()
            self._rig.pass_time(BACKOFF_MS)
        self._compare_logs()

    def _compare_logs(self) -> None:
        rig, leader = self._rig, self._leader
        found = (rig.end, rig.index.high_watermark, rig.index.start_offset)
        expected = (leader.end, leader.high_watermark, max(leader.start, rig.start))
        same("end, high watermark and start of a follower that was answered", found, expected)
        same("the high watermark in the checkpoint", rig.checkpointed, leader.high_watermark)
        start = max(leader.start, rig.start)
        own = [batch for batch in rig.batches if batch.end > start]
        theirs = [batch for batch in leader.batches if batch.end > start]
        same(f"the batches from offset {start} on", own, theirs)
