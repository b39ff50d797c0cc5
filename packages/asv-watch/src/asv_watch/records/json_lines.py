"""Files with one JSON object a line, the newest last."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from asv_watch.files import append_durably
from asv_watch.records.records import Problem

T = TypeVar("T")


def read_stored(path: Path, kind: type[T], name: str) -> tuple[tuple[T, ...], tuple[Problem, ...]]:
    """Read a file whose lines are all of one kind, oldest first; a missing file has none.

    Args:
        path: The file.
        kind: A type that msgspec decodes.
        name: What a line should be, for people: ``explanation``.

    Returns:
        The records, and a problem for a file that cannot be read and for each damaged line.
    """
    if not path.exists():
        return (), ()
    decoder = msgspec.json.Decoder(kind)
    records: list[T] = []
    problems: list[Problem] = []
    for number, line in lines_of(path, problems):
        try:
            records.append(decoder.decode(line))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            message = f"line {number} is not a valid {name}; it was left out"
            problems.append(Problem(str(path), message))
    return tuple(records), tuple(problems)


def lines_of(path: Path, problems: list[Problem]) -> Iterator[tuple[int, bytes]]:
    """Yield the lines that are not empty, with their numbers; add a problem if there are none."""
    if not path.is_file():  # reading a fifo would never end
        problems.append(Problem(str(path), "it is not a regular file; it was left out"))
        return
    try:
        with path.open("rb") as stream:
            yield from ((n, line) for n, line in enumerate(stream, start=1) if line.strip())
    except OSError as error:
        problems.append(Problem(str(path), f"it cannot be read: {error.strerror}"))


def append_lines(path: Path, entries: Iterable[Any]) -> None:
    """Add a line for each entry (a msgspec struct or plain data), and wait until they are stored.

    Raises:
        OSError: The disk is full, or the file cannot be written.
    """
    append_durably(path, msgspec.json.Encoder().encode_lines(list(entries)))
