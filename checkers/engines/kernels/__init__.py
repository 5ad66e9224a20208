"""Algorithms and data structures that several engines share."""
