"""Build the image of a Spark cluster's master, worker and driver: Java, wheels and kraftproof.

The image has the software that `kraftproof analyze --master spark://…` needs on every machine of a
standalone cluster. The pip package of Spark contains the jars but no start scripts. The starter of
the containers chooses the master (tests/cluster/docker/spark_cluster.py).
"""

from kraftproof.images.spark.build import SPARK_CLASS, ensure_spark_image

__all__ = ["SPARK_CLASS", "ensure_spark_image"]
