"""Show the progress of a run on the terminal, and measure the time of each phase."""
