"""Searches for a legal order where elements or values occur several times."""
