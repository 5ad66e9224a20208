"""Show a run on the terminal: its progress, the times of its phases, and its result."""
