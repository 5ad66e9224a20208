"""The metadata image and how records change it (KIP-631)."""
