"""The pure core: (state, event, now) -> effects. No clock, chance, socket, file, log or thread."""
