"""Wall clocks of live nodes: movements, the ways to move a clock, and reports of nodes."""
