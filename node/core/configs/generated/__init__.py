"""Tables written by scripts; do not edit."""
