"""The last events of a run, their text, the sequence diagram, and the coverage of a run."""
