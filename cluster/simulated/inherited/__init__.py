"""Logs that other controllers wrote before a simulated run began."""
