"""Compare the part of a broker that each request of a client reaches first.

A broker answers some requests itself, forwards others to the active controller, and refuses the
rest. `doors.py` plays the clients, the controllers, the committed image and the disk of a drawn
broker, with a model for each part: the forwarded requests, the versions of the controller, the
creations of topics, the producer ids, and a led partition. See docs/decisions/0835.
"""
