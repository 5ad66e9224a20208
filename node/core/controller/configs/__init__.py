"""Decide changes of configurations, as records and answers (KIP-133, KIP-339)."""
