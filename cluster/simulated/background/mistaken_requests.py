"""Quorum requests with one mistake each, and Fetches of a debugging consumer, in all versions.

The sender knows the right answer, which the load compares with the answer of the controller: the
error of each mistake (KIP-595, KIP-630), or committed records only. A right answer may depend on
the epoch, the leader and the role of the receiver, so an answer counts only if the three are the
same before and after. See stale_requests.py for foreign clusters and old epochs.
"""

from collections.abc import Mapping, Sequence
from random import Random
from typing import Final

from kraftproof.cluster.connection import ConnectionFailed, OutcomeUnknown
from kraftproof.cluster.simulated.background.mistaken_fetches import (
    MISTAKEN_FETCHES,
    consumer_fetch,
)
from kraftproof.cluster.simulated.background.mistakes import MISTAKES, Mistake, Receiver
from kraftproof.cluster.simulated.committed.committed_log import CommittedLog
from kraftproof.cluster.simulated.invariants.invariant import LEADER
from kraftproof.cluster.simulated.kernel.scope import SimulatedScope
from kraftproof.cluster.simulated.network.connection import connect
from kraftproof.cluster.simulated.node.machine import Machine
from kraftproof.cluster.simulated.world import World
from kraftproof.node.core.base.types import milliseconds
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import Message, fetch_response
from kraftproof.node.wire.records.field import metadata_batches

SHARE: Final = 0.35
"""Share of runs with mistaken requests."""
MAX_WAIT_NS: Final = milliseconds(500)
"""Time-out of a connection, and of an answer."""
LONGEST_REST_NS: Final = milliseconds(2_000)
"""Longest time between two requests."""
CONSUMER_SHARE: Final = 0.35
"""Share of requests that are Fetches of a consumer."""
INVARIANT: Final = "MistakesAreNamed"
STATEMENT: Final = (
    "A controller answers a mistaken quorum request with the error of the mistake, and a consumer "
    "of the metadata log with committed records."
)


async def send_mistaken_requests(
    scope: SimulatedScope, world: World, random: Random, controllers: Sequence[int]
) -> None:
    """Send requests to random controllers, one after the other, until the run ends."""
    while True:
        await scope.sleep(random.randrange(LONGEST_REST_NS))
        asked = random.choice(controllers)
        fault = await _ask(scope, world, random, asked)
        if fault is not None:
            world.monitor.record(
                INVARIANT, STATEMENT, fault, node=asked, time_ns=world.scheduler.now_ns
            )


async def _ask(scope: SimulatedScope, world: World, random: Random, asked: int) -> str | None:
    """Send one request, and describe what is wrong with the answer."""
    receiver = _receiver(world, asked)
    if receiver is None:
        return None
    process = world.machines[asked].process
    committed_end = process.status.high_watermark if process and process.status else 0
    is_consumer = random.random() < CONSUMER_SHARE
    if is_consumer:
        end = world.machines[asked].env.log.end_offset
        drawn: Mistake | None = consumer_fetch(receiver, random, end)
    else:
        drawn = random.choice((*MISTAKES, *MISTAKEN_FETCHES))(receiver, random)
    if drawn is None:
        return None
    try:
        connection = await connect(scope, world.network, asked, MAX_WAIT_NS)
        answer = await connection.call(drawn.message, drawn.version, MAX_WAIT_NS)
    except (ConnectionFailed, OutcomeUnknown):
        return None
    connection.close()
    is_same = _receiver(world, asked) == receiver
    if is_consumer and isinstance(answer, fetch_response.FetchResponse):
        committed_end = committed_end if is_same else 0
        fault = consumer_fault(answer, drawn.offset, world.committed_log, committed_end)
        if fault is not None:
            return f"Fetch v{drawn.version} of a consumer at offset {drawn.offset}: {fault}"
    if not is_same:
        return None
    error = error_of(answer)
    if error in drawn.expected:
        return None
    expected = " or ".join(str(int(one)) for one in sorted(drawn.expected))
    return f"{drawn.about}: error {error}, not {expected}"


def _receiver(world: World, asked: int) -> Receiver | None:
    """Return the state of a controller, as far as its answers depend on the state."""
    machines: Mapping[int, Machine] = world.machines
    process = machines[asked].process
    if process is None or process.status is None:
        return None
    status = process.status
    log = machines[asked].env.log
    return Receiver(
        node_id=asked,
        incarnation=process.incarnation,
        epoch=status.epoch,
        leader=status.leader,
        is_leader=status.role == LEADER,
        voters=world.voters,
        cluster_id=world.cluster_id,
        snapshot=max(log.snapshots, default=None),
        log_start=log.start.end_offset,
    )


def error_of(answer: Message) -> int:
    """Return the error of a whole answer, else of its first partition."""
    error = int(getattr(answer, "error_code", ErrorCode.NONE))
    topics = getattr(answer, "responses", None) or getattr(answer, "topics", ())
    if error or not topics or not topics[0].partitions:
        return error
    return int(topics[0].partitions[0].error_code)


def consumer_fault(
    answer: fetch_response.FetchResponse,
    offset: int,
    committed_log: CommittedLog,
    committed_end: int,
) -> str | None:
    """Describe what a consumer must not get: a gap, other records, uncommitted records, or nothing.

    `committed_end` is the end of the records that were committed before the Fetch.
    """
    if error_of(answer) or not answer.responses or not answer.responses[0].partitions:
        return None
    position = None
    for batch in metadata_batches(answer.responses[0].partitions[0].records):
        if position is None and not batch.base_offset <= offset < batch.next_offset:
            return f"the first batch has the offsets {batch.base_offset} to {batch.next_offset - 1}"
        if position is not None and batch.base_offset != position:
            return f"offset {batch.base_offset} follows offset {position - 1}"
        position = batch.next_offset
        if batch.next_offset > committed_log.end_offset:
            return f"offset {batch.next_offset - 1} is not committed"
        known = committed_log.at(batch.base_offset)
        if known is not None and known != batch:
            return f"another batch than the committed one at offset {batch.base_offset}"
    if position is None and offset < committed_end:
        return f"no record, but the records below {committed_end} were committed before"
    return None
