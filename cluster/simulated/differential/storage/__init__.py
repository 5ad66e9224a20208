"""Compare files, logs and their recovery with references; see comparison.py."""
