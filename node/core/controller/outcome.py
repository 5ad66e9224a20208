"""Define the result of a decision: records to write and the answer."""

from msgspec import Struct

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.records.batch import Record


class Outcome(Struct, frozen=True, kw_only=True):
    """A decision on one image; the reply is sent once that image has committed."""

    reply: Message
    records: tuple[Record, ...] = ()
    contact: NodeId | None = None
    """The broker that is proven alive; a refused broker gets no lease (631-52)."""
