"""Answer requests about partitions: Produce, Fetch, ListOffsets and others (KIP-98, KIP-320).

One file serves one request. See node/core/partition for the replicas, and data_plane.py for the
composition.
"""
