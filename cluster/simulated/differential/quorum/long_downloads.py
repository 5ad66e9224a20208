"""Serve downloads that last several slices and several fetch time-outs (KIP-630).

The leader writes further snapshots meanwhile. Each later slice extends the time for which the
leader keeps the downloaded snapshot; a slice that was asked for before extends nothing.
"""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.quorum.serving import OBSERVERS, OWN, Served
from kraftproof.cluster.simulated.differential.quorum.serving_model import Fetch, SliceOf

LEADERS: Final = 1
DOWNLOADS: Final = 2
MOST_SLICES: Final = 6
SNAPSHOT_BYTES: Final = 99
MOST_NEWS: Final = 4
"""Maximum number of snapshots between two slices."""
SHARES: Final = (0.1, 0.5, 0.9, 0.9, 1.0, 1.1)
"""Times between two slices, in fetch time-outs; a leader with other voters has less than one."""


def compare_long_downloads(random: Random) -> None:
    """Serve drawn downloads, beside snapshots of the leader.

    Raises:
        DifferenceError: an answer or a kept snapshot is not what the rules demand.
    """
    for _ in range(LEADERS):
        leader = _Leader(random)
        for _ in range(DOWNLOADS):
            leader.serve()


class _Leader(Served):
    """A leader whose voters stay in contact."""

    def serve(self) -> None:
        """Serve a download, of which slices may be asked for again or out of order."""
        random, model = self._random, self._model
        self._write_newest()
        if not model.snapshots:
            return
        snapshot, size = random.choice((model.snapshots[0], model.snapshots[-1]))
        others = [name for name, _ in model.snapshots if name != snapshot]
        replica = random.choice((*self._voters[1:], *OBSERVERS))
        count = random.randint(1, min(size, MOST_SLICES))
        for position in sorted(random.sample(range(size), count)):
            self._slice_of(replica, snapshot, position)
            if random.random() < 0.3:
                self._slice_of(replica, snapshot, random.randrange(size))
            if others and random.random() < 0.2:
                self._slice_of(OBSERVERS[0], random.choice(others), 0)
            for _ in range(random.randint(0, MOST_NEWS)):
                self._write_newest()
            self._pass_time()

    def _slice_of(self, replica: int, snapshot: tuple[int, int], position: int) -> None:
        asked = SliceOf(
            request=self._number(),
            replica=replica,
            epoch=self._model.epoch,
            snapshot=snapshot,
            position=position,
            most_bytes=self._slice_bytes,
        )
        self._ask_slice(asked, SNAPSHOT_BYTES, 0)
        self._compare()

    def _write_newest(self) -> None:
        """Append a batch, let the voters have it, and write a snapshot of all."""
        self._propose()
        while self._flushes:
            self._flush()
        self._compare()
        while self._flushes:
            self._flush()
        self._let_voters_fetch()
        self._let_voters_fetch()  # the second Fetch acknowledges the records of the first
        held = self._model.batches[-1:]
        if held and held[0].end <= self._model.watermark:
            self._take_snapshot(held[0], SNAPSHOT_BYTES)
        self._compare()

    def _let_voters_fetch(self) -> None:
        model = self._model
        for voter in self._voters:
            if voter != OWN:
                asked = Fetch(
                    request=self._number(),
                    version=17,
                    replica=voter,
                    epoch=model.epoch,
                    offset=model.end,
                    last_epoch=model.batches[-1].epoch if model.batches else model.start[1],
                    watermark=model.watermark,
                    most_bytes=1 << 20,
                    wait_ms=0,
                )
                self._ask_fetch(asked, 0)
                self._compare()

    def _pass_time(self) -> None:
        """Let time pass; other voters keep the leader in its office."""
        member, model = self._member, self._model
        self._let_voters_fetch()
        wanted_ns = int(self._random.choice(SHARES) * model.fetch_ns)
        if len(self._voters) > 1:
            wanted_ns = min(wanted_ns, model.fetch_ns - 1)
        member.now_ns += wanted_ns
        member.raft.check_leadership(member.now)
        model.check_majority(member.now_ns)
        self._let_voters_fetch()
