"""The one error of this package: a sentence for the user, no more."""


class ImageError(RuntimeError):
    """An image could not be made; the text is one line and says what would help."""
