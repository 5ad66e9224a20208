"""Draw requests of clients about the partitions of a broker, and take the answers."""

from random import Random
from typing import Final, TypeVar

from kraftproof.cluster.simulated.differential.data.data_rig import DataRig
from kraftproof.cluster.simulated.differential.data.drawn_broker import LISTENERS, DrawnBroker
from kraftproof.cluster.simulated.differential.data.drawn_rights import (
    HOSTS,
    Rights,
    draw_principal,
)
from kraftproof.cluster.simulated.differential.difference import check
from kraftproof.node.core.events import Received
from kraftproof.node.core.served import served_versions
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.types import ZERO_UUID, Uuid

UNKNOWN: Final = "no such topic"
STRANGE_ID: Final = Uuid(b"no such topic id")
VERSIONS: Final = served_versions(on_controller_listener=False)
MessageT = TypeVar("MessageT", bound=Message)
Place = tuple[str, int]
"""A topic and a partition."""


class Asking:
    """The clients of a broker, and what they may do."""

    def __init__(self, rig: DataRig, broker: DrawnBroker, random: Random) -> None:
        self.rig, self.broker, self.random = rig, broker, random
        self.rights = Rights(broker.image(), broker.policy)

    def event(self, message: Message, version: int | None = None) -> Received:
        """Return a request of a drawn client."""
        random = self.random
        return Received(
            request=0,
            message=message,
            version=random.randint(*VERSIONS[message.API_KEY]) if version is None else version,
            on_controller_listener=False,
            principal=draw_principal(random),
            client_host=random.choice(HOSTS),
            listener=random.choice(LISTENERS),
        )

    def draw_topics(self) -> list[tuple[str, list[int]]]:
        """Return topics with partitions, known and unknown ones, each topic once."""
        random = self.random
        names = random.sample((*self.broker.ids, UNKNOWN), random.randint(1, 3))
        return [(name, random.choices(range(5), k=random.randint(1, 3))) for name in names]

    def id_of(self, name: str) -> Uuid:
        """Return the id of a topic; an unknown topic has an unknown id, or none."""
        return self.broker.ids.get(name) or self.random.choice((STRANGE_ID, ZERO_UUID))

    def draw_epoch(self, place: Place) -> int:
        """Return the leader epoch that a client knows: none, the right one, or a wrong one."""
        _, epoch = self.broker.leader(*place)
        return self.random.choice((-1, -1, epoch, epoch, epoch - 1, epoch + 1))

    def answer(self, token: int, kind: type[MessageT]) -> MessageT:
        """Return the answer to a request.

        Raises:
            DifferenceError: there is no answer, or another one.
        """
        found = self.rig.answers.pop(token, None)
        check(f"the answer is {kind.__name__}", isinstance(found, kind))
        assert isinstance(found, kind), "checked"
        return found

    def wait_for(self, what: str, token: int, for_ms: int) -> None:
        """Let the time of a waiting request pass: no answer comes before its end.

        Raises:
            DifferenceError: an answer comes early.
        """
        check(f"{what} waits", token not in self.rig.answers)
        self.rig.pass_time(for_ms - 1)
        check(f"{what} waits for its whole time", token not in self.rig.answers)
        self.rig.pass_time(1)
