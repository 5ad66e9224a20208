"""How fast a whole cluster is: start-up, topics a second, failover, memory.

`python -m bench.cluster` measures the reference in containers at the chaos time-outs and prints a
table and a JSON object. With `--beside apache-kafka` real Kafka runs in turns with the reference,
at the same topology, time-outs and workload; the page docs/benchmarks/cluster.md has the ratios.
"""
