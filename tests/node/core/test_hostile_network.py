"""No message ends a node: whatever peers and strangers send, it answers, ignores or hangs up.

Here against the pure core with the shell's own reading of frames; test_hostile_sockets.py in
tests/node/server does it to a process. The one exception: an answer of the leader that contradicts
what is committed ends a node in order, and the reason is said (595-49).
"""

import random

import pytest

from kraftproof.node.core.base.config import Endpoint, NodeConfig, Timeouts, Voter
from kraftproof.node.core.base.quorum_state import QuorumState
from kraftproof.node.core.base.snapshot_ids import StoredSnapshot
from kraftproof.node.core.base.types import Instant, Monotonic, NodeId, WallClock
from kraftproof.node.core.effects import (
    CheckSnapshot,
    Exit,
    Flush,
    Forward,
    Reply,
    ReplyWithSlice,
    Send,
)
from kraftproof.node.core.events import Answered, Event, Flushed, SnapshotChecked, Tick, Unanswered
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.core.metadata.snapshot import LoadedSnapshot
from kraftproof.node.core.node import Node
from kraftproof.node.core.raft.snapshots.rpc import with_slice
from kraftproof.node.properties.listeners import Binding
from kraftproof.node.server.connection import Slot
from kraftproof.node.server.envelope import wrap_request
from kraftproof.node.server.pending_requests import ClientReplies, receive_request
from kraftproof.node.server.requests import parse_request
from kraftproof.node.shell.request_table import RequestTable
from kraftproof.node.wire.codec import encode_request, header_versions
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.headers import RequestHeader, encode_request_header
from kraftproof.node.wire.messages.generated.envelope_request import EnvelopeRequest
from kraftproof.node.wire.messages.generated.envelope_response import EnvelopeResponse
from kraftproof.node.wire.principal import ANONYMOUS, encode_principal
from tests.support.node.hostile import random_answer, random_request, requests
from tests.support.random_cases import random_cases

SEEDS = random_cases(300, share=150)
EVENTS = 60
HOUR_NS = 3_600_000_000_000
ENDPOINTS = (
    Endpoint(name="CLIENT", host="h", port=1, is_controller=False),
    Endpoint(name="CONTROLLER", host="h", port=2, is_controller=True),
)


class Answers(Slot):
    """Where the shell puts an answer."""

    def __init__(self) -> None:
        self.answer: bytes | None = None
        self.is_over = False

    def respond(self, answer: bytes) -> None:
        self.answer = answer

    def abandon(self) -> None:
        self.is_over = True

    def mute(self, duration_ns: int) -> None:
        assert duration_ns > 0


class Target:
    """One node with the shell's reading and writing of messages; its disk is sound and fast."""

    def __init__(self, voters: int, *, node_id: int = 1, seed: int = 0) -> None:
        self.chance = random.Random(seed)
        config = NodeConfig(
            node_id=NodeId(node_id),
            cluster_id="cluster",
            is_controller=node_id <= voters,
            is_broker=True,
            voters=tuple(
                Voter(node_id=NodeId(voter), host="h", port=voter) for voter in range(1, voters + 1)
            ),
            endpoints=ENDPOINTS,
            timeouts=Timeouts(initial_registration_ns=1 << 62),
        )
        self.is_controller = config.is_controller
        self.now = 1
        self.exit: Exit | None = None
        self.asked: list[Send | Forward] = []
        self.checks: list[CheckSnapshot] = []
        self.table = RequestTable(ClientReplies(lambda *_: None))
        self.node = Node(config, QuorumState(), (), random.Random(seed), self.instant)
        self.take(self.node.start(self.instant))
        self.wait(100)

    @property
    def instant(self) -> Instant:
        return Instant(Monotonic(self.now), WallClock(self.now))

    def receive(self, client, **request) -> None:
        self.step(self.table.receive(client, **request))

    def step(self, event: Event) -> None:
        self.take(self.node.step(event, self.instant))

    def take(self, effects) -> None:
        for effect in effects:
            match effect:
                case Flush():
                    self.step(
                        Flushed(
                            log=effect.log,
                            generation=effect.generation,
                            end_offset=effect.end_offset,
                        )
                    )
                case Reply():
                    self.table.reply(effect)
                case ReplyWithSlice():
                    message = with_slice(effect.message, b"")
                    self.table.reply(Reply(request=effect.request, message=message))
                case Send():
                    encode_request(effect.message, effect.version)
                    self.asked.append(effect)
                case Forward():
                    wrap_request(effect)
                    self.asked.append(effect)
                case CheckSnapshot():
                    self.checks.append(effect)
                case Exit():
                    self.exit = effect

    def wait(self, ticks: int) -> None:
        """Let time pass from deadline to deadline."""
        for _ in range(ticks):
            deadline = self.node.deadline()
            if deadline is None or deadline > self.now + HOUR_NS:
                return
            self.now = max(self.now + 1_000_000, deadline)
            self.step(Tick())

    def send(self, payload: bytes, *, to_controller: bool) -> Answers | None:
        """Send a frame's payload; None if the listener hangs up on it."""
        try:
            request = parse_request(payload, on_controller_listener=to_controller)
        except WireError:
            return None
        slot = Answers()
        if not isinstance(request, bytes):
            binding = Binding(name="L", host="", port=1, is_controller=to_controller)
            receive_request(self, binding, "10.0.0.1", request, slot)
        return slot


