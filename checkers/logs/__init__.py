"""Checks logs that producers append to and consumers poll, by the reported offsets."""
