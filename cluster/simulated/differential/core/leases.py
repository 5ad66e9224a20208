"""Compare the end of broker leases with the arrival of heartbeats (KIP-631 "Broker Leases").

A controller may be busy with a large change while heartbeats arrive and time passes: a broker whose
heartbeats arrive is alive, and is not fenced (KAFKA-15019). In a run a step of the controller takes
no time, so the queue of a slow controller is never as long as a session.
"""

from random import Random
from typing import Final

from kraftproof.cluster.simulated.differential.core.bare_controller import (
    CLUSTER_ID,
    BareController,
)
from kraftproof.cluster.simulated.differential.core.registrations import registration
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.node.core.base.config import Timeouts
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.messages import broker_heartbeat_request, create_topics_request
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.records.batch import Record
from kraftproof.node.wire.types import Uuid

STEPS: Final = 50
BROKERS: Final = (4, 5, 6)
REGISTRATION_VERSION: Final = 4
HEARTBEAT_VERSION: Final = 1
CREATE_VERSION: Final = 7
PARTITIONS: Final = (1, 700, 1_500)
"""The sizes of topics: a step of a controller applies 500 records."""
MOST_TICKS: Final = 1_000
"""The ticks until a controller without further requests has nothing to do."""
REACHED: Final = 1 << 40
"""A metadata offset beyond the log: the broker has read everything."""
UNFENCED: Final = -1


def compare_leases(random: Random) -> None:
    """Send heartbeats, changes and time, and compare each fencing with the last contact.

    Raises:
        DifferenceError: a broker in contact is fenced, or a silent broker is not.
    """
    run = _Run(random)
    for _ in range(STEPS):
        run.step()


class _Run:
    """The controller, and the last contact of each unfenced broker."""

    def __init__(self, random: Random) -> None:
        self._random = random
        self._session_ns = milliseconds(random.choice((3_000, 9_000, 18_000)))
        self._controller = BareController(random, Timeouts(session_ns=self._session_ns))
        self._epochs: dict[int, int] = {}
        self._contacts: dict[int, int] = {}
        """The arrival of the last contact, of each unfenced broker."""
        self._topics = 0
        for broker in BROKERS:
            directory = Uuid(bytes([broker]) * 16)
            request = registration(random, broker, CLUSTER_ID, None, (directory,))
            self._controller.ask(request, REGISTRATION_VERSION)
            self._settle()
            self._beat(broker)
            self._settle()

    def step(self) -> None:
        """Let something happen, and judge what the controller has written."""
        random, kind = self._random, self._random.random()
        if kind < 0.45:
            self._beat(random.choice(BROKERS[: random.choice((1, 2, 3))]))
        elif kind < 0.65:
            self._controller.now_ns += random.randrange(self._session_ns // 2)
        elif kind < 0.75:
            self._create()
        elif kind < 0.9:
            self._controller.tick()
        elif kind < 0.97:
            self._settle()
        else:
            self._fail_over()
        self._follow()

    def _beat(self, broker: int) -> None:
        """Send a heartbeat; that of a fenced broker counts with the record that unfences it."""
        if broker in self._contacts:
            self._contacts[broker] = self._controller.now_ns
        request = broker_heartbeat_request.BrokerHeartbeatRequest(
            broker_id=broker,
            broker_epoch=self._epochs.get(broker, -1),
            current_metadata_offset=REACHED,
        )
        self._controller.ask(request, HEARTBEAT_VERSION)

    def _create(self) -> None:
        self._topics += 1
        topic = create_topics_request.CreatableTopic(
            name=f"t{self._topics}",
            num_partitions=self._random.choice(PARTITIONS),
            replication_factor=1,
        )
        request = create_topics_request.CreateTopicsRequest(topics=(topic,), timeout_ms=30_000)
        self._controller.ask(request, CREATE_VERSION)

    def _fail_over(self) -> None:
        """Change the controller, at times amid a large change; each broker gets a new lease."""
        self._follow()
        self._controller.fail_over()
        self._contacts = dict.fromkeys(self._contacts, self._controller.now_ns)

    def _settle(self) -> None:
        """Commit everything, and let the controller finish its work."""
        controller = self._controller
        controller.commit()
        self._follow()
        ticks = 0
        while self._is_due():
            controller.tick()
            controller.commit()
            self._follow()
            ticks += 1
            check("the work of a controller ends", ticks < MOST_TICKS)
        for broker, contact_ns in sorted(self._contacts.items()):
            silence_ns = controller.now_ns - contact_ns
            what = f"broker {broker}, heard {silence_ns / 1e9:.3f} s ago, has a lease"
            check(what, silence_ns < self._session_ns)
        controller.commit()  # the record that proves the leadership to the last answers
        same("requests without an answer", sorted(controller.unanswered), [])

    def _is_due(self) -> bool:
        deadline = self._controller.deadline
        return deadline is not None and deadline <= self._controller.now_ns

    def _follow(self) -> None:
        for offset, record in self._controller.taken():
            self._judge(offset, record)

    def _judge(self, offset: int, record: Record) -> None:
        match record:
            case records.RegisterBrokerRecord(broker_id=broker):
                self._epochs[broker] = offset
            case records.BrokerRegistrationChangeRecord(broker_id=broker, fenced=1):
                silence_ns = self._controller.now_ns - self._contacts.pop(broker)
                what = f"the lease of broker {broker}, heard {silence_ns / 1e9:.3f} s ago, is over"
                check(what, silence_ns >= self._session_ns)
            case records.BrokerRegistrationChangeRecord(broker_id=broker, fenced=-1):
                self._contacts[broker] = self._controller.now_ns
            case _:
                return
