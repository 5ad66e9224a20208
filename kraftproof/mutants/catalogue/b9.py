"""B9: a leader has a snapshot still to load."""

from kraftproof.mutants.mutant import Edit, Mutant

MUTANT = Mutant(
    mutant_id="B9",
    title="An image takes a snapshot in at the next commit only; the node may lead by then",
    source="KAFKA-12958; automq#3477",
    expected="ImageReachesLogStart",
    kind="L",
    edits=(
        Edit(
            module="kraftproof.node.core.node",
            old="from kraftproof.node.core.metadata.snapshot import NO_HISTORY, History\n",
            new="""from kraftproof.node.core.metadata.snapshot import (
    NO_HISTORY,
    History,
    LoadedSnapshot,
)
""",
        ),
        Edit(
            module="kraftproof.node.core.node",
            old="""            self._committed.load(event.loaded)
            self._snapshots.installed(now)
            self._publish()
""",
            new="""            self._awaited = event.loaded
            self._snapshots.installed(now)
""",
        ),
        Edit(
            module="kraftproof.node.core.node",
            old="""        self._is_over = False

    def start""",
            new="""        self._is_over = False
        self._awaited: LoadedSnapshot | None = None

    def start""",
        ),
        Edit(
            module="kraftproof.node.core.node",
            old="""        try:
            moved =""",
            new="""        awaited = self._awaited
        if awaited is not None:
            if self._raft.high_watermark <= awaited.stored.snapshot.end_offset:
                return True
            if self._committed.offset < awaited.stored.snapshot.end_offset:
                self._committed.load(awaited)
            self._awaited = None
        try:
            moved =""",
        ),
    ),
)
