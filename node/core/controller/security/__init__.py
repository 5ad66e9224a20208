"""Decide changes of access control entries, SCRAM credentials and delegation tokens."""
