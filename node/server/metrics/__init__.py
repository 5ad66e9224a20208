"""Figures of the node for Prometheus (KIP-595 "Monitoring")."""
