"""The reference system: our own node, deployed, talked to, and its files decoded."""
