"""The invariant of the versions of requests between nodes: known ones, which carry each field."""

from typing import Final

from typing_extensions import override

from kraftproof.cluster.simulated.invariants.invariant import Invariant, ProcessView
from kraftproof.node.core.effects import Send
from kraftproof.node.wire import codec
from kraftproof.node.wire.errors import WireError
from kraftproof.node.wire.messages import Message

COMPARED: Final = 20
"""Number of requests of a type and version in a run that are encoded: the later ones are alike."""


class VersionsCarryRequests(Invariant):
    """Most simulated nodes exchange messages without bytes, which no version can cut."""

    statement = "A node sends each request in a version of its API that carries all of its fields."

    def __init__(self) -> None:
        super().__init__()
        self._seen: dict[tuple[type[Message], int], int] = {}

    @override
    def on_sent(self, process: ProcessView, effect: Send) -> None:
        key = (type(effect.message), effect.version)
        seen = self._seen.get(key, 0)
        if seen >= COMPARED:
            return
        self._seen[key] = seen + 1
        message, version = effect.message, effect.version
        try:
            written = codec.encode_request(message, version)
            read = codec.decode_request(message.API_KEY, version, written)
        except WireError as error:
            self.monitor.report_violation(self, process, f"sends {message} v{version}: {error}")
            return
        if read != message:
            detail = f"sends {message} in version {version}, which makes {read}"
            self.monitor.report_violation(self, process, detail)

    @override
    def on_data_sent(self, process: ProcessView, effect: Send) -> None:
        self.on_sent(process, effect)
