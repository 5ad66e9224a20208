"""Machines with sshd: login, a keeper on each machine, and a node on each machine."""
