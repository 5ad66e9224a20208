"""Store a node's state on disk: the metadata log, quorum-state, snapshots and meta.properties."""
