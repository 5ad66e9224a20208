"""The Spark engine: the same checks as the inline one, spread over (run, key).

No other package of this repository imports pyspark.
"""
