"""Values that others published, which the site shows beside measured ones."""

from pathlib import Path
from typing import Any

import msgspec

from asv_watch.errors import WatchError
from asv_watch.files import read_regular


class PublishedValue(msgspec.Struct, frozen=True):
    """One published value and the case that measures the same here."""

    case: str
    """Full name of the case, parameters included."""
    value: float
    """Value in ``unit``."""
    unit: str
    source: str
    """Hardware, title, date and address."""
    note: str
    """What differs from the work that is measured here."""


def read_published(file: Path | None) -> Any:
    """Read a list of published values (key ``published_values`` of asv.conf.json).

    Args:
        file: None if the project names none.

    Raises:
        WatchError: the file cannot be read, or holds something else.
    """
    if file is None:
        return []
    try:
        values = msgspec.json.decode(read_regular(file), type=list[PublishedValue])
    except OSError as error:
        raise WatchError(
            f"{file}: {error.strerror}; correct the key published_values of asv.conf.json"
        ) from error
    except (msgspec.MsgspecError, ValueError, RecursionError) as error:
        raise WatchError(f"{file} is not a list of published values: {error}") from error
    return msgspec.to_builtins(values)
