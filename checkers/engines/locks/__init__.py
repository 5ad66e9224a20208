"""Locks and fencing tokens."""
