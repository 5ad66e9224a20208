"""The image of a Spark cluster's master, worker and driver: Java, the wheels, and our own code.

What it is: what `kraftproof analyze --master spark://…` needs on every machine of a standalone
cluster, made from the pip package, which has the jars but no start scripts. What it is not: a
cluster; who starts containers says which of them is the master (tests/docker/spark_cluster.py).
"""

from kraftproof.images.spark.build import SPARK_CLASS, ensure_spark_image

__all__ = ["SPARK_CLASS", "ensure_spark_image"]
