"""The end of a workload after the faults: sends to empty partitions, and final reads."""
