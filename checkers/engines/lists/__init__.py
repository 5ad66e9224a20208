"""Lists, sets and logs that grow and are read whole."""
