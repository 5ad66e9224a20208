"""Build container images of the nodes, named after their content, and provide Apache Kafka.

`build.ensure_reference_image` returns the tag of an image with the reference node of this checkout
or installation, and builds only changed layers. Images are not published, and no registry is
needed. `kafka` needs no container engine: local processes use its jars.
"""
