"""Compare the producer ids of a broker with the blocks that its controller has given."""

from collections import deque
from typing import Final

from kraftproof.cluster.simulated.differential.data.asking import Asking
from kraftproof.cluster.simulated.differential.data.data_rig import BROKER_EPOCH, CONTROLLER
from kraftproof.cluster.simulated.differential.data.drawn_rights import (
    IDEMPOTENT_WRITE,
    TRANSACTIONAL_ID,
)
from kraftproof.cluster.simulated.differential.difference import check, same
from kraftproof.cluster.simulated.invariants.security.authorized_answers import TOPIC, WRITE
from kraftproof.node.core.effects import Send
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    allocate_producer_ids_request,
    allocate_producer_ids_response,
    init_producer_id_request,
    init_producer_id_response,
)

RETRY_MS: Final = 50
PATIENCE_MS: Final = 2_000
BLOCK: Final = 1_000
"""Distance of the first ids of blocks, and the size of a block of Kafka's controller."""
LOW: Final = 100
"""Number of ids that are left when the next block is asked for: a tenth of a block."""


class ProducerIdClients:
    """The clients that need producer ids, and the controller that gives blocks of ids."""

    def __init__(self, asking: Asking) -> None:
        self._asking = asking
        self._given: deque[int] = deque()
        """The ids of the blocks that the broker has got and not given."""
        self._waiting: deque[tuple[int, int]] = deque()
        """The tokens of requests without an answer, with their deadlines."""
        self._next = BLOCK
        self._retries_from_ms = 0

    def ask(self) -> None:
        """Ask for a producer id.

        Raises:
            DifferenceError: the answer is not the one of the model.
        """
        asking, rights = self._asking, self._asking.rights
        transactional_id = asking.random.choice((None, None, None, None, "t", "tu"))
        module = init_producer_id_request
        request = module.InitProducerIdRequest(transactional_id=transactional_id)
        event = asking.event(request)
        token = asking.rig.ask(event)
        if transactional_id is not None:
            may = rights.allows(event, WRITE, TRANSACTIONAL_ID, transactional_id)
            denied = ErrorCode.TRANSACTIONAL_ID_AUTHORIZATION_FAILED
            self._refused(token, ErrorCode.INVALID_TRANSACTION_TIMEOUT if may else denied)
        elif not (
            rights.allows_on_cluster(event, IDEMPOTENT_WRITE)
            or rights.allows_some(event, WRITE, TOPIC)
        ):
            self._refused(token, ErrorCode.CLUSTER_AUTHORIZATION_FAILED)
        elif self._given:
            before = self._given[0]
            self._got(token)
            self._compare_request(before)
        else:
            check("a producer waits for the first block", token not in asking.rig.answers)
            self._waiting.append((token, asking.rig.time_ms + PATIENCE_MS))

    def _compare_request(self, before: int) -> None:
        """Compare whether the next block is asked for, after an id of the present block."""
        given, under_way = self._given, bool(self._under_way())
        is_single = not given or given[0] // BLOCK == given[-1] // BLOCK
        is_low = is_single and len(given) <= LOW
        check("no block is asked for while ids are left", is_low or not under_way)
        is_present = bool(given) and given[0] // BLOCK == before // BLOCK
        if is_low and is_present and self._retries_from_ms <= self._asking.rig.time_ms:
            check(f"a block is asked for with {len(given)} ids left", under_way)

    def _refused(self, token: int, error: ErrorCode) -> None:
        found = self._asking.answer(token, init_producer_id_response.InitProducerIdResponse)
        shown = (found.error_code, found.producer_id, found.producer_epoch)
        same("the refusal of a producer", shown, (error, -1, -1))

    def _got(self, token: int) -> None:
        found = self._asking.answer(token, init_producer_id_response.InitProducerIdResponse)
        shown = (found.error_code, found.producer_id, found.producer_epoch)
        same("the id of a producer", shown, (ErrorCode.NONE, self._given.popleft(), 0))

    def control(self) -> None:
        """Answer the broker's request for a block, if there is one: a block, an error or nothing.

        Raises:
            DifferenceError: the request is wrong, or a producer that waits gets no id of the block.
        """
        rig, random = self._asking.rig, self._asking.random
        under_way = self._under_way()
        check("one request for a block is under way", len(under_way) <= 1)
        for send in under_way:
            asked = allocate_producer_ids_request.AllocateProducerIdsRequest(
                broker_id=self._asking.broker.own, broker_epoch=BROKER_EPOCH
            )
            same("a request for a block", (send.destination, send.message), (CONTROLLER, asked))
            response = allocate_producer_ids_response.AllocateProducerIdsResponse
            length = random.choice((1, 2, 3, LOW + 1, LOW + 2, 2 * LOW))
            kind = random.random()
            if kind < 0.6:
                rig.answer(send, response(producer_id_start=self._next, producer_id_len=length))
                self._given.extend(range(self._next, self._next + length))
                self._next += BLOCK
            else:
                self._retries_from_ms = rig.time_ms + RETRY_MS
                refusal = response(error_code=ErrorCode.NOT_CONTROLLER)
                rig.answer(send, refusal if kind < 0.8 else None)
        while self._waiting and self._given:
            self._got(self._waiting.popleft()[0])
        self.expire()

    def _under_way(self) -> list[Send]:
        kind = allocate_producer_ids_request.AllocateProducerIdsRequest
        return [send for send in self._asking.rig.sent if isinstance(send.message, kind)]

    def expire(self) -> None:
        """Compare the refusals of producers that have waited too long.

        Raises:
            DifferenceError: a producer gets another answer.
        """
        while self._waiting and self._waiting[0][1] <= self._asking.rig.time_ms:
            self._refused(self._waiting.popleft()[0], ErrorCode.COORDINATOR_LOAD_IN_PROGRESS)
        for token, _ in self._waiting:
            check("a producer waits for a block", token not in self._asking.rig.answers)

    def check_request(self) -> None:
        """Check that the broker asks for a block soon while producers wait.

        Raises:
            DifferenceError: no request is under way.
        """
        if self._waiting:
            self._asking.rig.pass_time(RETRY_MS)
            self.expire()
            under_way = bool(self._under_way())
            check(
                "a broker asks for a block that producers wait for", under_way or not self._waiting
            )
