"""What the controller decides about a request: records to write, and the answer they earn."""

from msgspec import Struct

from kraftproof.node.core.base.types import NodeId
from kraftproof.node.wire.messages import Message
from kraftproof.node.wire.messages.batch import Record


class Outcome(Struct, frozen=True, kw_only=True):
    """A decision on one image; the reply may be shown once the image it saw has committed."""

    reply: Message
    records: tuple[Record, ...] = ()
    contact: NodeId | None = None
    """The broker that this request proves alive; a refused one gets no lease (631-52)."""
