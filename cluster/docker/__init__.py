"""Containers: the main backend, with pods that keep a node's network over its death."""
