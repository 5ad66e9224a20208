"""Read the seed at which the search for each mutant begins, from a file of earlier finds."""

from pathlib import Path

import msgspec

from kraftproof.errors import UsageError


class Find(msgspec.Struct, frozen=True):
    """An earlier find of a mutant; other fields of the file are left alone."""

    seed: int


def read_first_seeds(path: Path) -> dict[str, int]:
    """Return the seed of each mutant in a file such as `{"A1": {"seed": 7}}`.

    Raises:
        UsageError: the file can't be read, is not JSON, or has a seed below 0.
    """
    try:
        finds = msgspec.json.decode(path.read_bytes(), type=dict[str, Find])
    except OSError as error:
        raise UsageError(f"--seeds-from {path}: {error.strerror}") from error
    except (msgspec.DecodeError, UnicodeDecodeError) as error:
        wanted = 'an object such as {"A1": {"seed": 7}} is expected'
        raise UsageError(f"--seeds-from {path}: {error}; {wanted}") from error
    for mutant_id, find in finds.items():
        if find.seed < 0:
            raise UsageError(f"--seeds-from {path}: {mutant_id}: seed {find.seed} is below 0")
    return {mutant_id: find.seed for mutant_id, find in finds.items()}
