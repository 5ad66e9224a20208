"""Decide requests as the active controller: requests in, records and answers out (KIP-631)."""
