"""Virtual time, tasks, clocks and seeded randomness; knows no cluster."""
