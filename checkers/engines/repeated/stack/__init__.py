"""Stacks with repeated elements."""
