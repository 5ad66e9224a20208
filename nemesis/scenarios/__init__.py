"""Fault scenarios: short sequences of faults, each aimed at one weakness of a protocol."""
