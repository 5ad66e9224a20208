"""Judge BrokerHeartbeat: the next state of a broker (KIP-631 "Broker Leases"; 631-46 to 61).

A controlled shutdown may be granted at once if the broker leads nothing, or later: the moment is
open, since Kafka waits for the other brokers.
"""

from collections.abc import Sequence

from kraftproof.checkers.kraft.specification.brokers import wrong_result
from kraftproof.checkers.kraft.specification.errors import Code, code_name
from kraftproof.checkers.kraft.specification.fold import fold
from kraftproof.checkers.kraft.specification.image import Broker, ContradictionError, Image
from kraftproof.checkers.kraft.specification.rows import (
    BrokerHeartbeatRequest,
    BrokerHeartbeatResponse,
    BrokerRegistrationChangeRecord,
    PartitionChangeRecord,
    Row,
)

State = tuple[bool, bool]
"""Whether a broker is fenced, and whether it shuts down."""


def _current(image: Image, request: BrokerHeartbeatRequest) -> Broker | None:
    broker = image.brokers.get(request.broker_id)
    return broker if broker is not None and broker.epoch == request.broker_epoch else None


def is_caught_up(broker: Broker, request: BrokerHeartbeatRequest) -> bool:
    """Return whether the broker has read its own registration (631-48)."""
    return request.current_metadata_offset >= broker.epoch


def next_states(image: Image, broker: Broker, request: BrokerHeartbeatRequest) -> set[State]:
    """Return the states that a broker may have after its heartbeat."""
    if broker.is_leaving or request.want_shut_down:
        may_go = broker.fenced or request.want_fence or not image.leads_any(broker.broker_id)
        must_go = broker.fenced or (request.want_fence and request.want_shut_down)
        states: set[State] = set() if must_go else {(broker.fenced, True)}
        if must_go or may_go:
            states.add((True, True))
        return states
    if broker.fenced:
        unfences = not request.want_fence and is_caught_up(broker, request)
        return {(not unfences, False)}
    return {(request.want_fence, False)}


def wrong_heartbeat(
    image: Image, request: BrokerHeartbeatRequest, written: Sequence[Row]
) -> str | None:
    """Return why a batch is no right result of a heartbeat, or None."""
    broker = _current(image, request)
    who = f"broker {request.broker_id}"
    if broker is None:
        return f"{who}: a heartbeat of another epoch has written records" if written else None
    for record in written:
        if isinstance(record, BrokerRegistrationChangeRecord):
            if record.broker_id != request.broker_id:
                return f"{who}: a heartbeat has changed broker {record.broker_id}"
        elif not isinstance(record, PartitionChangeRecord):
            return f"{who}: a heartbeat has written a {type(record).__name__}"
    try:
        after = fold(image, written).brokers[request.broker_id]
    except ContradictionError as contradiction:
        return str(contradiction)
    state = (after.fenced, after.is_leaving)
    expected = next_states(image, broker, request)
    if state not in expected:
        return f"{who}: is {_show(state)} after a heartbeat, not {_all(expected)}"
    working = tuple(one for one in broker.log_dirs if one not in request.offline_log_dirs)
    if working and after.log_dirs != working:
        return f"{who}: has the directories {after.log_dirs} after a heartbeat, not {working}"
    has_left = not after.may_lead and broker.may_lead
    lost = frozenset(broker.log_dirs).difference(working)
    return wrong_result(
        image,
        written,
        {request.broker_id} if has_left else set(),
        {request.broker_id: lost} if lost else {},
    )


def _show(state: State) -> str:
    return f"{'fenced' if state[0] else 'unfenced'}{' and shutting down' if state[1] else ''}"


def _all(states: set[State]) -> str:
    return " or ".join(map(_show, sorted(states)))


def wrong_heartbeat_answer(
    image: Image,
    request: BrokerHeartbeatRequest,
    written: Sequence[Row],
    answer: BrokerHeartbeatResponse,
) -> str | None:
    """Return why an answer to a heartbeat is wrong, or None; `wrong_heartbeat` has no complaint."""
    broker = _current(image, request)
    who, code = f"broker {request.broker_id}", answer.error_code
    if broker is None:
        is_right = code == Code.STALE_BROKER_EPOCH
        return None if is_right else f"{who}: {code_name(code)}, not STALE_BROKER_EPOCH"
    if code != Code.NONE:
        return f"{who}: {code_name(code)} to a heartbeat of the current epoch"
    after = fold(image, written).brokers[request.broker_id]
    expected = (is_caught_up(broker, request), after.fenced, after.is_gone)
    found = (answer.is_caught_up, answer.is_fenced, answer.should_shut_down)
    if found != expected:
        return f"{who}: is caught up, fenced, to shut down: {found} is answered, {expected} is true"
    return None
