"""Snapshots of the quorum: downloads, answers, and the log that a snapshot replaces (KIP-630)."""
