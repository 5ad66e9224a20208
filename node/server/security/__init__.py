"""TLS and logins of the server's sockets; node/core/security makes the decisions."""
