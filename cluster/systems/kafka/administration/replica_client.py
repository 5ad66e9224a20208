"""Partitions and their replicas in Kafka's protocol: moves, elections, and what brokers report.

`move`, `cancel` and `elect` go through any broker to the controller; `state` asks one broker.
"""

from typing import Final, cast

from typing_extensions import override

from kraftproof.cluster.systems.kafka import log_requests as requests
from kraftproof.cluster.systems.kafka.client import OPERATION_TIMEOUT_MS, first_of
from kraftproof.cluster.systems.kafka.errors import error_name
from kraftproof.cluster.systems.kafka.logs import LogClient, RefusedError
from kraftproof.cluster.systems.system import Completion, Outcome, Value
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    alter_partition_reassignments_request,
    alter_partition_reassignments_response,
    elect_leaders_request,
    elect_leaders_response,
    list_partition_reassignments_request,
    list_partition_reassignments_response,
    metadata_response,
)

FUNCTIONS: Final = frozenset({"move", "cancel", "elect", "state"})
MOVE_VERSION: Final = 0
ELECT_VERSION: Final = 2
LIST_VERSION: Final = 0


class ReplicaClient(LogClient):
    """A client of partitions that also moves and watches their replicas."""

    @override
    async def _invoke(self, f: str, key: str, value: Value) -> Completion:
        match f:
            case "move":
                return await self._move(key, self._replicas(value["shift"], value["size"]))
            case "cancel":
                return await self._move(key, None)
            case "elect":
                return await self._elect(key)
            case "state":
                return await self._state(key, is_last=bool(value.get("is_last")))
            case _:
                return await super()._invoke(f, key, value)

    def _replicas(self, shift: int, size: int) -> tuple[int, ...]:
        """Return `size` brokers, from a place in the order of ids on."""
        brokers = sorted(self._brokers)
        most = min(size, len(brokers))
        return tuple(brokers[(shift + place) % len(brokers)] for place in range(most))

    async def _move(self, key: str, replicas: tuple[int, ...] | None) -> Completion:
        topic, partition = requests.split(key)
        module = alter_partition_reassignments_request
        part = module.ReassignablePartition(partition_index=partition, replicas=replicas)
        request = module.AlterPartitionReassignmentsRequest(
            timeout_ms=OPERATION_TIMEOUT_MS,
            topics=(module.ReassignableTopic(name=topic, partitions=(part,)),),
        )
        answer = cast(
            "alter_partition_reassignments_response.AlterPartitionReassignmentsResponse",
            await self._call(request, MOVE_VERSION),
        )
        code = answer.error_code or first_of(first_of(answer.responses).partitions).error_code
        return _changed(code, {"replicas": replicas})

    async def _elect(self, key: str) -> Completion:
        topic, partition = requests.split(key)
        module = elect_leaders_request
        wanted = module.TopicPartitions(topic=topic, partitions=(partition,))
        request = module.ElectLeadersRequest(
            topic_partitions=(wanted,), timeout_ms=OPERATION_TIMEOUT_MS
        )
        answer = cast(
            "elect_leaders_response.ElectLeadersResponse", await self._call(request, ELECT_VERSION)
        )
        results = answer.replica_election_results
        code = answer.error_code
        if results and not code:
            code = first_of(first_of(results).partition_result).error_code
        return _changed(code, None)

    async def _state(self, key: str, *, is_last: bool) -> Completion:
        """Return what one broker reports; the last look asks for moves under way, too."""
        topic, partition = requests.split(key)
        answer = cast(
            "metadata_response.MetadataResponse",
            await self._call(requests.metadata(topic), requests.METADATA_VERSION),
        )
        shown = first_of(answer.topics)
        for part in shown.partitions:
            if part.partition_index == partition:
                break
        else:
            raise RefusedError(shown.error_code)
        is_moving = is_last and await self._is_moving(topic, partition)
        value = {
            "leader": part.leader_id,
            "isr": sorted(part.isr_nodes),
            "replicas": sorted(part.replica_nodes),
            "is_moving": is_moving,
        }
        return Completion(outcome=Outcome.OK, value=value)

    async def _is_moving(self, topic: str, partition: int) -> bool:
        module = list_partition_reassignments_request
        wanted = module.ListPartitionReassignmentsTopics(name=topic, partition_indexes=(partition,))
        request = module.ListPartitionReassignmentsRequest(
            timeout_ms=OPERATION_TIMEOUT_MS, topics=(wanted,)
        )
        answer = cast(
            "list_partition_reassignments_response.ListPartitionReassignmentsResponse",
            await self._call(request, LIST_VERSION),
        )
        if answer.error_code:
            raise RefusedError(answer.error_code)
        return any(one.partitions for one in answer.topics)


def _changed(code: int, value: Value) -> Completion:
    """Return the completion of a change; a refusal changes nothing that a rule reads."""
    if code == ErrorCode.NONE:
        return Completion(outcome=Outcome.OK, value=value)
    return Completion(outcome=Outcome.FAIL, error=error_name(code))
