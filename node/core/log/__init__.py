"""The metadata log as the core holds it: whole batches, as received and decoded."""
