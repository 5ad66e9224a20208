"""Compare the answers to requests of many partitions with a plain model of the broker."""
