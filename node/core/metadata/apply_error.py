"""Define the errors of a record that can not be applied."""


class ApplyError(ValueError):
    """A record contradicts the image."""


class UnreadableRecordError(ApplyError):
    """A record that is unreadable in this version of the node, although the cluster is sound."""
