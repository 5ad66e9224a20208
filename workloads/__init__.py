"""Workloads: the operations of clients, one file a workload; see checkers/ for the models."""
