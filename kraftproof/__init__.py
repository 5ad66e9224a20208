"""Kraftproof: commands, the runner, run directories, reports and the pytest plug-in."""
