"""Define the failure of a login."""


class LoginError(Exception):
    """A login failed; the text goes to the client and never holds a secret."""
