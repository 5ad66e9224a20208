"""Container images of the nodes: built on the spot, named after what is in them.

What it is: one call that gives the tag of an image with the reference node as it stands in this
checkout (or installation), building only what changed. What it is not: a publisher of images;
nothing is pushed, and no registry is needed.
"""

from importlib.util import find_spec

from kraftproof.images.errors import ImageError

if find_spec("docker") is None:
    raise ImageError("images need the extra docker: pip install 'kraftproof[docker]'")

from kraftproof.images.build import LIBFAKETIME_PATH, SOURCE_PATH, ensure_reference_image

__all__ = ["LIBFAKETIME_PATH", "SOURCE_PATH", "ImageError", "ensure_reference_image"]
