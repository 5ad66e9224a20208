"""A node that acknowledges a flush at once and calls fsync a second later, for `--mutant FILE`."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="late-fsync",
    title="Flushed comes back at once, and the fsync a second later",
    source="a test; the class of Redis' appendfsync everysec",
    edits=(
        Edit(
            module="kraftproof.node.server.workers",
            old="        _start(self._fsyncs, fsync, returned, failed)\n",
            new="        asyncio.get_running_loop().call_soon(returned, None)\n"
            "        late = partial(lambda: (time.sleep(1.0), fsync()))\n"
            "        _start(self._fsyncs, late, lambda _: None, failed)\n",
        ),
    ),
)
