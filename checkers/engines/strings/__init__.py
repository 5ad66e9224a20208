"""Strings that are put, appended to and read whole.

**Problem.** Linearizability of one string a key.

**Algorithm.** An answer is cut into the pieces that were written. If the cut is unique, the calls
form blocks, and the blocks have an order unless two of them must precede each other (`strings`). If
pieces repeat, `beam_facts` lays the calls out for the beam search of `checkers.engines.repeated`.

**Source.** Gibbons and Korach, "Testing shared memories", 1997.

**Time and memory.** O(n log n) a decision after the cutting; O(n + pieces in the longest answers).

**Unknown** only from the beam search.
"""
