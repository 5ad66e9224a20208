"""Compare a member of the quorum with plain rules of KIP-595 and KIP-630, without a cluster."""
