"""From a history to a verdict: first pass, engines, refutation, assembly; inline, without Spark."""
