"""Broker registrations at controllers (KIP-631 "Broker Registration").

The test's own brokers need no process: they register, send heartbeats and unregister. A client
that finds a controller that is not the active one asks the next one in its next operation.
"""

from random import Random
from typing import Final, cast

from typing_extensions import override

from kraftproof.cluster.protocol import Cluster
from kraftproof.cluster.systems.kafka.client import KafkaClient, answered
from kraftproof.cluster.systems.system import Completion, Value
from kraftproof.node.wire.errors import ErrorCode
from kraftproof.node.wire.messages import (
    broker_heartbeat_request,
    broker_heartbeat_response,
    broker_registration_request,
    broker_registration_response,
    unregister_broker_request,
    unregister_broker_response,
)
from kraftproof.node.wire.schema import Message
from kraftproof.node.wire.types import Uuid

REGISTRATION_VERSION: Final = 3
HEARTBEAT_VERSION: Final = 1
UNREGISTER_VERSION: Final = 0
FEATURE: Final = "metadata.version"
FEATURE_LEVELS: Final = (1, 100)
RACKS: Final = (None, "east", "west")
"""By broker id, in turn."""
CAUGHT_UP: Final = 2**53
"""A metadata offset that no log reaches, for brokers that have caught up."""


class RegistrationClient(KafkaClient):
    """The test's own brokers, at one controller after the other until one is active."""

    def __init__(self, cluster: Cluster, cluster_id: str, random: Random) -> None:
        controllers = [node.node_id for node in cluster.nodes if node.has("controller")]
        super().__init__(cluster, controllers, random)
        self._cluster_id = cluster_id

    @override
    def _next_node_if_controller(self) -> None:
        self._turn_away()

    @override
    def _request(self, f: str, key: str, value: Value) -> tuple[Message, int]:
        match f:
            case "register":
                return self._register(int(key), value), REGISTRATION_VERSION
            case "heartbeat":
                return self._heartbeat(int(key), value), HEARTBEAT_VERSION
            case "unregister":
                request = unregister_broker_request.UnregisterBrokerRequest(broker_id=int(key))
                return request, UNREGISTER_VERSION
            case _:
                raise AssertionError(f)

    def _register(self, broker_id: int, value: Value) -> Message:
        assert value is not None
        listeners = tuple(
            broker_registration_request.Listener(name=name, host="127.0.0.1", port=port)
            for name, port in (("PLAINTEXT", broker_id), ("INTERNAL", broker_id + 10_000))
        )
        lowest, highest = FEATURE_LEVELS
        feature = broker_registration_request.Feature(
            name=FEATURE, min_supported_version=lowest, max_supported_version=highest
        )
        return broker_registration_request.BrokerRegistrationRequest(
            broker_id=broker_id,
            cluster_id=str(value.get("cluster", self._cluster_id)),
            incarnation_id=Uuid(bytes.fromhex(str(value["incarnation"]))),
            listeners=listeners[: 1 + broker_id % 2],
            features=(feature,),
            rack=RACKS[broker_id % len(RACKS)],
            log_dirs=(Uuid(bytes.fromhex(str(value["incarnation"]))),),
        )

    def _heartbeat(self, broker_id: int, value: Value) -> Message:
        assert value is not None
        epoch = value["epoch"]
        assert isinstance(epoch, int)
        return broker_heartbeat_request.BrokerHeartbeatRequest(
            broker_id=broker_id,
            broker_epoch=epoch,
            current_metadata_offset=CAUGHT_UP if value.get("caught_up", True) else epoch - 1,
            want_fence=value["want_fence"] is True,
            want_shut_down=value["want_shut_down"] is True,
        )

    @override
    def _completion(self, f: str, answer: Message) -> Completion:
        match f:
            case "register":
                return self._of_register(
                    cast("broker_registration_response.BrokerRegistrationResponse", answer)
                )
            case "heartbeat":
                return self._of_heartbeat(
                    cast("broker_heartbeat_response.BrokerHeartbeatResponse", answer)
                )
            case _:
                gone = cast("unregister_broker_response.UnregisterBrokerResponse", answer)
                return self._of_unregister(gone.error_code)

    def _of_register(
        self, answer: broker_registration_response.BrokerRegistrationResponse
    ) -> Completion:
        if answer.error_code == ErrorCode.DUPLICATE_BROKER_REGISTRATION:
            return answered("duplicate")
        if answer.error_code != ErrorCode.NONE:
            return self._refused("register", answer.error_code)
        return answered("registered", epoch=answer.broker_epoch)

    def _of_heartbeat(
        self, answer: broker_heartbeat_response.BrokerHeartbeatResponse
    ) -> Completion:
        if answer.error_code in {ErrorCode.STALE_BROKER_EPOCH, ErrorCode.BROKER_ID_NOT_REGISTERED}:
            return answered("stale")
        if answer.error_code != ErrorCode.NONE:
            return self._refused("heartbeat", answer.error_code)
        return answered("alive", fenced=answer.is_fenced, should_shut_down=answer.should_shut_down)

    def _of_unregister(self, error_code: int) -> Completion:
        if error_code == ErrorCode.NONE:
            return answered("unregistered")
        if error_code == ErrorCode.BROKER_ID_NOT_REGISTERED:
            return answered("absent")
        return self._refused("unregister", error_code)
