"""Define values shared by the whole core; the only import is from the wire's types."""
