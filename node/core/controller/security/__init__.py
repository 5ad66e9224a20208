"""Decide changes of access control entries (KIP-11, KIP-290)."""
