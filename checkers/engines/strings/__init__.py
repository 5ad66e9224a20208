"""Strings that are put, appended to and read whole."""
