"""The parts of the data world that a world with log directories replaces. No tests here."""

from tests.support.node.data_messages import registration


class DataHooks:
    """A world whose brokers have no known directories."""

    def begin(self):
        """Write the records before the first registration."""

    def directories_of(self, node_id):
        """Return the working directories of a broker; none, so that the storage chooses."""
        del node_id
        return ()

    def damaged_at_start(self, node_id):
        """The logs that a starting broker takes for damaged, each with its directory."""
        return ()

    def has_failed_at_start(self, node_id):
        """Return whether a starting broker can't open a directory."""
        del node_id
        return False

    def new_directories(self, replicas):
        """Return the directories of a new partition."""
        del replicas
        return ()

    def registration(self, node_id, epoch, *, incarnation=0):
        """Return the registration of a broker."""
        return registration(node_id, epoch, incarnation=incarnation)
