"""Compare where a broker keeps its replicas, and what the broker tells about the directories."""
