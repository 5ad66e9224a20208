"""Systems under test, one plug-in each: clients, error tables, raw files, what they promise."""
