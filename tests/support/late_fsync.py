"""A node that acknowledges a flush at once and calls fsync 3 s later, for `--mutant FILE`."""

from kraftproof.mutants.mutant import Edit, Mutant

# The power fails about a second after the first creation. With a delay of 1 s, the first fsync had
# already returned in most runs, and no acknowledged record was lost.
MUTANT = Mutant(
    mutant_id="late-fsync",
    title="Flushed comes back at once, and the fsync three seconds later",
    source="a test; the class of Redis' appendfsync everysec",
    edits=(
        Edit(
            module="kraftproof.node.server.workers",
            old="        _start(self._fsyncs, fsync, returned, failed)\n",
            new="        asyncio.get_running_loop().call_soon(returned, None)\n"
            "        late = partial(lambda: (time.sleep(3.0), fsync()))\n"
            "        _start(self._fsyncs, late, lambda _: None, failed)\n",
        ),
    ),
)
