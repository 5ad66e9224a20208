"""Links through Toxiproxy: one real server process for each link, in the network of its source.

The firewall of the source redirects the connections that its node opens to a peer into the proxy
of the link, whatever name or address the node uses. So nodes need no settings, and their peers see
the true source address. A proxy has a group of its own, whose connections are not redirected.
"""
