"""Clusters behind one protocol: simulated, local processes, Docker containers."""
