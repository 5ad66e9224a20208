"""Judge changes of configurations (KIP-133, KIP-339)."""
