"""Keys of server.properties of Kafka 4.3.0.

Written by scripts/generate_topic_configs.py.
"""

from typing import Final

from kraftproof.node.core.configs.definition import ConfigType, Definition

BROKER_KEYS: Final[tuple[Definition, ...]] = (
    Definition(
        name="add.partitions.to.txn.retry.backoff.max.ms",
        type=ConfigType.INT,
        default="100",
        minimum=0,
    ),
    Definition(
        name="add.partitions.to.txn.retry.backoff.ms", type=ConfigType.INT, default="20", minimum=1
    ),
    Definition(name="advertised.listeners", type=ConfigType.LIST),
    Definition(name="alter.config.policy.class.name", type=ConfigType.CLASS),
    Definition(
        name="alter.log.dirs.replication.quota.window.num",
        type=ConfigType.INT,
        default="11",
        minimum=1,
    ),
    Definition(
        name="alter.log.dirs.replication.quota.window.size.seconds",
        type=ConfigType.INT,
        default="1",
        minimum=1,
    ),
    Definition(name="authorizer.class.name", type=ConfigType.STRING, default=""),
    Definition(name="auto.create.topics.enable", type=ConfigType.BOOLEAN, default="true"),
    Definition(name="auto.leader.rebalance.enable", type=ConfigType.BOOLEAN, default="true"),
    Definition(name="background.threads", type=ConfigType.INT, default="10", minimum=1),
    Definition(name="broker.heartbeat.interval.ms", type=ConfigType.INT, default="2000"),
    Definition(name="broker.id", type=ConfigType.INT, default="-1"),
    Definition(name="broker.rack", type=ConfigType.STRING),
    Definition(name="broker.session.timeout.ms", type=ConfigType.INT, default="9000"),
    Definition(name="client.quota.callback.class", type=ConfigType.CLASS),
    Definition(
        name="compression.gzip.level",
        type=ConfigType.INT,
        default="-1",
        minimum=1,
        maximum=9,
        also=-1,
    ),
    Definition(
        name="compression.lz4.level", type=ConfigType.INT, default="9", minimum=1, maximum=17
    ),
    Definition(
        name="compression.type",
        type=ConfigType.STRING,
        default="producer",
        choices=("uncompressed", "zstd", "lz4", "snappy", "gzip", "producer"),
    ),
    Definition(
        name="compression.zstd.level", type=ConfigType.INT, default="3", minimum=-131072, maximum=22
    ),
    Definition(name="config.providers", type=ConfigType.LIST, default=""),
    Definition(
        name="connection.failed.authentication.delay.ms",
        type=ConfigType.INT,
        default="100",
        minimum=0,
    ),
    Definition(name="connections.max.idle.ms", type=ConfigType.LONG, default="600000"),
    Definition(name="connections.max.reauth.ms", type=ConfigType.LONG, default="0"),
    Definition(name="controlled.shutdown.enable", type=ConfigType.BOOLEAN, default="true"),
    Definition(name="controller.listener.names", type=ConfigType.LIST),
    Definition(
        name="controller.performance.always.log.threshold.ms",
        type=ConfigType.LONG,
        default="2000",
        minimum=0,
        is_internal=True,
    ),
    Definition(
        name="controller.performance.sample.period.ms",
        type=ConfigType.LONG,
        default="60000",
        minimum=100,
        is_internal=True,
    ),
    Definition(
        name="controller.quorum.append.linger.ms", type=ConfigType.INT, default="25", minimum=0
    ),
    Definition(name="controller.quorum.auto.join.enable", type=ConfigType.BOOLEAN, default="false"),
    Definition(name="controller.quorum.bootstrap.servers", type=ConfigType.LIST, default=""),
    Definition(
        name="controller.quorum.election.backoff.max.ms",
        type=ConfigType.INT,
        default="1000",
        minimum=0,
    ),
    Definition(
        name="controller.quorum.election.timeout.ms", type=ConfigType.INT, default="1000", minimum=0
    ),
    Definition(
        name="controller.quorum.fetch.max.bytes", type=ConfigType.INT, default="1048576", minimum=1
    ),
    Definition(
        name="controller.quorum.fetch.snapshot.max.bytes",
        type=ConfigType.INT,
        default="1048576",
        minimum=1,
    ),
    Definition(
        name="controller.quorum.fetch.timeout.ms", type=ConfigType.INT, default="2000", minimum=0
    ),
    Definition(
        name="controller.quorum.request.timeout.ms", type=ConfigType.INT, default="2000", minimum=0
    ),
    Definition(
        name="controller.quorum.retry.backoff.ms", type=ConfigType.INT, default="20", minimum=0
    ),
    Definition(name="controller.quorum.voters", type=ConfigType.LIST, default=""),
    Definition(name="controller.quota.window.num", type=ConfigType.INT, default="11", minimum=1),
    Definition(
        name="controller.quota.window.size.seconds", type=ConfigType.INT, default="1", minimum=1
    ),
    Definition(name="controller.socket.timeout.ms", type=ConfigType.INT, default="30000"),
    Definition(name="cordoned.log.dirs", type=ConfigType.LIST, default=""),
    Definition(name="create.topic.policy.class.name", type=ConfigType.CLASS),
    Definition(name="default.replication.factor", type=ConfigType.INT, default="1"),
    Definition(
        name="delegation.token.expiry.check.interval.ms",
        type=ConfigType.LONG,
        default="3600000",
        minimum=1,
    ),
    Definition(
        name="delegation.token.expiry.time.ms", type=ConfigType.LONG, default="86400000", minimum=1
    ),
    Definition(
        name="delegation.token.max.lifetime.ms",
        type=ConfigType.LONG,
        default="604800000",
        minimum=1,
    ),
    Definition(name="delegation.token.secret.key", type=ConfigType.PASSWORD),
    Definition(
        name="delete.records.purgatory.purge.interval.requests", type=ConfigType.INT, default="1"
    ),
    Definition(name="delete.topic.enable", type=ConfigType.BOOLEAN, default="true"),
    Definition(name="early.start.listeners", type=ConfigType.LIST),
    Definition(name="fetch.max.bytes", type=ConfigType.INT, default="57671680", minimum=1024),
    Definition(name="fetch.purgatory.purge.interval.requests", type=ConfigType.INT, default="1000"),
    Definition(
        name="follower.fetch.last.tiered.offset.enable", type=ConfigType.BOOLEAN, default="false"
    ),
    Definition(
        name="group.consumer.assignment.interval.ms", type=ConfigType.INT, default="1000", minimum=0
    ),
    Definition(name="group.consumer.assignors", type=ConfigType.LIST, default="uniform,range"),
    Definition(
        name="group.consumer.heartbeat.interval.ms", type=ConfigType.INT, default="5000", minimum=1
    ),
    Definition(
        name="group.consumer.max.assignment.interval.ms",
        type=ConfigType.INT,
        default="15000",
        minimum=0,
    ),
    Definition(
        name="group.consumer.max.heartbeat.interval.ms",
        type=ConfigType.INT,
        default="15000",
        minimum=1,
    ),
    Definition(
        name="group.consumer.max.session.timeout.ms",
        type=ConfigType.INT,
        default="60000",
        minimum=1,
    ),
    Definition(
        name="group.consumer.max.size", type=ConfigType.INT, default="2147483647", minimum=1
    ),
    Definition(
        name="group.consumer.migration.policy", type=ConfigType.STRING, default="bidirectional"
    ),
    Definition(
        name="group.consumer.min.assignment.interval.ms",
        type=ConfigType.INT,
        default="0",
        minimum=0,
    ),
    Definition(
        name="group.consumer.min.heartbeat.interval.ms",
        type=ConfigType.INT,
        default="5000",
        minimum=1,
    ),
    Definition(
        name="group.consumer.min.session.timeout.ms",
        type=ConfigType.INT,
        default="45000",
        minimum=1,
    ),
    Definition(
        name="group.consumer.regex.refresh.interval.ms",
        type=ConfigType.INT,
        default="600000",
        minimum=10000,
        is_internal=True,
    ),
    Definition(
        name="group.consumer.session.timeout.ms", type=ConfigType.INT, default="45000", minimum=1
    ),
    Definition(
        name="group.coordinator.append.linger.ms", type=ConfigType.INT, default="-1", minimum=-1
    ),
    Definition(
        name="group.coordinator.background.threads", type=ConfigType.INT, default="2", minimum=1
    ),
    Definition(
        name="group.coordinator.cached.buffer.max.bytes",
        type=ConfigType.INT,
        default="1048588",
        minimum=524288,
    ),
    Definition(
        name="group.coordinator.rebalance.protocols",
        type=ConfigType.LIST,
        default="classic,consumer,streams",
        choices=("consumer", "classic", "share", "streams"),
    ),
    Definition(name="group.coordinator.threads", type=ConfigType.INT, default="4", minimum=1),
    Definition(name="group.initial.rebalance.delay.ms", type=ConfigType.INT, default="3000"),
    Definition(name="group.max.session.timeout.ms", type=ConfigType.INT, default="1800000"),
    Definition(name="group.max.size", type=ConfigType.INT, default="2147483647", minimum=1),
    Definition(name="group.min.session.timeout.ms", type=ConfigType.INT, default="6000"),
    Definition(
        name="group.share.assignment.interval.ms", type=ConfigType.INT, default="1000", minimum=0
    ),
    Definition(name="group.share.assignors", type=ConfigType.LIST, default="simple"),
    Definition(
        name="group.share.delivery.count.limit",
        type=ConfigType.INT,
        default="5",
        minimum=2,
        maximum=10,
    ),
    Definition(
        name="group.share.heartbeat.interval.ms", type=ConfigType.INT, default="5000", minimum=1
    ),
    Definition(
        name="group.share.initialize.retry.interval.ms",
        type=ConfigType.INT,
        default="30000",
        minimum=1,
        is_internal=True,
    ),
    Definition(
        name="group.share.max.assignment.interval.ms",
        type=ConfigType.INT,
        default="15000",
        minimum=0,
    ),
    Definition(
        name="group.share.max.delivery.count.limit",
        type=ConfigType.INT,
        default="10",
        minimum=5,
        maximum=25,
    ),
    Definition(
        name="group.share.max.heartbeat.interval.ms",
        type=ConfigType.INT,
        default="15000",
        minimum=1,
    ),
    Definition(
        name="group.share.max.partition.max.record.locks",
        type=ConfigType.INT,
        default="4000",
        minimum=2000,
        maximum=10000,
    ),
    Definition(
        name="group.share.max.record.lock.duration.ms",
        type=ConfigType.INT,
        default="60000",
        minimum=30000,
        maximum=3600000,
    ),
    Definition(
        name="group.share.max.session.timeout.ms", type=ConfigType.INT, default="60000", minimum=1
    ),
    Definition(
        name="group.share.max.share.sessions", type=ConfigType.INT, default="2000", minimum=1
    ),
    Definition(
        name="group.share.max.size", type=ConfigType.INT, default="200", minimum=1, maximum=1000
    ),
    Definition(
        name="group.share.min.assignment.interval.ms", type=ConfigType.INT, default="0", minimum=0
    ),
    Definition(
        name="group.share.min.delivery.count.limit",
        type=ConfigType.INT,
        default="2",
        minimum=2,
        maximum=5,
    ),
    Definition(
        name="group.share.min.heartbeat.interval.ms", type=ConfigType.INT, default="5000", minimum=1
    ),
    Definition(
        name="group.share.min.partition.max.record.locks",
        type=ConfigType.INT,
        default="100",
        minimum=100,
        maximum=2000,
    ),
    Definition(
        name="group.share.min.record.lock.duration.ms",
        type=ConfigType.INT,
        default="15000",
        minimum=1000,
        maximum=30000,
    ),
    Definition(
        name="group.share.min.session.timeout.ms", type=ConfigType.INT, default="45000", minimum=1
    ),
    Definition(
        name="group.share.partition.max.record.locks",
        type=ConfigType.INT,
        default="2000",
        minimum=100,
        maximum=10000,
    ),
    Definition(
        name="group.share.persister.class.name",
        type=ConfigType.STRING,
        default="org.apache.kafka.server.share.persister.DefaultStatePersister",
        is_internal=True,
    ),
    Definition(
        name="group.share.record.lock.duration.ms",
        type=ConfigType.INT,
        default="30000",
        minimum=1000,
        maximum=3600000,
    ),
    Definition(
        name="group.share.session.timeout.ms", type=ConfigType.INT, default="45000", minimum=1
    ),
    Definition(
        name="group.streams.assignment.interval.ms", type=ConfigType.INT, default="1000", minimum=0
    ),
    Definition(
        name="group.streams.heartbeat.interval.ms", type=ConfigType.INT, default="5000", minimum=1
    ),
    Definition(
        name="group.streams.initial.rebalance.delay.ms",
        type=ConfigType.INT,
        default="3000",
        minimum=0,
    ),
    Definition(
        name="group.streams.max.assignment.interval.ms",
        type=ConfigType.INT,
        default="15000",
        minimum=0,
    ),
    Definition(
        name="group.streams.max.heartbeat.interval.ms",
        type=ConfigType.INT,
        default="15000",
        minimum=1,
    ),
    Definition(
        name="group.streams.max.session.timeout.ms", type=ConfigType.INT, default="60000", minimum=1
    ),
    Definition(name="group.streams.max.size", type=ConfigType.INT, default="2147483647", minimum=1),
    Definition(
        name="group.streams.max.standby.replicas", type=ConfigType.INT, default="2", minimum=0
    ),
    Definition(
        name="group.streams.min.assignment.interval.ms", type=ConfigType.INT, default="0", minimum=0
    ),
    Definition(
        name="group.streams.min.heartbeat.interval.ms",
        type=ConfigType.INT,
        default="5000",
        minimum=1,
    ),
    Definition(
        name="group.streams.min.session.timeout.ms", type=ConfigType.INT, default="45000", minimum=1
    ),
    Definition(
        name="group.streams.num.standby.replicas", type=ConfigType.INT, default="0", minimum=0
    ),
    Definition(
        name="group.streams.session.timeout.ms", type=ConfigType.INT, default="45000", minimum=1
    ),
    Definition(name="initial.broker.registration.timeout.ms", type=ConfigType.INT, default="60000"),
    Definition(name="inter.broker.listener.name", type=ConfigType.STRING),
    Definition(
        name="internal.metadata.delete.delay.millis",
        type=ConfigType.LONG,
        default="60000",
        is_internal=True,
    ),
    Definition(name="internal.metadata.log.segment.bytes", type=ConfigType.INT, is_internal=True),
    Definition(
        name="internal.metadata.max.batch.size.in.bytes",
        type=ConfigType.INT,
        default="8388608",
        is_internal=True,
    ),
    Definition(
        name="kafka.metrics.polling.interval.secs", type=ConfigType.INT, default="10", minimum=1
    ),
    Definition(name="kafka.metrics.reporters", type=ConfigType.LIST, default=""),
    Definition(
        name="leader.imbalance.check.interval.seconds",
        type=ConfigType.LONG,
        default="300",
        minimum=1,
    ),
    Definition(
        name="listener.security.protocol.map",
        type=ConfigType.STRING,
        default="SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
    ),
    Definition(name="listeners", type=ConfigType.LIST, default="PLAINTEXT://:9092"),
    Definition(name="log.cleaner.backoff.ms", type=ConfigType.LONG, default="15000", minimum=0),
    Definition(name="log.cleaner.dedupe.buffer.size", type=ConfigType.LONG, default="134217728"),
    Definition(
        name="log.cleaner.delete.retention.ms", type=ConfigType.LONG, default="86400000", minimum=0
    ),
    Definition(name="log.cleaner.enable", type=ConfigType.BOOLEAN, default="true"),
    Definition(name="log.cleaner.io.buffer.load.factor", type=ConfigType.DOUBLE, default="0.9"),
    Definition(name="log.cleaner.io.buffer.size", type=ConfigType.INT, default="524288", minimum=0),
    Definition(
        name="log.cleaner.io.max.bytes.per.second",
        type=ConfigType.DOUBLE,
        default="1.7976931348623157E308",
    ),
    Definition(
        name="log.cleaner.max.compaction.lag.ms",
        type=ConfigType.LONG,
        default="9223372036854775807",
        minimum=1,
    ),
    Definition(
        name="log.cleaner.min.cleanable.ratio",
        type=ConfigType.DOUBLE,
        default="0.5",
        minimum=0,
        maximum=1,
    ),
    Definition(
        name="log.cleaner.min.compaction.lag.ms", type=ConfigType.LONG, default="0", minimum=0
    ),
    Definition(name="log.cleaner.threads", type=ConfigType.INT, default="1", minimum=0),
    Definition(
        name="log.cleanup.policy",
        type=ConfigType.LIST,
        default="delete",
        choices=("compact", "delete"),
    ),
    Definition(name="log.dir", type=ConfigType.LIST, default="/tmp/kafka-logs"),
    Definition(name="log.dir.failure.timeout.ms", type=ConfigType.LONG, default="30000", minimum=1),
    Definition(name="log.dirs", type=ConfigType.LIST),
    Definition(
        name="log.flush.interval.messages",
        type=ConfigType.LONG,
        default="9223372036854775807",
        minimum=1,
    ),
    Definition(name="log.flush.interval.ms", type=ConfigType.LONG),
    Definition(
        name="log.flush.offset.checkpoint.interval.ms",
        type=ConfigType.INT,
        default="60000",
        minimum=0,
    ),
    Definition(
        name="log.flush.scheduler.interval.ms", type=ConfigType.LONG, default="9223372036854775807"
    ),
    Definition(
        name="log.flush.start.offset.checkpoint.interval.ms",
        type=ConfigType.INT,
        default="60000",
        minimum=0,
    ),
    Definition(name="log.index.interval.bytes", type=ConfigType.INT, default="4096", minimum=0),
    Definition(name="log.index.size.max.bytes", type=ConfigType.INT, default="10485760", minimum=4),
    Definition(
        name="log.initial.task.delay.ms",
        type=ConfigType.LONG,
        default="30000",
        minimum=0,
        is_internal=True,
    ),
    Definition(name="log.local.retention.bytes", type=ConfigType.LONG, default="-2", minimum=-2),
    Definition(name="log.local.retention.ms", type=ConfigType.LONG, default="-2", minimum=-2),
    Definition(
        name="log.message.timestamp.after.max.ms",
        type=ConfigType.LONG,
        default="3600000",
        minimum=0,
    ),
    Definition(
        name="log.message.timestamp.before.max.ms",
        type=ConfigType.LONG,
        default="9223372036854775807",
        minimum=0,
    ),
    Definition(
        name="log.message.timestamp.type",
        type=ConfigType.STRING,
        default="CreateTime",
        choices=("CreateTime", "LogAppendTime"),
    ),
    Definition(name="log.preallocate", type=ConfigType.BOOLEAN, default="false"),
    Definition(name="log.retention.bytes", type=ConfigType.LONG, default="-1"),
    Definition(
        name="log.retention.check.interval.ms", type=ConfigType.LONG, default="300000", minimum=1
    ),
    Definition(name="log.retention.hours", type=ConfigType.INT, default="168"),
    Definition(name="log.retention.minutes", type=ConfigType.INT),
    Definition(name="log.retention.ms", type=ConfigType.LONG),
    Definition(name="log.roll.hours", type=ConfigType.INT, default="168", minimum=1),
    Definition(name="log.roll.jitter.hours", type=ConfigType.INT, default="0", minimum=0),
    Definition(name="log.roll.jitter.ms", type=ConfigType.LONG),
    Definition(name="log.roll.ms", type=ConfigType.LONG),
    Definition(
        name="log.segment.bytes", type=ConfigType.INT, default="1073741824", minimum=1048576
    ),
    Definition(
        name="log.segment.delete.delay.ms", type=ConfigType.LONG, default="60000", minimum=0
    ),
    Definition(
        name="max.connection.creation.rate", type=ConfigType.INT, default="2147483647", minimum=0
    ),
    Definition(name="max.connections", type=ConfigType.INT, default="2147483647", minimum=0),
    Definition(name="max.connections.per.ip", type=ConfigType.INT, default="2147483647", minimum=0),
    Definition(name="max.connections.per.ip.overrides", type=ConfigType.STRING, default=""),
    Definition(
        name="max.incremental.fetch.session.cache.slots",
        type=ConfigType.INT,
        default="1000",
        minimum=0,
    ),
    Definition(
        name="max.request.partition.size.limit", type=ConfigType.INT, default="2000", minimum=1
    ),
    Definition(name="message.max.bytes", type=ConfigType.INT, default="1048588", minimum=0),
    Definition(name="metadata.log.dir", type=ConfigType.STRING),
    Definition(
        name="metadata.log.max.record.bytes.between.snapshots",
        type=ConfigType.LONG,
        default="20971520",
        minimum=1,
    ),
    Definition(
        name="metadata.log.max.snapshot.interval.ms",
        type=ConfigType.LONG,
        default="3600000",
        minimum=0,
    ),
    Definition(
        name="metadata.log.segment.bytes",
        type=ConfigType.INT,
        default="1073741824",
        minimum=8388608,
    ),
    Definition(name="metadata.log.segment.ms", type=ConfigType.LONG, default="604800000"),
    Definition(name="metadata.max.idle.interval.ms", type=ConfigType.INT, default="500", minimum=0),
    Definition(name="metadata.max.retention.bytes", type=ConfigType.LONG, default="104857600"),
    Definition(name="metadata.max.retention.ms", type=ConfigType.LONG, default="604800000"),
    Definition(
        name="metric.reporters",
        type=ConfigType.LIST,
        default="org.apache.kafka.common.metrics.JmxReporter",
    ),
    Definition(name="metrics.num.samples", type=ConfigType.INT, default="2", minimum=1),
    Definition(name="metrics.recording.level", type=ConfigType.STRING, default="INFO"),
    Definition(name="metrics.sample.window.ms", type=ConfigType.LONG, default="30000", minimum=1),
    Definition(name="min.insync.replicas", type=ConfigType.INT, default="1", minimum=1),
    Definition(name="node.id", type=ConfigType.INT, minimum=0),
    Definition(name="num.io.threads", type=ConfigType.INT, default="8", minimum=1),
    Definition(name="num.network.threads", type=ConfigType.INT, default="3", minimum=1),
    Definition(name="num.partitions", type=ConfigType.INT, default="1", minimum=1),
    Definition(
        name="num.recovery.threads.per.data.dir", type=ConfigType.INT, default="2", minimum=1
    ),
    Definition(name="num.replica.alter.log.dirs.threads", type=ConfigType.INT),
    Definition(name="num.replica.fetchers", type=ConfigType.INT, default="1", minimum=1),
    Definition(name="offset.metadata.max.bytes", type=ConfigType.INT, default="4096"),
    Definition(name="offsets.commit.timeout.ms", type=ConfigType.INT, default="5000", minimum=1),
    Definition(name="offsets.load.buffer.size", type=ConfigType.INT, default="5242880", minimum=1),
    Definition(
        name="offsets.retention.check.interval.ms",
        type=ConfigType.LONG,
        default="600000",
        minimum=1,
    ),
    Definition(name="offsets.retention.minutes", type=ConfigType.INT, default="10080", minimum=1),
    Definition(name="offsets.topic.compression.codec", type=ConfigType.INT, default="0"),
    Definition(name="offsets.topic.num.partitions", type=ConfigType.INT, default="50", minimum=1),
    Definition(
        name="offsets.topic.replication.factor", type=ConfigType.SHORT, default="3", minimum=1
    ),
    Definition(
        name="offsets.topic.segment.bytes", type=ConfigType.INT, default="104857600", minimum=1
    ),
    Definition(
        name="principal.builder.class",
        type=ConfigType.CLASS,
        default="org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
    ),
    Definition(name="process.roles", type=ConfigType.LIST, choices=("broker", "controller")),
    Definition(
        name="producer.id.expiration.check.interval.ms",
        type=ConfigType.INT,
        default="600000",
        minimum=1,
        is_internal=True,
    ),
    Definition(
        name="producer.id.expiration.ms", type=ConfigType.INT, default="86400000", minimum=1
    ),
    Definition(
        name="producer.purgatory.purge.interval.requests", type=ConfigType.INT, default="1000"
    ),
    Definition(name="queued.max.request.bytes", type=ConfigType.LONG, default="-1"),
    Definition(name="queued.max.requests", type=ConfigType.INT, default="500", minimum=1),
    Definition(name="quota.window.num", type=ConfigType.INT, default="11", minimum=1),
    Definition(name="quota.window.size.seconds", type=ConfigType.INT, default="1", minimum=1),
    Definition(name="remote.fetch.max.wait.ms", type=ConfigType.INT, default="500", minimum=1),
    Definition(
        name="remote.list.offsets.request.timeout.ms",
        type=ConfigType.LONG,
        default="30000",
        minimum=1,
    ),
    Definition(
        name="remote.log.index.file.cache.total.size.bytes",
        type=ConfigType.LONG,
        default="1073741824",
        minimum=1,
    ),
    Definition(
        name="remote.log.index.file.cache.ttl.ms",
        type=ConfigType.LONG,
        default="900000",
        minimum=-1,
        is_internal=True,
    ),
    Definition(
        name="remote.log.manager.copier.thread.pool.size",
        type=ConfigType.INT,
        default="10",
        minimum=1,
    ),
    Definition(
        name="remote.log.manager.copy.max.bytes.per.second",
        type=ConfigType.LONG,
        default="9223372036854775807",
        minimum=1,
    ),
    Definition(
        name="remote.log.manager.copy.quota.window.num",
        type=ConfigType.INT,
        default="11",
        minimum=1,
    ),
    Definition(
        name="remote.log.manager.copy.quota.window.size.seconds",
        type=ConfigType.INT,
        default="1",
        minimum=1,
    ),
    Definition(
        name="remote.log.manager.expiration.thread.pool.size",
        type=ConfigType.INT,
        default="10",
        minimum=1,
    ),
    Definition(
        name="remote.log.manager.fetch.max.bytes.per.second",
        type=ConfigType.LONG,
        default="9223372036854775807",
        minimum=1,
    ),
    Definition(
        name="remote.log.manager.fetch.quota.window.num",
        type=ConfigType.INT,
        default="11",
        minimum=1,
    ),
    Definition(
        name="remote.log.manager.fetch.quota.window.size.seconds",
        type=ConfigType.INT,
        default="1",
        minimum=1,
    ),
    Definition(
        name="remote.log.manager.follower.thread.pool.size",
        type=ConfigType.INT,
        default="2",
        minimum=1,
    ),
    Definition(
        name="remote.log.manager.task.interval.ms", type=ConfigType.LONG, default="30000", minimum=1
    ),
    Definition(
        name="remote.log.manager.task.retry.backoff.max.ms",
        type=ConfigType.LONG,
        default="30000",
        minimum=1,
        is_internal=True,
    ),
    Definition(
        name="remote.log.manager.task.retry.backoff.ms",
        type=ConfigType.LONG,
        default="500",
        minimum=1,
        is_internal=True,
    ),
    Definition(
        name="remote.log.manager.task.retry.jitter",
        type=ConfigType.DOUBLE,
        default="0.2",
        minimum=0,
        maximum=0.5,
        is_internal=True,
    ),
    Definition(
        name="remote.log.manager.thread.pool.size", type=ConfigType.INT, default="2", minimum=1
    ),
    Definition(
        name="remote.log.metadata.custom.metadata.max.bytes",
        type=ConfigType.INT,
        default="128",
        minimum=0,
    ),
    Definition(
        name="remote.log.metadata.manager.class.name",
        type=ConfigType.STRING,
        default="org.apache.kafka.server.log.remote.metadata.storage.TopicBasedRemoteLogMetadataManager",
    ),
    Definition(name="remote.log.metadata.manager.class.path", type=ConfigType.STRING),
    Definition(
        name="remote.log.metadata.manager.impl.prefix",
        type=ConfigType.STRING,
        default="rlmm.config.",
    ),
    Definition(name="remote.log.metadata.manager.listener.name", type=ConfigType.STRING),
    Definition(
        name="remote.log.reader.max.pending.tasks", type=ConfigType.INT, default="100", minimum=1
    ),
    Definition(name="remote.log.reader.threads", type=ConfigType.INT, default="10", minimum=1),
    Definition(name="remote.log.storage.manager.class.name", type=ConfigType.STRING),
    Definition(name="remote.log.storage.manager.class.path", type=ConfigType.STRING),
    Definition(
        name="remote.log.storage.manager.impl.prefix", type=ConfigType.STRING, default="rsm.config."
    ),
    Definition(name="remote.log.storage.system.enable", type=ConfigType.BOOLEAN, default="false"),
    Definition(name="replica.fetch.backoff.ms", type=ConfigType.INT, default="1000", minimum=0),
    Definition(name="replica.fetch.max.bytes", type=ConfigType.INT, default="1048576", minimum=0),
    Definition(name="replica.fetch.min.bytes", type=ConfigType.INT, default="1"),
    Definition(
        name="replica.fetch.response.max.bytes", type=ConfigType.INT, default="10485760", minimum=0
    ),
    Definition(name="replica.fetch.wait.max.ms", type=ConfigType.INT, default="500"),
    Definition(
        name="replica.high.watermark.checkpoint.interval.ms", type=ConfigType.LONG, default="5000"
    ),
    Definition(name="replica.lag.time.max.ms", type=ConfigType.LONG, default="30000"),
    Definition(name="replica.selector.class", type=ConfigType.STRING),
    Definition(name="replica.socket.receive.buffer.bytes", type=ConfigType.INT, default="65536"),
    Definition(name="replica.socket.timeout.ms", type=ConfigType.INT, default="30000"),
    Definition(name="replication.quota.window.num", type=ConfigType.INT, default="11", minimum=1),
    Definition(
        name="replication.quota.window.size.seconds", type=ConfigType.INT, default="1", minimum=1
    ),
    Definition(name="request.timeout.ms", type=ConfigType.INT, default="30000"),
    Definition(name="sasl.client.callback.handler.class", type=ConfigType.CLASS),
    Definition(name="sasl.enabled.mechanisms", type=ConfigType.LIST, default="GSSAPI"),
    Definition(name="sasl.jaas.config", type=ConfigType.PASSWORD),
    Definition(name="sasl.kerberos.kinit.cmd", type=ConfigType.STRING, default="/usr/bin/kinit"),
    Definition(name="sasl.kerberos.min.time.before.relogin", type=ConfigType.LONG, default="60000"),
    Definition(
        name="sasl.kerberos.principal.to.local.rules", type=ConfigType.LIST, default="DEFAULT"
    ),
    Definition(name="sasl.kerberos.service.name", type=ConfigType.STRING),
    Definition(name="sasl.kerberos.ticket.renew.jitter", type=ConfigType.DOUBLE, default="0.05"),
    Definition(
        name="sasl.kerberos.ticket.renew.window.factor", type=ConfigType.DOUBLE, default="0.8"
    ),
    Definition(name="sasl.login.callback.handler.class", type=ConfigType.CLASS),
    Definition(name="sasl.login.class", type=ConfigType.CLASS),
    Definition(name="sasl.login.connect.timeout.ms", type=ConfigType.INT),
    Definition(name="sasl.login.read.timeout.ms", type=ConfigType.INT),
    Definition(name="sasl.login.refresh.buffer.seconds", type=ConfigType.SHORT, default="300"),
    Definition(name="sasl.login.refresh.min.period.seconds", type=ConfigType.SHORT, default="60"),
    Definition(name="sasl.login.refresh.window.factor", type=ConfigType.DOUBLE, default="0.8"),
    Definition(name="sasl.login.refresh.window.jitter", type=ConfigType.DOUBLE, default="0.05"),
    Definition(name="sasl.login.retry.backoff.max.ms", type=ConfigType.LONG, default="10000"),
    Definition(name="sasl.login.retry.backoff.ms", type=ConfigType.LONG, default="100"),
    Definition(name="sasl.mechanism.controller.protocol", type=ConfigType.STRING, default="GSSAPI"),
    Definition(
        name="sasl.mechanism.inter.broker.protocol", type=ConfigType.STRING, default="GSSAPI"
    ),
    Definition(
        name="sasl.oauthbearer.assertion.algorithm", type=ConfigType.STRING, default="RS256"
    ),
    Definition(name="sasl.oauthbearer.assertion.claim.aud", type=ConfigType.STRING),
    Definition(
        name="sasl.oauthbearer.assertion.claim.exp.seconds",
        type=ConfigType.INT,
        default="300",
        minimum=0,
        maximum=86400,
    ),
    Definition(name="sasl.oauthbearer.assertion.claim.iss", type=ConfigType.STRING),
    Definition(
        name="sasl.oauthbearer.assertion.claim.jti.include",
        type=ConfigType.BOOLEAN,
        default="false",
    ),
    Definition(
        name="sasl.oauthbearer.assertion.claim.nbf.seconds",
        type=ConfigType.INT,
        default="60",
        minimum=0,
        maximum=3600,
    ),
    Definition(name="sasl.oauthbearer.assertion.claim.sub", type=ConfigType.STRING),
    Definition(name="sasl.oauthbearer.assertion.file", type=ConfigType.STRING),
    Definition(name="sasl.oauthbearer.assertion.private.key.file", type=ConfigType.STRING),
    Definition(name="sasl.oauthbearer.assertion.private.key.passphrase", type=ConfigType.PASSWORD),
    Definition(name="sasl.oauthbearer.assertion.template.file", type=ConfigType.STRING),
    Definition(name="sasl.oauthbearer.client.credentials.client.id", type=ConfigType.STRING),
    Definition(name="sasl.oauthbearer.client.credentials.client.secret", type=ConfigType.PASSWORD),
    Definition(name="sasl.oauthbearer.clock.skew.seconds", type=ConfigType.INT, default="30"),
    Definition(name="sasl.oauthbearer.expected.audience", type=ConfigType.LIST, default=""),
    Definition(name="sasl.oauthbearer.expected.issuer", type=ConfigType.STRING),
    Definition(
        name="sasl.oauthbearer.jwks.endpoint.refresh.ms", type=ConfigType.LONG, default="3600000"
    ),
    Definition(
        name="sasl.oauthbearer.jwks.endpoint.retry.backoff.max.ms",
        type=ConfigType.LONG,
        default="10000",
    ),
    Definition(
        name="sasl.oauthbearer.jwks.endpoint.retry.backoff.ms", type=ConfigType.LONG, default="100"
    ),
    Definition(name="sasl.oauthbearer.jwks.endpoint.url", type=ConfigType.STRING),
    Definition(
        name="sasl.oauthbearer.jwt.retriever.class",
        type=ConfigType.CLASS,
        default="org.apache.kafka.common.security.oauthbearer.DefaultJwtRetriever",
    ),
    Definition(
        name="sasl.oauthbearer.jwt.validator.class",
        type=ConfigType.CLASS,
        default="org.apache.kafka.common.security.oauthbearer.DefaultJwtValidator",
    ),
    Definition(name="sasl.oauthbearer.scope", type=ConfigType.STRING),
    Definition(name="sasl.oauthbearer.scope.claim.name", type=ConfigType.STRING, default="scope"),
    Definition(name="sasl.oauthbearer.sub.claim.name", type=ConfigType.STRING, default="sub"),
    Definition(name="sasl.oauthbearer.token.endpoint.url", type=ConfigType.STRING),
    Definition(name="sasl.server.callback.handler.class", type=ConfigType.CLASS),
    Definition(name="sasl.server.max.receive.size", type=ConfigType.INT, default="524288"),
    Definition(
        name="security.inter.broker.protocol",
        type=ConfigType.STRING,
        default="PLAINTEXT",
        choices=("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL"),
    ),
    Definition(name="security.providers", type=ConfigType.STRING),
    Definition(
        name="server.max.startup.time.ms",
        type=ConfigType.LONG,
        default="9223372036854775807",
        minimum=0,
        is_internal=True,
    ),
    Definition(
        name="share.coordinator.append.linger.ms", type=ConfigType.INT, default="-1", minimum=-1
    ),
    Definition(
        name="share.coordinator.cached.buffer.max.bytes",
        type=ConfigType.INT,
        default="1048588",
        minimum=524288,
    ),
    Definition(
        name="share.coordinator.cold.partition.snapshot.interval.ms",
        type=ConfigType.INT,
        default="300000",
        minimum=1,
        is_internal=True,
    ),
    Definition(
        name="share.coordinator.load.buffer.size", type=ConfigType.INT, default="5242880", minimum=1
    ),
    Definition(
        name="share.coordinator.snapshot.update.records.per.snapshot",
        type=ConfigType.INT,
        default="500",
        minimum=0,
        maximum=500,
    ),
    Definition(
        name="share.coordinator.state.topic.compression.codec", type=ConfigType.INT, default="0"
    ),
    Definition(
        name="share.coordinator.state.topic.min.isr", type=ConfigType.SHORT, default="2", minimum=1
    ),
    Definition(
        name="share.coordinator.state.topic.num.partitions",
        type=ConfigType.INT,
        default="50",
        minimum=1,
    ),
    Definition(
        name="share.coordinator.state.topic.prune.interval.ms",
        type=ConfigType.INT,
        default="300000",
        minimum=1,
        is_internal=True,
    ),
    Definition(
        name="share.coordinator.state.topic.replication.factor",
        type=ConfigType.SHORT,
        default="3",
        minimum=1,
    ),
    Definition(
        name="share.coordinator.state.topic.segment.bytes",
        type=ConfigType.INT,
        default="104857600",
        minimum=1,
    ),
    Definition(name="share.coordinator.threads", type=ConfigType.INT, default="1", minimum=1),
    Definition(
        name="share.coordinator.write.timeout.ms", type=ConfigType.INT, default="5000", minimum=1
    ),
    Definition(
        name="share.fetch.purgatory.purge.interval.requests", type=ConfigType.INT, default="1000"
    ),
    Definition(
        name="socket.connection.setup.timeout.max.ms", type=ConfigType.LONG, default="30000"
    ),
    Definition(name="socket.connection.setup.timeout.ms", type=ConfigType.LONG, default="10000"),
    Definition(name="socket.listen.backlog.size", type=ConfigType.INT, default="50", minimum=1),
    Definition(name="socket.receive.buffer.bytes", type=ConfigType.INT, default="102400"),
    Definition(
        name="socket.request.max.bytes", type=ConfigType.INT, default="104857600", minimum=1
    ),
    Definition(name="socket.send.buffer.bytes", type=ConfigType.INT, default="102400"),
    Definition(name="ssl.allow.dn.changes", type=ConfigType.BOOLEAN, default="false"),
    Definition(name="ssl.allow.san.changes", type=ConfigType.BOOLEAN, default="false"),
    Definition(name="ssl.cipher.suites", type=ConfigType.LIST, default=""),
    Definition(
        name="ssl.client.auth",
        type=ConfigType.STRING,
        default="none",
        choices=("required", "requested", "none"),
    ),
    Definition(name="ssl.enabled.protocols", type=ConfigType.LIST, default="TLSv1.2,TLSv1.3"),
    Definition(
        name="ssl.endpoint.identification.algorithm", type=ConfigType.STRING, default="https"
    ),
    Definition(name="ssl.engine.factory.class", type=ConfigType.CLASS),
    Definition(name="ssl.key.password", type=ConfigType.PASSWORD),
    Definition(name="ssl.keymanager.algorithm", type=ConfigType.STRING, default="SunX509"),
    Definition(name="ssl.keystore.certificate.chain", type=ConfigType.PASSWORD),
    Definition(name="ssl.keystore.key", type=ConfigType.PASSWORD),
    Definition(name="ssl.keystore.location", type=ConfigType.STRING),
    Definition(name="ssl.keystore.password", type=ConfigType.PASSWORD),
    Definition(name="ssl.keystore.type", type=ConfigType.STRING, default="JKS"),
    Definition(name="ssl.principal.mapping.rules", type=ConfigType.STRING, default="DEFAULT"),
    Definition(name="ssl.protocol", type=ConfigType.STRING, default="TLSv1.3"),
    Definition(name="ssl.provider", type=ConfigType.STRING),
    Definition(name="ssl.secure.random.implementation", type=ConfigType.STRING),
    Definition(name="ssl.trustmanager.algorithm", type=ConfigType.STRING, default="PKIX"),
    Definition(name="ssl.truststore.certificates", type=ConfigType.PASSWORD),
    Definition(name="ssl.truststore.location", type=ConfigType.STRING),
    Definition(name="ssl.truststore.password", type=ConfigType.PASSWORD),
    Definition(name="ssl.truststore.type", type=ConfigType.STRING, default="JKS"),
    Definition(name="telemetry.max.bytes", type=ConfigType.INT, default="1048576", minimum=1),
    Definition(
        name="transaction.abort.timed.out.transaction.cleanup.interval.ms",
        type=ConfigType.INT,
        default="10000",
        minimum=1,
    ),
    Definition(name="transaction.max.timeout.ms", type=ConfigType.INT, default="900000", minimum=1),
    Definition(
        name="transaction.partition.verification.enable", type=ConfigType.BOOLEAN, default="true"
    ),
    Definition(
        name="transaction.remove.expired.transaction.cleanup.interval.ms",
        type=ConfigType.INT,
        default="3600000",
        minimum=1,
    ),
    Definition(
        name="transaction.state.log.load.buffer.size",
        type=ConfigType.INT,
        default="5242880",
        minimum=1,
    ),
    Definition(name="transaction.state.log.min.isr", type=ConfigType.INT, default="2", minimum=1),
    Definition(
        name="transaction.state.log.num.partitions", type=ConfigType.INT, default="50", minimum=1
    ),
    Definition(
        name="transaction.state.log.replication.factor",
        type=ConfigType.SHORT,
        default="3",
        minimum=1,
    ),
    Definition(
        name="transaction.state.log.segment.bytes",
        type=ConfigType.INT,
        default="104857600",
        minimum=1,
    ),
    Definition(
        name="transaction.two.phase.commit.enable", type=ConfigType.BOOLEAN, default="false"
    ),
    Definition(
        name="transactional.id.expiration.ms", type=ConfigType.INT, default="604800000", minimum=1
    ),
    Definition(name="unclean.leader.election.enable", type=ConfigType.BOOLEAN, default="false"),
    Definition(
        name="unclean.leader.election.interval.ms",
        type=ConfigType.LONG,
        default="300000",
        minimum=1,
        is_internal=True,
    ),
    Definition(
        name="unstable.api.versions.enable",
        type=ConfigType.BOOLEAN,
        default="false",
        is_internal=True,
    ),
    Definition(
        name="unstable.feature.versions.enable",
        type=ConfigType.BOOLEAN,
        default="false",
        is_internal=True,
    ),
)
