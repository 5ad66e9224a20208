"""Judge requests about features, controllers and log directories (KIP-584, KIP-919, KIP-858)."""
