"""Decide about principals, logins and rights: pure functions over the image (KIP-631, KIP-590)."""
