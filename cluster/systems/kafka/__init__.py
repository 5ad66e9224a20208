"""Clients, time-outs and files of systems that speak Kafka's protocol; a system here is none."""
