"""Faults as values, planners that draw faults from a seed, and the injector that applies faults."""
