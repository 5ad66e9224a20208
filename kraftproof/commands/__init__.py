"""The commands of `kraftproof`, one file each."""
