"""The Spark engine: the same checks as the inline one, spread over (run, key).

The only package of this repository that imports pyspark.
"""
