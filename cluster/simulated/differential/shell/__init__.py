"""Compare the shell of a node with its contract, over ports that finish work in any order."""
