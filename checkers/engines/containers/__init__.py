"""Queues, stacks and priority queues whose elements are put once.

**Problem.** Linearizability of a container in which an element identifies its put.

**Algorithm.** Each element has an interval in which it was surely inside. A queue is legal unless
one of three patterns occurs; a stack is decomposed at the elements that can lie at the bottom; in a
priority queue an element constrains only the greater ones. Keys with repeated elements, and keys
whose indeterminate takes leave the answer open, go to `checkers.engines.repeated`.

**Source.** Henzinger, Sezgin and Vafeiadis, "Aspect-oriented linearizability proofs", 2013;
Bouajjani, Emmi, Enea and Hamza, "On reducing linearizability to state reachability", 2015; Lee and
Mathur, "Efficient decrease-and-conquer linearizability monitoring", 2024.

**Time and memory.** O(n log n), a factor of log n more if invalid; O(n).

**Unknown** never by itself: a key that stays open is left to the search for repeated elements.
"""
