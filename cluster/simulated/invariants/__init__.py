"""The invariants of a simulated run: one class a property, one file a subject."""
