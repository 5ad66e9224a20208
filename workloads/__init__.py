"""What clients do: one file a workload, by entry point. Not: what is right (checkers/)."""
