"""Two brokers with the log of one topic, and one invariant of partitions."""

from kraftproof.cluster.simulated.invariants.partitions.replicas import TOPIC as TOPIC_RESOURCE
from kraftproof.node.core.base.log_id import LogId
from kraftproof.node.core.effects import Append, Send, Truncate
from kraftproof.node.core.events import Received
from kraftproof.node.core.log_effects import RaiseLogStart
from kraftproof.node.core.metadata.apply import apply_all
from kraftproof.node.core.metadata.image import EMPTY_IMAGE
from kraftproof.node.wire.principal import ANONYMOUS
from kraftproof.node.wire.records import metadata as records
from kraftproof.node.wire.types import Uuid, format_uuid
from tests.cluster.simulated.invariants.invariant_harness import MonitorHarness

TOPIC = Uuid(b"topic of the log")
LOG = LogId(TOPIC, 0)
NAME = f"log {format_uuid(TOPIC)}-0"


class PartitionCase:
    """Broker 1 leads epoch 0 of a partition, and broker 2 follows."""

    def __init__(self, invariant, *, isr=(1, 2), **configs):
        self.harness = MonitorHarness(invariant)
        self.nodes = {node_id: self.harness.process(node_id) for node_id in (1, 2)}
        for node in self.nodes.values():
            node.partitions.create(LOG, "t")
            node.event = None
        self.image = EMPTY_IMAGE
        self.offset = 0
        settings = {"flush.messages": "1"} | {
            name.replace("_", "."): value for name, value in configs.items()
        }
        self.publish(
            records.TopicRecord(name="t", topic_id=TOPIC),
            *(
                records.ConfigRecord(
                    resource_type=TOPIC_RESOURCE, resource_name="t", name=name, value=value
                )
                for name, value in settings.items()
            ),
            records.PartitionRecord(
                partition_id=0,
                topic_id=TOPIC,
                replicas=(1, 2),
                isr=isr,
                leader=1,
                leader_epoch=0,
                partition_epoch=0,
            ),
        )

    log = LOG

    @property
    def reported(self):
        return self.harness.reported

    def publish(self, *written):
        """Both brokers publish an image with further records."""
        self.image = apply_all(self.image, written)
        self.offset += 1
        for node in self.nodes.values():
            node.image = self.image
            for published in self.harness.monitor.on_published:
                published(node, self.offset, self.image)

    def change(self, **fields):
        """The partition changes."""
        self.publish(records.PartitionChangeRecord(partition_id=0, topic_id=TOPIC, **fields))

    def append(self, node_id, *batches, is_flushed=True):
        for batch in batches:
            mirror = self.nodes[node_id].partitions.of(LOG)
            mirror.append(batch)
            if is_flushed:
                mirror.durable_end = mirror.end_offset
            self._changed(node_id, Append(LOG, batch))

    def truncate(self, node_id, end):
        self.nodes[node_id].partitions.of(LOG).truncate(end)
        self._changed(node_id, Truncate(LOG, end))

    def raise_start(self, node_id, start):
        self.nodes[node_id].partitions.of(LOG).raise_start(start)
        self._changed(node_id, RaiseLogStart(log=LOG, start_offset=start))

    def _changed(self, node_id, effect):
        for changed in self.harness.monitor.on_partition_changed:
            changed(self.nodes[node_id], LOG, effect)

    def receive(self, node_id, request, version=12):
        event = _received(request, version)
        for received in self.harness.monitor.on_data_received[type(request)]:
            received(self.nodes[node_id], event)

    def send(self, node_id, request, version=12):
        """A broker sends a request to the other broker."""
        sent = _sent(3 - node_id, request, version)
        for hook in self.harness.monitor.on_data_sent[type(request)]:
            hook(self.nodes[node_id], sent)

    def propose(self, request, answer=None, *, controller=3):
        """Broker 1 asks a controller, and hears the answer, if any."""
        sent = _sent(controller, request, 3)
        for hook in self.harness.monitor.on_sent[type(request)]:
            hook(self.nodes[1], sent)
        for hook in () if answer is None else self.harness.monitor.on_response[type(request)]:
            hook(self.nodes[1], sent, answer)

    def answer(self, node_id, request, message, version=12, request_token=1):
        event = _received(request, version, request_token)
        for answered in self.harness.monitor.on_data_answered[type(request)]:
            answered(self.nodes[node_id], event, message)


def _received(request, version, token=1):
    return Received(
        request=token,
        message=request,
        version=version,
        on_controller_listener=False,
        principal=ANONYMOUS,
        client_host="h",
    )


def _sent(destination, request, version):
    return Send(
        destination=destination, correlation=1, message=request, version=version, timeout_ns=1
    )
