"""B4: the load of a snapshot keeps old entries that the snapshot lacks."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="B4",
    title="A snapshot loaded over an image leaves there what has disappeared since",
    source="KAFKA-14894 (f1f35ef1a87), KAFKA-13357",
    expected="ImagesAgree",
    edits=(
        Edit(
            module="kraftproof.node.core.metadata.committed",
            old="""from kraftproof.node.core.metadata.apply import apply_batch
from kraftproof.node.core.metadata.apply_error import ApplyError
""",
            new="""from kraftproof.node.core.metadata.apply import apply_batch
from kraftproof.node.core.metadata.apply_error import ApplyError
from kraftproof.node.core.metadata.changes import add_topic, set_broker, set_partition
""",
        ),
        Edit(
            module="kraftproof.node.core.metadata.committed",
            old="""        self.newest = self.image = loaded.image
""",
            new="""        was, self.image = self.image, loaded.image
        for broker in was.sorted_brokers():
            if broker.broker_id not in self.image.brokers:
                self.image = set_broker(self.image, broker)
        for topic in was.sorted_topics():
            if topic.topic_id not in self.image.topics:
                self.image = add_topic(self.image, topic)
                for partition in was.partitions_of(topic.topic_id):
                    self.image = set_partition(self.image, partition)
        self.newest = self.image
""",
        ),
    ),
)
