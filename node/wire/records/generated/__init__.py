"""Records and their codec, written by scripts/generate_wire.py; do not edit."""
