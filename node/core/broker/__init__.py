"""The broker: its life cycle, its answers and forwarding (KIP-631, KIP-590)."""
