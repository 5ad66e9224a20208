"""Conflict-driven clause learning (CDCL) for the order of calls on registers.

**Problem.** Does a prefix have a legal order? Asked as a question of truth values: which of two
calls precedes the other, and which write a call finds.

**Algorithm.** `problem` states the variables, `search` decides, propagates and learns a clause from
each conflict, `rules` propagates what orders and sources imply (a theory, in the sense of
satisfiability modulo theories), `state` holds the assignment and the clauses.

**Source.** Marques-Silva and Sakallah, "GRASP", 1996; Moskewicz et al., "Chaff", 2001; Tan, Zhao,
Mu and Walfish, "Cobra", 2020.

**Time and memory.** Exponential at worst; some 100 bytes for each pair of overlapping calls.

**Unknown** if the lookups or the memory of the key are used up.
"""
