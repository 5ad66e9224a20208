"""Faults as values, planners that draw them from a seed, and the one injector."""
