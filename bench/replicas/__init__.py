"""How fast records are replicated: produce, consume, failover of a partition leader, memory.

`python -m bench.replicas` measures the reference in containers and prints a JSON object. With
`--beside apache-kafka` real Kafka runs in turns with the reference, with the same topology,
time-outs and clients; the page docs/benchmarks/replicas.md has the ratios. librdkafka
(confluent-kafka) produces and consumes, so that the client is the same and is no bottleneck.
"""
