"""The end of a run: faults healed, a connected majority makes progress, final checks."""
