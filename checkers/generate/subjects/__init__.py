"""One file a kind of object: how it answers, and the wrong answers that make a history invalid."""
