"""Proxies of our own between the nodes of one machine: cuts and faults of links without root.

Node i listens at 127.1.0.i and its peers reach node i at 127.2.0.i, where a proxy listens. The
proxy finds the node that has opened a connection by the owner of the socket, so that all nodes use
the same addresses for a peer. Connections of other programs, such as clients, pass without faults.
"""
