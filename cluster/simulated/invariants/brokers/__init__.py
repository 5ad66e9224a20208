"""Invariants of the requests of brokers to the controller."""
