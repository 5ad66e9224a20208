"""The comparisons by parts of the node; see catalogue.py for all."""
