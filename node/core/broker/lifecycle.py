"""Define the broker's states and transitions as a table (KIP-631 "Broker State Machine").

The BrokerState metric shows the numbers. See membership.py for the causes of transitions.
"""

from enum import Enum, IntEnum
from typing import Final


class BrokerState(IntEnum):
    """The states with the numbers of released Kafka; Kafka never used 4 and 5."""

    NOT_RUNNING = 0
    STARTING = 1
    RECOVERY = 2
    RUNNING = 3
    PENDING_CONTROLLED_SHUTDOWN = 6
    SHUTTING_DOWN = 7


class Transition(Enum):
    """The events that change the state."""

    START = "the process starts; register, and fetch metadata"
    CATCH_UP = "the image holds the broker's own registration"
    UNFENCE = "log recovery is done, and the controller agrees that the broker serves"
    STOP = "the process was asked to end"
    FINISH = "the controller granted the shutdown, or there is nothing to wait for"


TRANSITIONS: Final = {
    (BrokerState.NOT_RUNNING, Transition.START): BrokerState.STARTING,
    (BrokerState.STARTING, Transition.CATCH_UP): BrokerState.RECOVERY,
    (BrokerState.RECOVERY, Transition.UNFENCE): BrokerState.RUNNING,
    (BrokerState.STARTING, Transition.STOP): BrokerState.PENDING_CONTROLLED_SHUTDOWN,
    (BrokerState.RECOVERY, Transition.STOP): BrokerState.PENDING_CONTROLLED_SHUTDOWN,
    (BrokerState.RUNNING, Transition.STOP): BrokerState.PENDING_CONTROLLED_SHUTDOWN,
    (BrokerState.PENDING_CONTROLLED_SHUTDOWN, Transition.FINISH): BrokerState.SHUTTING_DOWN,
}


def after(state: BrokerState, transition: Transition) -> BrokerState:
    """Return the state after `transition`; a transition outside the table fails (631-59)."""
    following = TRANSITIONS.get((state, transition))
    assert following is not None, f"{transition.name} is impossible in {state.name}"
    return following
