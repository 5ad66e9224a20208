"""Beam search over the returns of a few registers."""
