"""Processes on loopback: the embedded default, which needs neither Docker nor root."""
