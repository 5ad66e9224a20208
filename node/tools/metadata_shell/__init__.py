"""Show metadata as a tree of files: kraft-metadata-shell."""
