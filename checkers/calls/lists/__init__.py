"""Calls on lists: their elements, and the appends from which elements come."""
