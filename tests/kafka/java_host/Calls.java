import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Method;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;

import org.apache.kafka.clients.admin.*;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.ElectionType;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.TopicPartitionReplica;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.acl.*;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.quota.*;
import org.apache.kafka.common.resource.*;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * Calls of Kafka's Java clients: each method is named as its row of docs/clients.md. See also
 * GroupCalls.
 *
 * <p>Arguments: the method, the brokers, and a topic of two partitions with three records in the
 * first. Prints "works", or "refused: " and the class of the exception.
 */
public final class Calls {
    static final Duration LIMIT = Duration.ofSeconds(20);
    static String brokers;
    static String topic;
    static TopicPartition part;
    static Admin admin;

    private Calls() {
    }

    public static void main(String[] arguments) throws Exception {
        brokers = arguments[1];
        topic = arguments[2];
        part = new TopicPartition(topic, 0);
        try (Admin opened = Admin.create(Map.of("bootstrap.servers", brokers))) {
            admin = opened;
            method(arguments[0]).invoke(null);
            System.out.println("works");
        } catch (InvocationTargetException thrown) {
            Throwable cause = thrown.getCause();
            if (cause instanceof ExecutionException) {
                cause = cause.getCause();
            }
            if (!(cause instanceof KafkaException)) {
                throw new IllegalStateException(cause);
            }
            System.out.println("refused: " + cause.getClass().getSimpleName());
        }
    }

    private static Method method(String name) throws NoSuchMethodException {
        try {
            return Calls.class.getDeclaredMethod(name);
        } catch (NoSuchMethodException missing) {
            return GroupCalls.class.getDeclaredMethod(name);
        }
    }

    static void print_admin_methods() {
        for (Method method : Admin.class.getMethods()) {
            System.out.println(method.getName());
        }
    }

    static void check(boolean holds) {
        if (!holds) {
            throw new IllegalStateException("the answer is wrong");
        }
    }

    private static void produce(String... settings) throws Exception {
        produceTo(topic, settings);
    }

    private static void produceTo(String target, String... settings) throws Exception {
        Map<String, Object> config = new HashMap<>(Map.of("bootstrap.servers", brokers,
            "key.serializer", ByteArraySerializer.class,
            "value.serializer", ByteArraySerializer.class, "enable.idempotence", "false"));
        for (int place = 0; place < settings.length; place += 2) {
            config.put(settings[place], settings[place + 1]);
        }
        try (KafkaProducer<byte[], byte[]> producer = new KafkaProducer<>(config)) {
            ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>(target, target.equals(topic) ? 1 : 0, "key".getBytes(), "value".getBytes());
            record.headers().add("header", "x".getBytes());
            producer.send(record).get();
        }
    }

    static void produce_acks_0() throws Exception {
        produce("acks", "0");
    }

    static void produce_acks_1() throws Exception {
        produce("acks", "1");
    }

    static void produce_acks_all() throws Exception {
        produce("acks", "all");
    }

    static void produce_idempotent() throws Exception {
        produce("enable.idempotence", "true");
    }

    static void produce_gzip() throws Exception {
        produce("compression.type", "gzip");
    }

    static void produce_snappy() throws Exception {
        produce("compression.type", "snappy");
    }

    static void produce_lz4() throws Exception {
        produce("compression.type", "lz4");
    }

    static void produce_zstd() throws Exception {
        produce("compression.type", "zstd");
    }

    static void produce_missing() throws Exception {
        produceTo(topic + "-missing");
    }

    static KafkaConsumer<byte[], byte[]> consumer(String... group) {
        Map<String, Object> config = new HashMap<>(Map.of("bootstrap.servers", brokers,
            "key.deserializer", ByteArrayDeserializer.class,
            "value.deserializer", ByteArrayDeserializer.class, "enable.auto.commit", "false"));
        if (group.length > 0) {
            config.put("group.id", group[0]);
        }
        return new KafkaConsumer<>(config);
    }

