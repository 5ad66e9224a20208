"""Requests of clients and decisions about brokers in the data world. No tests here."""

from kraftproof.node.core.controller.partitions.fencing import fence, unfence
from kraftproof.node.core.effects import Send
from kraftproof.node.wire.messages import fetch_request
from tests.support.node.client_batches import batch_bytes
from tests.support.node.data_broker import LOG
from tests.support.node.data_messages import produce_message

START_MS = 1_700_000_000_000


class DataClients:
    """Requests of clients, for the world."""

    def produce(self, node_id, count=1, *, acks=-1, timeout_ms=1000, version=12, **fields):
        """Send a batch to a broker; return the token."""
        timestamp_ms = START_MS + self.time_ms
        data = batch_bytes(count, **({"timestamp_ms": timestamp_ms} | fields))
        return self.request(self.brokers[node_id], produce_message(data, acks, timeout_ms), version)

    def produced(self, node_id, token):
        """The answer about the only partition of a Produce; None while it waits."""
        answer = self.brokers[node_id].answers.get(token)
        return None if answer is None else answer.responses[0].partition_responses[0]

    def fetch(self, node_id, offset, *, max_wait_ms=0, version=12, topic="t", **fields):
        """Send a consumer's Fetch of the first partition; return the token."""
        part = fetch_request.FetchPartition(
            partition=0, fetch_offset=offset, partition_max_bytes=1 << 20, **fields
        )
        message = fetch_request.FetchRequest(
            replica_id=-1,
            max_wait_ms=max_wait_ms,
            min_bytes=1,
            max_bytes=1 << 20,
            session_epoch=-1,
            topics=(fetch_request.FetchTopic(topic=topic, partitions=(part,)),),
        )
        return self.request(self.brokers[node_id], message, version)

    def fetched(self, node_id, token):
        """The answer about the only partition of a Fetch; None while it waits."""
        answer = self.brokers[node_id].answers.get(token)
        return None if answer is None else answer.responses[0].partitions[0]

    def fence(self, node_id):
        """Fence a broker, as after a lost session; the brokers see it with `publish`."""
        self.write(*fence(self.image, self.image.brokers[node_id]))

    def unfence(self, node_id):
        """Unfence a broker, as after a heartbeat."""
        self.write(*unfence(self.image, self.image.brokers[node_id]))

    def resume(self, node_id):
        """Let a killed process live on, as after a pause: its requests end without an answer."""
        broker = self.brokers[node_id]
        broker.is_up = True
        for item in self.missed.pop(node_id, []):
            if isinstance(item, Send):
                self._answer(broker, item, None)
            elif isinstance(item, tuple):
                self._answer(broker, item[0], None)
            else:
                self.queue.append((broker, item))

    def logs(self):
        """The bytes of the first partition's batches, by broker."""
        brokers = self.brokers.items()
        return {node: [batch.data for batch in broker.disk[LOG]] for node, broker in brokers}
