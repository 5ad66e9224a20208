"""Broker ids and topic names of a KRaft cluster."""
