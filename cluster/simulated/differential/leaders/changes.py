"""Change the image around a leader: epochs, replicas, brokers, their disks, and the settings."""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.leaders.leader_model import ModelLeader
from kraftproof.cluster.simulated.differential.leaders.leader_rig import BROKERS, LeaderRig

LARGEST: Final = 600
"""The first value of max.message.bytes of the topic."""
_SIZES: Final = (160, LARGEST)


class Changes:
    """The changes of the image, for the leader and for the model."""

    def __init__(self, rig: LeaderRig, model: ModelLeader, random: Random) -> None:
        self._rig, self._model, self._random = rig, model, random
        moves = [self._reassign] if random.random() < 0.7 else []
        self._kinds = [
            *(self._lead_again,) * 3,
            *moves,
            *(self._fence,) * 2,
            self._fail_disk,
            self._resize,
            self._flush_each_append,
        ]

    def change(self) -> None:
        """Make a drawn change."""
        self._random.choice(self._kinds)()

    def _lead_again(self) -> None:
        self._model.lead_again()
        self._rig.lead_again()

    def _reassign(self) -> None:
        followers = tuple(self._random.sample(BROKERS[1:], self._random.randint(0, 3)))
        self._model.reassign(followers)
        self._rig.reassign(followers)

    def _fence(self) -> None:
        broker = self._random.choice(BROKERS[1:])
        self._model.fenced ^= {broker}
        self._rig.fence(broker, is_fenced=broker in self._model.fenced)

    def _fail_disk(self) -> None:
        """Lose or mend the directory of a broker: its replica fetches no more (KIP-858)."""
        broker = self._random.choice(BROKERS[1:])
        self._model.diskless ^= {broker}
        self._rig.fail_disk(broker, has_failed=broker in self._model.diskless)

    def _resize(self) -> None:
        """Change the largest batch that the leader takes."""
        self._model.largest = self._random.choice(_SIZES)
        self._rig.configure("max.message.bytes", str(self._model.largest))

    def _flush_each_append(self) -> None:
        """Begin or end to acknowledge flushed records only."""
        self._model.flushes = not self._model.flushes
        self._rig.configure("flush.messages", "1" if self._model.flushes else None)
