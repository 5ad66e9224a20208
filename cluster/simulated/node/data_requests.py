"""Tell requests about partitions from others: brokers receive and send them, and Fetch is both."""

from kraftproof.node.core.effects import Forward, Send
from kraftproof.node.core.events import Received
from kraftproof.node.core.partition.requests import DATA_REQUESTS


def is_data(event: Received) -> bool:
    """Return whether a received request is about partitions."""
    return not event.on_controller_listener and isinstance(event.message, DATA_REQUESTS)


def is_data_request(request: Send | Forward) -> bool:
    """Return whether a sent request is about partitions."""
    return isinstance(request, Send) and request.is_to_broker
