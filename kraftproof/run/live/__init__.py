"""Runs in real time."""
