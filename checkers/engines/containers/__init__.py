"""Queues, stacks and priority queues whose elements are put once."""
