"""Store the logs of partitions in the log directories, as Kafka lays them out.

- partition_log.py: one log: appends, flushes, reads, truncation, the start of the log.
- recovery.py: the log of a directory after a clean or an unclean stop.
- producer_history.py, producer_files.py: the producers, beyond the removal of their segments.
- timestamps.py: the first record with a timestamp.
- log_names.py, partition_metadata.py: names of directories, and the topic id of a log.
- log_directory.py: one log directory with its logs and checkpoint files.
- partition_logs.py: all log directories of a node, and the effects.

Policy of durability, as in Kafka: an append is durable only after a Flush, and the core asks for a
Flush if flush.messages or flush.ms say so. A new directory, partition.metadata and
leader-epoch-checkpoint are durable with the next Flush of their log.

Simplification: no index files; a start reads the header of each batch.
"""
