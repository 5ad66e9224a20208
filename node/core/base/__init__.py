"""Values that every part of the core shares; imports nothing of ours but the wire's types."""