def payload_of(key: int, version: int, chance: random.Random) -> bytes:
    message = random_request(key, version, chance)
    header = RequestHeader(api_key=key, version=version, correlation_id=7)
    return encode_request_header(header, header_versions(key, version)[0]) + encode_request(
        message, version
    )


def in_envelope(content: bytes) -> bytes:
    envelope = EnvelopeRequest(
        request_data=content,
        request_principal=encode_principal(ANONYMOUS),
        client_host_address=bytes([10, 0, 0, 1]),
    )
    header = RequestHeader(api_key=envelope.API_KEY, version=0, correlation_id=8)
    return encode_request_header(header, 2) + encode_request(envelope, 0)


def cuts(payload: bytes) -> list[bytes]:
    return [payload[:length] for length in range(len(payload) + 1)]


@pytest.fixture(scope="module")
def controller() -> Target:
    """The only voter, and so the active controller, and a broker."""
    target = Target(1)
    assert target.node.status().role == "leader"
    return target


@pytest.mark.requirement("590-10")
@pytest.mark.parametrize(("key", "version"), requests())
def test_no_envelope_ends_the_active_controller(controller: Target, key: int, version: int) -> None:
    payload = payload_of(key, version, random.Random(key * 100 + version))
    for content in cuts(payload):
        slot = controller.send(in_envelope(content), to_controller=True)
        controller.wait(3)
        assert slot is not None
        assert slot.answer is not None or slot.is_over
    assert controller.exit is None
    assert controller.node.status().role == "leader"


@pytest.mark.parametrize("to_controller", [True, False], ids=["controller", "broker"])
@pytest.mark.parametrize(("key", "version"), requests())
def test_no_request_ends_a_node(key: int, version: int, to_controller: bool) -> None:
    chance = random.Random(key * 100 + version)
    for voters in (1, 3):
        target = Target(voters)
        payloads = cuts(payload_of(key, version, chance))
        for _ in range(20):
            mutated = bytearray(payload_of(key, version, chance))
            mutated[chance.randrange(len(mutated))] = chance.randrange(256)
            payloads.append(bytes(mutated))
        for payload in payloads:
            target.send(payload, to_controller=to_controller)
        target.wait(50)
        assert target.exit is None


@pytest.mark.parametrize("seed", range(SEEDS))
def test_no_sequence_of_messages_ends_a_node(seed: int) -> None:
    chance = random.Random(seed)
    target = Target(3, node_id=chance.choice((1, 2, 3, 4)), seed=seed)
    for _ in range(EVENTS):
        if target.checks and chance.random() < 0.5:
            check(target, target.checks.pop(), chance)
        elif target.asked and chance.random() < 0.7:
            answer(target, target.asked.pop(chance.randrange(len(target.asked))), chance)
        elif chance.random() < 0.7:
            key, version = chance.choice(requests())
            target.send(
                payload_of(key, version, chance),
                to_controller=chance.random() < 0.7 and target.is_controller,
            )
        else:
            target.wait(chance.randrange(4))
        if target.exit is not None:
            assert target.exit.status == 1
            assert "\n" not in target.exit.reason
            return


def check(target: Target, copied: CheckSnapshot, chance: random.Random) -> None:
    """Say what was copied: nothing, or a snapshot of no entities."""
    stored = StoredSnapshot(snapshot=copied.snapshot, size=4)
    loaded = LoadedSnapshot(stored=stored, timestamp_ms=0, image=EMPTY_IMAGE)
    found = loaded if chance.random() < 0.7 else None
    target.step(SnapshotChecked(copy=copied.copy, loaded=found))


def answer(target: Target, asked: Send | Forward, chance: random.Random) -> None:
    """Answer what the node has asked, at random; through the codec, as a peer would."""
    if chance.random() < 0.2:
        target.step(Unanswered(correlation=asked.correlation))
        return
    message = random_answer(asked.message.API_KEY, asked.version, chance)
    if isinstance(asked, Forward) and chance.random() < 0.5:
        message = EnvelopeResponse(error_code=chance.choice((41, 35, 42, -1, 999)))
    target.step(Answered(correlation=asked.correlation, message=message))
