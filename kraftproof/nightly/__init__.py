"""A night of tests: positive controls, new seeds, runs, and a summary.

plan.py reads the plan of a night, steps.py does a step, night.py does a night, archive.py keeps
the results of the nights as Parquet, and summary.py writes the page and JUnit.
"""
