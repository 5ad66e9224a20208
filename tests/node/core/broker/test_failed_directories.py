"""The heartbeats and the registrations of a broker with several log directories (KIP-858)."""

import pytest

from kraftproof.node.core.base.types import NO_NODE, NodeId
from kraftproof.node.core.broker.lifecycle import BrokerState
from kraftproof.node.core.events import DirectoryFailed
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages.generated.broker_heartbeat_request import BrokerHeartbeatRequest
from kraftproof.node.wire.messages.generated.broker_heartbeat_response import (
    BrokerHeartbeatResponse,
)
from kraftproof.node.wire.messages.generated.broker_registration_request import (
    BrokerRegistrationRequest,
)
from kraftproof.node.wire.messages.generated.broker_registration_response import (
    BrokerRegistrationResponse,
)
from kraftproof.node.wire.records import metadata as records
from tests.node.core.broker.bench import DIRECTORIES, TIMEOUTS, Bench

EPOCH = 42
FIRST, SECOND = DIRECTORIES
SERVING = BrokerHeartbeatResponse(is_caught_up=True, is_fenced=False)


def running() -> Bench:
    """A broker that runs at metadata.version 3.6, which knows no directories."""
    bench = Bench(log_dirs=DIRECTORIES)
    sent = bench.next_send()
    assert isinstance(sent.message, BrokerRegistrationRequest)
    assert sent.message.log_dirs == DIRECTORIES
    bench.answer(sent, BrokerRegistrationResponse(broker_epoch=EPOCH))
    learn(bench, 14, log_dirs=())
    bench.answer(bench.next_send(), SERVING)
    assert bench.broker.state is BrokerState.RUNNING
    return bench


def learn(bench: Bench, level: int, log_dirs: tuple[object, ...]) -> None:
    """The image has the broker's registration and a level of metadata.version."""
    written = (
        records.FeatureLevelRecord(name="metadata.version", feature_level=level),
        records.RegisterBrokerRecord(
            broker_id=1, broker_epoch=EPOCH, fenced=False, log_dirs=log_dirs
        ),
    )
    bench.committed.image = apply_all(bench.committed.image, written)
    bench.see(bench.committed.offset + EPOCH + 1)


def fail(bench: Bench) -> None:
    bench.broker.disk_work_ended(DirectoryFailed(directory=FIRST, reason="EIO"), bench.now)


@pytest.mark.requirement("631-46")
def test_a_failed_directory_is_named_at_once_and_in_every_later_heartbeat() -> None:
    bench = running()
    fail(bench)
    begun = bench.monotonic
    sent = bench.next_send()
    assert bench.monotonic == begun
    for _ in range(3):
        assert isinstance(sent.message, BrokerHeartbeatRequest)
        assert sent.message.offline_log_dirs == (FIRST,)
        bench.answer(sent, SERVING)
        sent = bench.next_send()


@pytest.mark.requirement("631-28")
@pytest.mark.parametrize("answer", [None, BrokerHeartbeatResponse(error_code=41)])
@pytest.mark.parametrize("leader", [NO_NODE, NodeId(101)])
def test_a_broker_ends_if_no_controller_hears_of_its_failed_directory(answer, leader) -> None:
    bench = running()
    fail(bench)
    bench.raft.leader = leader
    begun = bench.monotonic
    end = bench.exit(answer)
    assert bench.monotonic - begun == TIMEOUTS.directory_failure_ns
    assert end.status == 1
    assert "(log.dir.failure.timeout.ms)" in end.reason


def test_a_broker_that_was_heard_goes_on() -> None:
    bench = running()
    fail(bench)
    begun = bench.monotonic
    bench.answer(bench.next_send(), SERVING)
    while bench.monotonic < begun + 3 * TIMEOUTS.directory_failure_ns:
        for sent in bench.due():
            if hasattr(sent, "correlation"):
                bench.answer(sent, SERVING)
    assert bench.broker.state is BrokerState.RUNNING


def test_a_heartbeat_from_before_the_failure_tells_nobody() -> None:
    bench = running()
    before = bench.next_send()
    fail(bench)
    begun = bench.monotonic
    bench.answer(before, SERVING)
    bench.raft.leader = NO_NODE
    assert bench.exit(None).status == 1
    assert bench.monotonic - begun == TIMEOUTS.directory_failure_ns


def test_a_broker_registers_again_with_its_directories_after_an_upgrade() -> None:
    """The same incarnation keeps its epoch, and registers no third time."""
    bench = running()
    learn(bench, 16, log_dirs=())
    assert isinstance(bench.next_send().message, BrokerHeartbeatRequest)
    bench = running()
    learn(bench, 17, log_dirs=())
    sent = bench.next_send()
    assert isinstance(sent.message, BrokerRegistrationRequest)
    assert sent.message.log_dirs == DIRECTORIES
    assert sent.message.incarnation_id == bench.config.incarnation
    bench.answer(sent, BrokerRegistrationResponse(broker_epoch=EPOCH))
    learn(bench, 17, log_dirs=DIRECTORIES)
    for _ in range(3):
        sent = bench.next_send()
        assert isinstance(sent.message, BrokerHeartbeatRequest)
        assert sent.message.broker_epoch == EPOCH
        bench.answer(sent, SERVING)


def test_a_registration_after_a_failure_leaves_the_directory_out() -> None:
    bench = running()
    fail(bench)
    bench.answer(
        bench.next_send(), BrokerHeartbeatResponse(error_code=ErrorCode.STALE_BROKER_EPOCH)
    )
    sent = bench.next_send()
    assert isinstance(sent.message, BrokerRegistrationRequest)
    assert sent.message.log_dirs == (SECOND,)
