"""Build container images of the nodes, named after their content.

`ensure_reference_image` returns the tag of an image with the reference node of this checkout or
installation, and builds only changed layers. Images are not published, and no registry is needed.
"""

from importlib.util import find_spec

from kraftproof.images.errors import ImageError

if find_spec("docker") is None:
    raise ImageError("images need the extra docker: pip install 'kraftproof[docker]'")

from kraftproof.images.build import LIBFAKETIME_PATH, SOURCE_PATH, ensure_reference_image

__all__ = ["LIBFAKETIME_PATH", "SOURCE_PATH", "ImageError", "ensure_reference_image"]
