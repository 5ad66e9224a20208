"""The parts of scripts/generate_wire.py: sources of schemas, and the emitter of Python."""
