"""Checks of broker sessions as leases, and of late ends that faults excuse (KIP-631)."""
