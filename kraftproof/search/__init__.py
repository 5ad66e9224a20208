"""Search simulated runs for violations by seed, and shrink failing runs."""
