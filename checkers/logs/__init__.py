"""Checks of logs that producers append to and consumers poll, by what they were told of offsets."""
