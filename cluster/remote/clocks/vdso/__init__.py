"""Wall clock of a process of this machine, moved through the functions of its vDSO."""
