"""What a node keeps on disk: the metadata log, quorum-state, meta.properties. Not: raft's rules."""
