"""Compare messages, headers and batches of records with references; see comparison.py."""
