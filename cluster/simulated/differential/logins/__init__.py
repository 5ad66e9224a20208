"""Compare logins, tokens and mapped names with references."""
