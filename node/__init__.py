"""The reference node: a KRaft controller and broker in Python (KIP-595, 631, 590)."""
