"""Compare a broker's answers from its image with those of a plain model."""
