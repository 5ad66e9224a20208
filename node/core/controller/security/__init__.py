"""Decide the requests that change who may do what."""
