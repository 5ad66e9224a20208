"""Scripts of the project, run by hand or by make; no part of the wheel."""
