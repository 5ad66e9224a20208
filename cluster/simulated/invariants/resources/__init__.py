"""The invariants of what a node holds in memory, keeps on its disk and copies."""
