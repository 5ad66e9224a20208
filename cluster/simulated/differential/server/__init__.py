"""Comparisons of connections and listeners with rules stated apart."""
