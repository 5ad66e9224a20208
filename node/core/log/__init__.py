"""Hold the metadata log of the core: whole batches, received and decoded."""
