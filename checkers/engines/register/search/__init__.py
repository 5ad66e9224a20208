"""Searches for a legal order of one register whose values are written again."""
