"""Configurations of brokers, groups and client metrics of Kafka 4.3.0.

Written by scripts/generate_topic_configs.py.
"""

from typing import Final

from kraftproof.node.core.configs.definition import ConfigType, Definition

BROKER_DEFINITIONS: Final[tuple[Definition, ...]] = (
    Definition(name="background.threads", type=ConfigType.INT, default="10", minimum=1),
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
    Definition(name="cordoned.log.dirs", type=ConfigType.LIST, default="", is_per_broker=True),
    Definition(
        name="follower.fetch.last.tiered.offset.enable", type=ConfigType.BOOLEAN, default="false"
    ),
    Definition(
        name="group.consumer.assignment.interval.ms", type=ConfigType.INT, default="1000", minimum=0
    ),
    Definition(
        name="group.coordinator.cached.buffer.max.bytes",
        type=ConfigType.INT,
        default="1048588",
        minimum=524288,
    ),
    Definition(
        name="group.share.assignment.interval.ms", type=ConfigType.INT, default="1000", minimum=0
    ),
    Definition(
        name="group.streams.assignment.interval.ms", type=ConfigType.INT, default="1000", minimum=0
    ),
    Definition(
        name="listener.security.protocol.map",
        type=ConfigType.STRING,
        default="SASL_SSL:SASL_SSL,PLAINTEXT:PLAINTEXT,SSL:SSL,SASL_PLAINTEXT:SASL_PLAINTEXT",
        is_per_broker=True,
    ),
    Definition(
        name="listeners", type=ConfigType.LIST, default="PLAINTEXT://:9092", is_per_broker=True
    ),
    Definition(name="log.cleaner.backoff.ms", type=ConfigType.LONG, default="15000", minimum=0),
    Definition(name="log.cleaner.dedupe.buffer.size", type=ConfigType.LONG, default="134217728"),
    Definition(
        name="log.cleaner.delete.retention.ms", type=ConfigType.LONG, default="86400000", minimum=0
    ),
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
    Definition(
        name="log.flush.interval.messages",
        type=ConfigType.LONG,
        default="9223372036854775807",
        minimum=1,
    ),
    Definition(name="log.flush.interval.ms", type=ConfigType.LONG),
    Definition(name="log.index.interval.bytes", type=ConfigType.INT, default="4096", minimum=0),
    Definition(name="log.index.size.max.bytes", type=ConfigType.INT, default="10485760", minimum=4),
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
    Definition(name="log.retention.ms", type=ConfigType.LONG),
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
    Definition(name="message.max.bytes", type=ConfigType.INT, default="1048588", minimum=0),
    Definition(
        name="metric.reporters",
        type=ConfigType.LIST,
        default="org.apache.kafka.common.metrics.JmxReporter",
    ),
    Definition(name="min.insync.replicas", type=ConfigType.INT, default="1", minimum=1),
    Definition(name="num.io.threads", type=ConfigType.INT, default="8", minimum=1),
    Definition(name="num.network.threads", type=ConfigType.INT, default="3", minimum=1),
    Definition(
        name="num.recovery.threads.per.data.dir", type=ConfigType.INT, default="2", minimum=1
    ),
    Definition(name="num.replica.fetchers", type=ConfigType.INT, default="1", minimum=1),
    Definition(
        name="principal.builder.class",
        type=ConfigType.CLASS,
        default="org.apache.kafka.common.security.authenticator.DefaultKafkaPrincipalBuilder",
        is_per_broker=True,
    ),
    Definition(
        name="producer.id.expiration.ms", type=ConfigType.INT, default="86400000", minimum=1
    ),
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
        name="remote.log.manager.follower.thread.pool.size",
        type=ConfigType.INT,
        default="2",
        minimum=1,
    ),
    Definition(name="remote.log.reader.threads", type=ConfigType.INT, default="10", minimum=1),
    Definition(
        name="sasl.enabled.mechanisms", type=ConfigType.LIST, default="GSSAPI", is_per_broker=True
    ),
    Definition(name="sasl.jaas.config", type=ConfigType.PASSWORD, is_per_broker=True),
    Definition(
        name="sasl.kerberos.kinit.cmd",
        type=ConfigType.STRING,
        default="/usr/bin/kinit",
        is_per_broker=True,
    ),
    Definition(
        name="sasl.kerberos.min.time.before.relogin",
        type=ConfigType.LONG,
        default="60000",
        is_per_broker=True,
    ),
    Definition(
        name="sasl.kerberos.principal.to.local.rules",
        type=ConfigType.LIST,
        default="DEFAULT",
        is_per_broker=True,
    ),
    Definition(name="sasl.kerberos.service.name", type=ConfigType.STRING, is_per_broker=True),
    Definition(
        name="sasl.kerberos.ticket.renew.jitter",
        type=ConfigType.DOUBLE,
        default="0.05",
        is_per_broker=True,
    ),
    Definition(
        name="sasl.kerberos.ticket.renew.window.factor",
        type=ConfigType.DOUBLE,
        default="0.8",
        is_per_broker=True,
    ),
    Definition(
        name="sasl.login.refresh.buffer.seconds",
        type=ConfigType.SHORT,
        default="300",
        is_per_broker=True,
    ),
    Definition(
        name="sasl.login.refresh.min.period.seconds",
        type=ConfigType.SHORT,
        default="60",
        is_per_broker=True,
    ),
    Definition(
        name="sasl.login.refresh.window.factor",
        type=ConfigType.DOUBLE,
        default="0.8",
        is_per_broker=True,
    ),
    Definition(
        name="sasl.login.refresh.window.jitter",
        type=ConfigType.DOUBLE,
        default="0.05",
        is_per_broker=True,
    ),
    Definition(
        name="sasl.mechanism.inter.broker.protocol",
        type=ConfigType.STRING,
        default="GSSAPI",
        is_per_broker=True,
    ),
    Definition(
        name="share.coordinator.cached.buffer.max.bytes",
        type=ConfigType.INT,
        default="1048588",
        minimum=524288,
    ),
    Definition(name="ssl.cipher.suites", type=ConfigType.LIST, default="", is_per_broker=True),
    Definition(
        name="ssl.client.auth",
        type=ConfigType.STRING,
        default="none",
        choices=("required", "requested", "none"),
        is_per_broker=True,
    ),
    Definition(
        name="ssl.enabled.protocols",
        type=ConfigType.LIST,
        default="TLSv1.2,TLSv1.3",
        is_per_broker=True,
    ),
    Definition(
        name="ssl.endpoint.identification.algorithm",
        type=ConfigType.STRING,
        default="https",
        is_per_broker=True,
    ),
    Definition(name="ssl.engine.factory.class", type=ConfigType.CLASS, is_per_broker=True),
    Definition(name="ssl.key.password", type=ConfigType.PASSWORD, is_per_broker=True),
    Definition(
        name="ssl.keymanager.algorithm",
        type=ConfigType.STRING,
        default="SunX509",
        is_per_broker=True,
    ),
    Definition(name="ssl.keystore.certificate.chain", type=ConfigType.PASSWORD, is_per_broker=True),
    Definition(name="ssl.keystore.key", type=ConfigType.PASSWORD, is_per_broker=True),
    Definition(name="ssl.keystore.location", type=ConfigType.STRING, is_per_broker=True),
    Definition(name="ssl.keystore.password", type=ConfigType.PASSWORD, is_per_broker=True),
    Definition(name="ssl.keystore.type", type=ConfigType.STRING, default="JKS", is_per_broker=True),
    Definition(name="ssl.protocol", type=ConfigType.STRING, default="TLSv1.3", is_per_broker=True),
    Definition(name="ssl.provider", type=ConfigType.STRING, is_per_broker=True),
    Definition(name="ssl.secure.random.implementation", type=ConfigType.STRING, is_per_broker=True),
    Definition(
        name="ssl.trustmanager.algorithm",
        type=ConfigType.STRING,
        default="PKIX",
        is_per_broker=True,
    ),
    Definition(name="ssl.truststore.certificates", type=ConfigType.PASSWORD, is_per_broker=True),
    Definition(name="ssl.truststore.location", type=ConfigType.STRING, is_per_broker=True),
    Definition(name="ssl.truststore.password", type=ConfigType.PASSWORD, is_per_broker=True),
    Definition(
        name="ssl.truststore.type", type=ConfigType.STRING, default="JKS", is_per_broker=True
    ),
    Definition(
        name="transaction.partition.verification.enable", type=ConfigType.BOOLEAN, default="true"
    ),
    Definition(name="unclean.leader.election.enable", type=ConfigType.BOOLEAN, default="false"),
    Definition(
        name="follower.replication.throttled.rate",
        type=ConfigType.LONG,
        default="9223372036854775807",
        minimum=0,
    ),
    Definition(
        name="leader.replication.throttled.rate",
        type=ConfigType.LONG,
        default="9223372036854775807",
        minimum=0,
    ),
    Definition(
        name="replica.alter.log.dirs.io.max.bytes.per.second",
        type=ConfigType.LONG,
        default="9223372036854775807",
        minimum=0,
    ),
)
GROUP_DEFINITIONS: Final[tuple[Definition, ...]] = (
    Definition(
        name="consumer.assignment.interval.ms", type=ConfigType.INT, default="1000", minimum=0
    ),
    Definition(
        name="consumer.heartbeat.interval.ms", type=ConfigType.INT, default="5000", minimum=1
    ),
    Definition(name="consumer.session.timeout.ms", type=ConfigType.INT, default="45000", minimum=1),
    Definition(name="share.assignment.interval.ms", type=ConfigType.INT, default="1000", minimum=0),
    Definition(name="share.auto.offset.reset", type=ConfigType.STRING, default="latest"),
    Definition(name="share.delivery.count.limit", type=ConfigType.INT, default="5", minimum=2),
    Definition(name="share.heartbeat.interval.ms", type=ConfigType.INT, default="5000", minimum=1),
    Definition(
        name="share.isolation.level",
        type=ConfigType.STRING,
        default="read_uncommitted",
        choices=("read_committed", "read_uncommitted"),
    ),
    Definition(
        name="share.partition.max.record.locks", type=ConfigType.INT, default="2000", minimum=100
    ),
    Definition(
        name="share.record.lock.duration.ms", type=ConfigType.INT, default="30000", minimum=1000
    ),
    Definition(name="share.renew.acknowledge.enable", type=ConfigType.BOOLEAN, default="true"),
    Definition(name="share.session.timeout.ms", type=ConfigType.INT, default="45000", minimum=1),
    Definition(
        name="streams.assignment.interval.ms", type=ConfigType.INT, default="1000", minimum=0
    ),
    Definition(
        name="streams.heartbeat.interval.ms", type=ConfigType.INT, default="5000", minimum=1
    ),
    Definition(
        name="streams.initial.rebalance.delay.ms", type=ConfigType.INT, default="3000", minimum=0
    ),
    Definition(name="streams.num.standby.replicas", type=ConfigType.INT, default="0", minimum=0),
    Definition(name="streams.session.timeout.ms", type=ConfigType.INT, default="45000", minimum=1),
)
CLIENT_METRICS_DEFINITIONS: Final[tuple[Definition, ...]] = (
    Definition(name="interval.ms", type=ConfigType.INT, default="300000"),
    Definition(name="match", type=ConfigType.LIST, default=""),
    Definition(name="metrics", type=ConfigType.LIST, default=""),
)
