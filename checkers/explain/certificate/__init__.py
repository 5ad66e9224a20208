"""Proofs by counting that a sub-history is not linearizable."""
