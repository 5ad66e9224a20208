"""The invariants of the rights of clients."""
