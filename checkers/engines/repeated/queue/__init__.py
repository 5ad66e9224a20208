"""Queues with repeated elements."""
