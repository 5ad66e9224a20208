"""Segments of a log: files of batches with a sparse index, the same for every kind of log."""
