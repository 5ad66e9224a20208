"""Priority queues with repeated elements."""
