"""The logs of partitions beside plain lists."""
