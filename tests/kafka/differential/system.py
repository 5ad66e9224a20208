"""A real Kafka node and one of ours of the same topology, and requests to both. No tests here."""

import contextlib
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from kraftproof.cluster.local import ports
from kraftproof.node.tools.client import Client, ClientError, parse_addresses
from kraftproof.node.wire.messages import (
    broker_registration_response,
    create_topics_request,
    create_topics_response,
    list_offsets_request,
    list_offsets_response,
    metadata_request,
    metadata_response,
)
from kraftproof.node.wire.schema import Message
from kraftproof.node.wire.types import ZERO_UUID
from tests.kafka.differential.brokers import RegistrationRequest
from tests.kafka.differential.case import BROKER, CONTROLLER, Case, Context
from tests.kafka.java import Java, end
from tests.kafka.systems import has_broker, until

CLUSTER_ID = "XcZZOzUqS4yHOjhMQB6JLQ"
RELEASE = "3.9-IV0"
"""The metadata.version that ours writes."""
READY_SECONDS = 60
CALL_SECONDS = 10
BROKER_ID = 1
SETTLE_SECONDS = 10

Answer = Message | str
"""An answer, or a word for having none."""


@dataclass(slots=True)
class System:
    """One of the two, as the comparison talks to it."""

    addresses: dict[str, str]
    context: Context
    clients: dict[str, Client]
    markers: int = 0

    def ask(self, case: Case, version: int) -> Answer:
        """Send one request; an answer that never came is told by why."""
        self.context.version = version
        if case.is_settled:
            self._settle()
        message = case.make(self.context)
        try:
            answer = self._client(case.to).ask(message, version)
        except ClientError as error:
            self._forget(case.to)
            return "no answer in time" if "in time" in str(error) else "the connection was closed"
        self._remember(message, answer)
        return answer

    def close(self) -> None:
        """End the connections."""
        for listener in list(self.clients):
            self._forget(listener)

    def _client(self, listener: str) -> Client:
        if listener not in self.clients:
            address = parse_addresses(self.addresses[listener])[0]
            self.clients[listener] = Client(address, CALL_SECONDS)
        return self.clients[listener]

    def _forget(self, listener: str) -> None:
        client = self.clients.pop(listener, None)
        if client is not None:
            client.__exit__(None, None, None)

    def _remember(self, request: Message, answer: Message) -> None:
        match answer:
            case create_topics_response.CreateTopicsResponse():
                made = {topic.name: topic.topic_id for topic in answer.topics}
                self.context.topic_ids.update(
                    {name: id_ for name, id_ in made.items() if id_ != ZERO_UUID}
                )
            case broker_registration_response.BrokerRegistrationResponse(error_code=0) if (
                isinstance(request, RegistrationRequest)
            ):
                broker_id = request.broker_id
                self.context.broker_epochs[broker_id] = answer.broker_epoch

    def _settle(self) -> None:
        """Wait until the broker's image holds, and the broker does, all that was answered.

        Kafka's broker knows a new topic some time before it leads its partitions.
        """
        self.markers += 1
        name = f"marker-{self.markers}"
        placed = create_topics_request.CreatableReplicaAssignment(
            partition_index=0, broker_ids=(BROKER_ID,)
        )
        topic = create_topics_request.CreatableTopic(
            name=name, num_partitions=-1, replication_factor=-1, assignments=(placed,)
        )
        self._client(CONTROLLER).ask(create_topics_request.CreateTopicsRequest(topics=(topic,)))
        asked = metadata_request.MetadataRequest(
            topics=(metadata_request.MetadataRequestTopic(name=name),),
            allow_auto_topic_creation=False,
        )

        def is_there() -> bool:
            answer = self._client(BROKER).ask(asked)
            assert isinstance(answer, metadata_response.MetadataResponse)
            return answer.topics[0].error_code == 0

        assert until(is_there, SETTLE_SECONDS), f"topic {name} did not reach the broker"
        newest = list_offsets_request.ListOffsetsPartition(partition_index=0, timestamp=-1)
        topics = (list_offsets_request.ListOffsetsTopic(name=name, partitions=(newest,)),)

        def is_led() -> bool:
            answer = self._client(BROKER).ask(
                list_offsets_request.ListOffsetsRequest(topics=topics)
            )
            assert isinstance(answer, list_offsets_response.ListOffsetsResponse)
            return answer.topics[0].partitions[0].error_code == 0

        assert until(is_led, SETTLE_SECONDS), f"the broker does not lead {name}"


def properties_of(directory: Path, addresses: dict[str, str]) -> Path:
    """Write the server.properties that both systems take."""
    broker, controller = addresses[BROKER], addresses[CONTROLLER]
    entries = {
        "process.roles": "broker,controller",
        "node.id": str(BROKER_ID),
        "controller.quorum.voters": f"1@{controller}",
        "controller.listener.names": "CONTROLLER",
        "listeners": f"PLAINTEXT://{broker},CONTROLLER://{controller}",
        "log.dirs": str(directory / "data"),
        "broker.session.timeout.ms": "120000",
        "authorizer.class.name": "org.apache.kafka.metadata.authorizer.StandardAuthorizer",
        "super.users": "User:ANONYMOUS",
        # The records are of 2023: the comparison may last until the first look of retention.
        "log.retention.ms": "-1",
        # Brokers 2 and 3 of the comparison fetch nothing: both leaders would shrink ISRs in time.
        "replica.lag.time.max.ms": "600000",
    }
    path = directory / "server.properties"
    path.write_text("".join(f"{key}={value}\n" for key, value in entries.items()))
    return path


@contextlib.contextmanager
def running(command: list[str], directory: Path, addresses: dict[str, str]) -> Iterator[System]:
    """Run a node until the block ends."""
    output_path = directory / "output.log"
    with output_path.open("wb") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output)
    try:
        assert until(lambda: has_broker(addresses[BROKER]), READY_SECONDS), output_path.read_text()
        system = System(addresses=addresses, context=Context(CLUSTER_ID), clients={})
        with contextlib.closing(system):
            yield system
    finally:
        end(process)


@contextlib.contextmanager
def both(java: Java, directory: Path) -> Iterator[tuple[System, System]]:
    """Run ours and the real one, started at the same time."""
    lease = ports.lease(directory.name, directory, 4)
    listening = [f"127.0.0.1:{port}" for port in lease.ports]
    systems = {}
    try:
        with contextlib.ExitStack() as stack:
            for name, two in (("ours", listening[:2]), ("real", listening[2:])):
                home = directory / name
                home.mkdir()
                systems[name] = (home, dict(zip((BROKER, CONTROLLER), two, strict=True)))
            ours_path = properties_of(*systems["ours"])
            real_path = properties_of(*systems["real"])
            with real_path.open("a") as real:
                real.write("auto.create.topics.enable=false\nlog.cleaner.enable=false\n")
            formatting = ("format", "-t", CLUSTER_ID, "-c")
            run_tool = [sys.executable, "-m", "kraftproof.node.tools.storage"]
            subprocess.run([*run_tool, *formatting, str(ours_path)], check=True, timeout=60)
            java.output(
                "kafka.tools.StorageTool", *formatting, str(real_path), "--release-version", RELEASE
            )
            real_command = java.command("kafka.Kafka", str(real_path))
            our_command = [sys.executable, "-m", "kraftproof.node.server.main", str(ours_path)]
            our_system = stack.enter_context(running(our_command, *systems["ours"]))
            real_system = stack.enter_context(running(real_command, *systems["real"]))
            yield our_system, real_system
    finally:
        ports.release(lease)
