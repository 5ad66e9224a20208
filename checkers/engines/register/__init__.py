"""Registers: read, write and compare-and-set, each with its version or without.

**Problem.** Linearizability of a register a key. With unique values the question is easy; if
values are written again it is NP-complete.

**Algorithm.** `registers` selects by key: `zones` if every value is written once and nothing
compares, `unique_cas` for compare-and-sets over unique values, else the portfolio of searches in
`search`. `versioned_cas` checks the order that versions give. `sets` decides a set whose elements
are asked for one by one as a register an element.

**Source.** Gibbons and Korach, "Testing shared memories", 1997; for sets the locality theorem of
Herlihy and Wing, 1990.

**Time and memory.** O(n log n) and O(n) for unique values and versions; see `search` otherwise.

**Unknown** only from `search`.
"""
