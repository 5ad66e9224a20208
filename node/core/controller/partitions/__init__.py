"""Change partitions: leaders, ISRs, reassignments (KIP-497, KIP-631)."""
