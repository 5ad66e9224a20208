"""Define the error of this package."""


class ImageError(RuntimeError):
    """An image could not be made; the text is one line with a remedy."""
