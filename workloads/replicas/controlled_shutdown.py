"""Restarts of brokers in order, under load: no partition stays without a leader, nothing is lost.

A broker that stops hands its leaderships over first (KIP-631 "Controlled Shutdown"). Producers and
readers work as in the workload `log`, and a client looks for partitions without a leader. The
fault `restart` stops the brokers. The model is `log`.
"""

from collections.abc import Coroutine, Sequence
from typing import ClassVar

from typing_extensions import override

from kraftproof.workloads.log import Log
from kraftproof.workloads.replicas.states import settle, watch
from kraftproof.workloads.workload import Session


class ControlledShutdown(Log):
    """Brokers stop and start under load: finds leaderless partitions and lost records."""

    name: ClassVar[str] = "controlled-shutdown"
    model: ClassVar[str] = "log"
    has_data: ClassVar[bool] = True
    faults: ClassVar[tuple[str, ...]] = ("restart",)

    @override
    def others(
        self, session: Session, keys: Sequence[str]
    ) -> Sequence[Coroutine[object, object, None]]:
        return (watch(session, keys),)

    @override
    async def settle(self, session: Session) -> int:
        return await settle(session, self.keys)
