"""Smaller sub-histories of an invalid history that are still invalid."""
