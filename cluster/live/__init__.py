"""What live backends share: time and tasks over asyncio, connections over sockets."""
