"""Algorithms and data structures that several engines share.

- `bisection` finds the first completion that no legal order reaches, for an engine that decides
  prefixes: log2(n) decisions.
- `chains` decomposes calls into chains of calls that follow each other, so that one number a chain
  represents a set of calls.
- `element_intervals`, `unmatched_takes`, `distinct_elements` serve containers whose elements are
  put once: when an element was inside, which element an indeterminate take removed, and the
  decision of a key from both.
- `segment_tree` answers range queries, `visited_states` is a hash table of states, and `adjacency`
  sorts the edges of a graph by their source.

A kernel is compiled at its first call (`checkers.kernels`). No kernel knows a model.
"""
