"""Transactions on registers."""
