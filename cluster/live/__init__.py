"""Base of live backends: time and tasks over asyncio, connections over sockets."""
