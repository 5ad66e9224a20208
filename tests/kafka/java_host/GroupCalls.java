import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.consumer.KafkaShareConsumer;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/** Calls of Kafka's Java clients about groups and transactions; see Calls. */
final class GroupCalls {
    private GroupCalls() {
    }

    static void subscribe() {
        try (KafkaConsumer<byte[], byte[]> consumer = Calls.consumer("java-group")) {
            consumer.subscribe(List.of(Calls.topic));
            consumer.poll(Calls.LIMIT);
        }
    }

    static void subscribe_next() {
        Map<String, Object> config = Map.of("bootstrap.servers", Calls.brokers, "group.id", "next",
            "group.protocol", "consumer", "key.deserializer", ByteArrayDeserializer.class,
            "value.deserializer", ByteArrayDeserializer.class);
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config)) {
            consumer.subscribe(List.of(Calls.topic));
            for (int poll = 0; poll < 40; poll++) {
                consumer.poll(Duration.ofMillis(500)); // An error shows at the next poll.
            }
        }
    }

    static void commit() {
        try (KafkaConsumer<byte[], byte[]> consumer = Calls.consumer("java-group")) {
            consumer.assign(List.of(Calls.part));
            consumer.commitSync(Map.of(Calls.part, new OffsetAndMetadata(1)), Calls.LIMIT);
        }
    }

    static void committed() {
        try (KafkaConsumer<byte[], byte[]> consumer = Calls.consumer("java-group")) {
            Calls.check(consumer.committed(Set.of(Calls.part), Calls.LIMIT).get(Calls.part) == null);
        }
    }

    static void list_groups() throws Exception {
        Calls.admin.listGroups().all().get();
    }

    static void describe_groups() throws Exception {
        Calls.admin.describeConsumerGroups(List.of("g")).all().get();
    }

    static void delete_groups() throws Exception {
        Calls.admin.deleteConsumerGroups(List.of("g")).all().get();
    }

    static void list_group_offsets() throws Exception {
        Calls.admin.listConsumerGroupOffsets("g").all().get();
    }

    static void alter_group_offsets() throws Exception {
        Calls.admin.alterConsumerGroupOffsets("g", Map.of(Calls.part, new OffsetAndMetadata(1))).all().get();
    }

    static void share_group() {
        Map<String, Object> config = Map.of("bootstrap.servers", Calls.brokers, "group.id", "share",
            "key.deserializer", ByteArrayDeserializer.class,
            "value.deserializer", ByteArrayDeserializer.class);
        try (KafkaShareConsumer<byte[], byte[]> consumer = new KafkaShareConsumer<>(config)) {
            consumer.subscribe(List.of(Calls.topic));
            for (int poll = 0; poll < 40; poll++) {
                consumer.poll(Duration.ofMillis(500)); // An error shows at the next poll.
            }
        }
    }

    static void transaction() {
        Map<String, Object> config = Map.of("bootstrap.servers", Calls.brokers,
            "transactional.id", "java", "key.serializer", ByteArraySerializer.class,
            "value.serializer", ByteArraySerializer.class);
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(config)) {
            producer.initTransactions();
        }
    }

    static void list_transactions() throws Exception {
        Calls.admin.listTransactions().all().get();
    }

    static void describe_transaction() throws Exception {
        Calls.admin.describeTransactions(List.of("java")).all().get();
    }

    static void delete_group_offsets() throws Exception {
        Calls.admin.deleteConsumerGroupOffsets("g", Set.of(Calls.part)).all().get();
    }

    static void remove_members() throws Exception {
        Calls.admin.removeMembersFromConsumerGroup("g",
            new RemoveMembersFromConsumerGroupOptions(Set.of(new MemberToRemove("m"))))
            .all().get();
    }

    @SuppressWarnings("removal")
    static void list_consumer_groups() throws Exception {
        Calls.admin.listConsumerGroups().all().get();
    }

    static void describe_classic_groups() throws Exception {
        Calls.admin.describeClassicGroups(List.of("g")).all().get();
    }

    static void describe_share_groups() throws Exception {
        Calls.admin.describeShareGroups(List.of("g")).all().get();
    }

    static void list_share_offsets() throws Exception {
        Calls.admin.listShareGroupOffsets(Map.of("g", new ListShareGroupOffsetsSpec()))
            .all().get();
    }

    static void alter_share_offsets() throws Exception {
        Calls.admin.alterShareGroupOffsets("g", Map.of(Calls.part, 0L)).all().get();
    }

    static void delete_share_offsets() throws Exception {
        Calls.admin.deleteShareGroupOffsets("g", Set.of(Calls.topic)).all().get();
    }

    static void delete_share_groups() throws Exception {
        Calls.admin.deleteShareGroups(List.of("g")).all().get();
    }

    static void describe_streams_groups() throws Exception {
        Calls.admin.describeStreamsGroups(List.of("g")).all().get();
    }

    static void list_streams_offsets() throws Exception {
        Calls.admin.listStreamsGroupOffsets(Map.of("g", new ListStreamsGroupOffsetsSpec()))
            .all().get();
    }

    static void alter_streams_offsets() throws Exception {
        Calls.admin.alterStreamsGroupOffsets("g", Map.of(Calls.part, new OffsetAndMetadata(1)))
            .all().get();
    }

    static void delete_streams_offsets() throws Exception {
        Calls.admin.deleteStreamsGroupOffsets("g", Set.of(Calls.part)).all().get();
    }

    static void delete_streams_groups() throws Exception {
        Calls.admin.deleteStreamsGroups(List.of("g")).all().get();
    }

    static void fence_producers() throws Exception {
        Calls.admin.fenceProducers(List.of("java")).all().get();
    }

    static void abort_transaction() throws Exception {
        Calls.admin.abortTransaction(
            new AbortTransactionSpec(Calls.part, 1L, (short) 0, 0)).all().get();
    }

    static void terminate_transaction() throws Exception {
        Calls.admin.forceTerminateTransaction("java").result().get();
    }
}
