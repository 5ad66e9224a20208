"""Searches the simulator for seeds whose runs break a promise, and shrinks what it finds."""
