"""Base of the invariants of answers that describe the image: ACLs, quotas, SCRAM credentials."""

from abc import abstractmethod
from typing import ClassVar, Generic, TypeVar, cast

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView
from kraftproof.node.core.events import Received
from kraftproof.node.core.metadata.image import MetadataImage
from kraftproof.node.wire.messages import Message

RequestT = TypeVar("RequestT", bound=Message)
ResponseT = TypeVar("ResponseT", bound=Message)


class Descriptions(Invariant, Generic[RequestT, ResponseT]):
    """An answer that is compared with the image of the process; `requests` has the request.

    Attributes:
        response: The type of the answer.
    """

    response: ClassVar[type[Message]]

    @override
    def on_replying(self, process: ProcessView, event: Received, message: Message) -> None:
        """Compare with the last published image; a step publishes its image after its answers."""
        if not isinstance(event.message, self.requests) or not isinstance(message, self.response):
            return
        request, response = cast("RequestT", event.message), cast("ResponseT", message)
        fault = self.fault(request, response, process.image)
        if fault is not None:
            self.monitor.report_violation(self, process, fault)

    @abstractmethod
    def fault(self, request: RequestT, response: ResponseT, image: MetadataImage) -> str | None:
        """Return what is wrong with an answer, or None."""
