"""Build container images of the nodes, named after their content.

`ensure_reference_image` returns the tag of an image with the reference node of this checkout or
installation, and builds only changed layers. Images are not published, and no registry is needed.
"""

from kraftproof.images.build import LIBFAKETIME_PATH, SOURCE_PATH, ensure_reference_image
from kraftproof.images.errors import ImageError

__all__ = ["LIBFAKETIME_PATH", "SOURCE_PATH", "ImageError", "ensure_reference_image"]
