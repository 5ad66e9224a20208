"""An executable specification of the controller of a KRaft cluster (KIP-631, KIP-590).

The specification has an image of its own (image.py), folded from committed records (fold.py), and
judges each request with the image before it: which records may be written, and which answer is
true (specification.py). Requests, records and answers are rows (rows.py) with the names of Kafka's
schemas. A cluster's messages and the rows of collected logs convert to such rows, so simulated and
live runs have one judge. Nothing here shares code with a node.

Required are the effects that a client may rely on: the asked partitions, replicas and
configurations, unique ids, assignment rules, epochs, an error code that names a true cause, and no
record of a refused change. Left open are the chosen brokers, ids, orders, texts, and which of
several true causes an error names. See each module for the rule and its source.
"""

from typing import Final

LOG_CONFORMS: Final = "kraft/log-conforms"
"""The name of the check of a run's log by this specification (conforming_log.py)."""
