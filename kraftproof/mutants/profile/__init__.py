"""What functions of the node a sample of runs executes, to search for an edit of the node."""
