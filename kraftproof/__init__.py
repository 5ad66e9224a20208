"""The composition root: commands, the interpreter, run directories, reports, the pytest plug-in."""
