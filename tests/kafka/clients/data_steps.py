"""Calls of the tools that produce, consume and read offsets, in order. No tests here."""

from typing import Final

from tests.kafka.clients.step import CONSUMER, TOOLS, Step, at, refused

DATA_STEPS: Final = (
    at(
        "kafka-console-producer", f"{TOOLS}ConsoleProducer", "with keys",
        "--topic t --reader-property parse.key=true --reader-property key.separator=:", "^$",
        "a:1\nb:2\nc:3\nd:4\ne:5\nf:6\n",
    ),
    at(
        "kafka-console-producer", f"{TOOLS}ConsoleProducer", "compressed, acks=all",
        "--topic t --command-property acks=all --compression-codec zstd", "^$", "1\n2\n3\n",
    ),
    at(
        "kafka-verifiable-producer", f"{TOOLS}VerifiableProducer", "--max-messages",
        "--topic t --max-messages 20", '"sent":20,"acked":20',
    ),
    Step(
        tool="kafka-producer-perf-test",
        call="--num-records",
        main_class=f"{TOOLS}ProducerPerformance",
        options="--bootstrap-server {brokers} --topic t --num-records 50 --record-size 10 "
        "--throughput -1",
        prints="50 records sent",
        linger_seconds=0,
    ),
    at(
        "kafka-console-consumer", CONSUMER, "--partition --offset",
        "--topic t --partition 0 --offset earliest --max-messages 1 --timeout-ms 15000",
        "Processed a total of 1 messages",
    ),
    refused(
        "kafka-console-consumer", CONSUMER, "--from-beginning (a group)",
        "--topic t --from-beginning --timeout-ms 10000", "UnsupportedVersionException",
    ),
    refused(
        "kafka-verifiable-consumer", f"{TOOLS}VerifiableConsumer", "--group-id",
        "--topic t --group-id vg --max-messages 5", "UnsupportedVersionException",
    ),
    refused(
        "kafka-console-share-consumer", f"{TOOLS}consumer.ConsoleShareConsumer", "--topic",
        "--topic t --timeout-ms 1000", "UnsupportedVersionException",
    ),
    refused(
        "kafka-consumer-perf-test", f"{TOOLS}ConsumerPerformance", "--num-records",
        "--topic t --num-records 5 --timeout 3000", "UnsupportedVersionException",
    ),
    at("kafka-get-offsets", f"{TOOLS}GetOffsetShell", "latest", "--topic t", r"t:0:[1-9]\d*\n"),
    at(
        "kafka-get-offsets", f"{TOOLS}GetOffsetShell", "earliest", "--topic t --time earliest",
        "t:0:0\n",
    ),
    at(
        "kafka-get-offsets", f"{TOOLS}GetOffsetShell", "max-timestamp",
        "--topic t --time max-timestamp", r"t:0:\d",
    ),
    at(
        "kafka-log-dirs", f"{TOOLS}LogDirsCommand", "--describe", "--describe --topic-list t",
        '"partition":"t-0","size":[1-9]',
    ),
    at(
        "kafka-delete-records", f"{TOOLS}DeleteRecordsCommand", "--offset-json-file",
        "--offset-json-file {folder}/delete.json", r"partition: t-0\tlow_watermark: 1\n",
    ),
    Step(
        tool="kafka-replica-verification",
        call="--topics-include",
        main_class=f"{TOOLS}ReplicaVerificationTool",
        options="--broker-list {brokers} --topics-include t --report-interval-ms 1000",
        prints="max lag is 0 for partition t-",
        linger_seconds=4,
    ),
)  # fmt: skip
