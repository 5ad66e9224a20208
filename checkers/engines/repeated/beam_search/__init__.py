"""Beam search by returns: strings, registers and transactions with repeated values.

**Problem.** NP-complete.

**Algorithm.** `sweep` passes one return after the other with the best configurations
(`configurations`, rated by `heuristic`); `run` widens the beam and restarts from `checkpoints` if
it fails, `refute` looks for the few last calls that no order passes, and `order` reads the order
off the log.

**Source.** Lowerre, 1976; Hart, Nilsson and Raphael, "A formal basis for the heuristic
determination of minimum cost paths", 1968; Huberman, Lukose and Hogg, "An economics approach to
hard computational problems", 1997.

**Time and memory.** O(n c^2) at least, exponential at worst; some 100 bytes a call, and a number of
configurations that does not depend on n.

**Unknown** by work counted, if no order and no refutation is found.
"""
