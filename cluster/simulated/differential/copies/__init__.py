"""Compare a follower with the log of its leader, over changes of leader, log and network."""
