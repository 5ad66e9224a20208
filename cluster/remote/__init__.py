"""A Host and what is written once over all kinds of Host: cluster, firewall, clock, probe."""
