"""Transactions on registers: strict serializability.

**Problem.** Is there an order of the transactions that keeps real time and in which every read
finds the last write? NP-complete (Papadimitriou, "The serializability of concurrent database
updates", 1979).

**Algorithm.** If every value that was read is unique, two rules derive precedences until nothing
changes (`precedence`), and a search places the remaining writes (`version_intervals`). If values
repeat, `single_registers` looks for a register that is wrong alone, then the beam search of
`checkers.engines.repeated` looks for an order.

**Source.** Biswas and Enea, "On the complexity of checking transactional consistency", 2019.

**Time and memory.** Mostly O(n c) and O(n c), 8 bytes each; exponential at worst.

**Unknown** if the search meets more dead ends than the key's time or memory allows.
"""
