"""The shell around the core: asyncio, sockets, clocks, and effects carried out in order."""
