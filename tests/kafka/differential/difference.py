"""A difference from real Kafka that is meant to be there. No tests here."""

from dataclasses import dataclass
from fnmatch import fnmatchcase


@dataclass(frozen=True, slots=True, kw_only=True)
class Difference:
    """A difference that is meant to be there.

    Attributes:
        cases: The cases in which it shows, by a pattern of their names.
        fields: The fields of the answers that differ, by patterns of their paths.
        reason: The text of the page: ours, Kafka's, and why.
    """

    cases: str
    fields: tuple[str, ...]
    reason: str

    def covers(self, case: str, path: str) -> bool:
        """Return whether this is the difference at a path of a case's answers."""
        return fnmatchcase(case, self.cases) and any(
            fnmatchcase(path, _literal_brackets(pattern)) for pattern in self.fields
        )


def _literal_brackets(pattern: str) -> str:
    return pattern.replace("[", "[[]")
