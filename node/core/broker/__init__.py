"""Implement the broker: life cycle, own answers and forwarding (KIP-631, KIP-590)."""
