"""The quorum: elections and replication (KIP-595). Not: what the records say."""
