"""Hold the metadata image, and apply records to an image (KIP-631)."""
