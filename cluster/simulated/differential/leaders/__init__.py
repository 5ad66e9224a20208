"""References for the leader of a partition: its answers to producers, consumers and followers."""
