"""Programs that run on a host behind ssh, of the standard library only."""
