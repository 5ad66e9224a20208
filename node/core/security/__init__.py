"""Decide who may do what, as pure functions of the committed image (KIP-11, KIP-290, KIP-801)."""
