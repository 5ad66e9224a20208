"""Measurements that take minutes and prove no behaviour; nothing here ships in the wheel."""