    private static void consume(long offset, List<String> values) {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer()) {
            consumer.assign(List.of(part));
            consumer.seek(part, offset);
            List<String> found = new ArrayList<>();
            while (found.size() < values.size()) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(LIMIT)) {
                    found.add(new String(record.value(), StandardCharsets.UTF_8));
                }
            }
            check(found.equals(values));
        }
    }

    static void consume_stored() {
        Map<String, Object> config = Map.of("bootstrap.servers", brokers, "group.id", "stored",
            "key.deserializer", ByteArrayDeserializer.class, "auto.offset.reset", "earliest",
            "value.deserializer", ByteArrayDeserializer.class);
        try (KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(config)) {
            consumer.assign(List.of(part));
            check(consumer.poll(LIMIT).count() == 3);
        }
    }

    static void consume_assigned() {
        consume(0, List.of("one", "two", "three"));
    }

    static void consume_from_offset() {
        consume(2, List.of("three"));
    }

    static void consume_from_time() {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer()) {
            check(consumer.offsetsForTimes(Map.of(part, 2000L)).get(part).offset() == 1);
        }
        consume(1, List.of("two", "three"));
    }

    static void read_ends() {
        try (KafkaConsumer<byte[], byte[]> consumer = consumer()) {
            check(consumer.beginningOffsets(List.of(part)).get(part) == 0);
            check(consumer.endOffsets(List.of(part)).get(part) == 3);
        }
    }

    static void list_topics() throws Exception {
        check(admin.listTopics().names().get().contains(topic));
    }

    private static String made(String suffix) throws Exception {
        String name = topic + suffix;
        admin.createTopics(List.of(new NewTopic(name, 1, (short) 2))).all().get();
        while (!admin.listTopics().names().get().contains(name)) {
            Thread.sleep(20);
        }
        return name;
    }

    static void create_topics() throws Exception {
        CreateTopicsResult created =
            admin.createTopics(List.of(new NewTopic(topic + "-new", 1, (short) 2)));
        check(created.config(topic + "-new").get().get("retention.ms") != null);
    }

    static void delete_topics() throws Exception {
        admin.deleteTopics(List.of(made("-gone"))).all().get();
    }

    static void create_partitions() throws Exception {
        admin.createPartitions(Map.of(made("-wide"), NewPartitions.increaseTo(3))).all().get();
    }

    static void describe_topics() throws Exception {
        check(admin.describeTopics(List.of(topic)).allTopicNames().get().get(topic)
            .partitions().size() == 2);
    }

    static void describe_cluster() throws Exception {
        check(admin.describeCluster().nodes().get().size() == 3);
    }

    private static ConfigResource resource(boolean isTopic) {
        return new ConfigResource(
            isTopic ? ConfigResource.Type.TOPIC : ConfigResource.Type.BROKER,
            isTopic ? topic : "3");
    }

    private static Config described(boolean isTopic) throws Exception {
        ConfigResource resource = resource(isTopic);
        return admin.describeConfigs(List.of(resource)).all().get().get(resource);
    }

    static void describe_configs() throws Exception {
        check(described(true).get("retention.ms") != null);
    }

    static void describe_broker() throws Exception {
        check(described(false).get("node.id").value().equals("3"));
    }

    private static void alter(boolean isTopic, String key, String value) throws Exception {
        AlterConfigOp change =
            new AlterConfigOp(new ConfigEntry(key, value), AlterConfigOp.OpType.SET);
        Map<ConfigResource, Collection<AlterConfigOp>> changes =
            Map.of(resource(isTopic), List.of(change));
        admin.incrementalAlterConfigs(changes).all().get();
    }

    static void alter_incremental() throws Exception {
        alter(true, "segment.ms", "80000");
    }

    static void alter_broker() throws Exception {
        alter(false, "log.segment.bytes", "50000000");
    }

    static void delete_records() throws Exception {
        TopicPartition other = new TopicPartition(topic, 1);
        admin.deleteRecords(Map.of(other, RecordsToDelete.beforeOffset(0))).all().get();
    }

    static void list_offsets() throws Exception {
        check(admin.listOffsets(Map.of(part, OffsetSpec.latest())).all().get().get(part)
            .offset() == 3);
    }

    static void elect_leaders() throws Exception {
        admin.electLeaders(ElectionType.PREFERRED, Set.of(part)).partitions().get();
    }

    static void reassign() throws Exception {
        TopicPartition moved = new TopicPartition(made("-moved"), 0);
        admin.alterPartitionReassignments(Map.of(moved,
            Optional.of(new NewPartitionReassignment(List.of(4, 2))))).all().get();
    }

    static void list_reassignments() throws Exception {
        admin.listPartitionReassignments().reassignments().get();
    }

    static void describe_log_dirs() throws Exception {
        check(admin.describeLogDirs(List.of(2, 3, 4)).allDescriptions().get().size() == 3);
    }

    static void alter_log_dirs() throws Exception {
        admin.alterReplicaLogDirs(
            Map.of(new TopicPartitionReplica(topic, 0, 2), "/nowhere")).all().get();
    }

    static void describe_producers() throws Exception {
        check(admin.describeProducers(List.of(part)).all().get().containsKey(part));
    }

    static void acls() throws Exception {
        AclBinding binding = new AclBinding(
            new ResourcePattern(ResourceType.TOPIC, topic, PatternType.LITERAL),
            new AccessControlEntry("User:java", "*", AclOperation.READ, AclPermissionType.ALLOW));
        admin.createAcls(List.of(binding)).all().get();
        check(admin.describeAcls(binding.toFilter()).values().get().size() == 1);
        check(admin.deleteAcls(List.of(binding.toFilter())).all().get().size() == 1);
    }

    static void quotas() throws Exception {
        ClientQuotaEntity user = new ClientQuotaEntity(Map.of("user", "java"));
        for (Double rate : new Double[] {1000.0, null}) {
            admin.alterClientQuotas(List.of(new ClientQuotaAlteration(user,
                List.of(new ClientQuotaAlteration.Op("producer_byte_rate", rate))))).all().get();
        }
        admin.describeClientQuotas(ClientQuotaFilter.all()).entities().get();
    }

    static void scram() throws Exception {
        ScramCredentialInfo info = new ScramCredentialInfo(ScramMechanism.SCRAM_SHA_256, 4096);
        admin.alterUserScramCredentials(
            List.of(new UserScramCredentialUpsertion("java", info, "password"))).all().get();
        check(admin.describeUserScramCredentials(List.of("java")).users().get().size() == 1);
    }

    static void describe_features() throws Exception {
        check(admin.describeFeatures().featureMetadata().get().finalizedFeatures()
            .containsKey("metadata.version"));
    }

    static void update_features() throws Exception {
        admin.updateFeatures(Map.of("metadata.version",
            new FeatureUpdate((short) 23, FeatureUpdate.UpgradeType.UPGRADE)),
            new UpdateFeaturesOptions().validateOnly(true)).all().get();
    }

    static void list_config_resources() throws Exception {
        check(!admin.listConfigResources().all().get().isEmpty());
    }

    static void describe_quorum() throws Exception {
        check(admin.describeMetadataQuorum().quorumInfo().get().leaderId() == 1);
    }

    static void create_token() throws Exception {
        admin.createDelegationToken().delegationToken().get();
    }

    static void renew_token() throws Exception {
        admin.renewDelegationToken(new byte[8]).expiryTimestamp().get();
    }

    static void expire_token() throws Exception {
        admin.expireDelegationToken(new byte[8]).expiryTimestamp().get();
    }

    static void describe_token() throws Exception {
        admin.describeDelegationToken().delegationTokens().get();
    }

    static void describe_replica_dirs() throws Exception {
        check(admin.describeReplicaLogDirs(List.of(new TopicPartitionReplica(topic, 0, 2)))
            .all().get().size() == 1);
    }

    @SuppressWarnings("removal")
    static void list_client_metrics() throws Exception {
        admin.listClientMetricsResources().all().get();
    }

    static void unregister_broker() throws Exception {
        admin.unregisterBroker(99).all().get();
    }

    static void add_voter() throws Exception {
        admin.addRaftVoter(9, Uuid.randomUuid(),
            Set.of(new RaftVoterEndpoint("CONTROLLER", "127.0.0.1", 9))).all().get();
    }

    static void remove_voter() throws Exception {
        admin.removeRaftVoter(1, Uuid.randomUuid()).all().get();
    }
}
