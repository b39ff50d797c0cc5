"""Files with one JSON object a line, the newest last."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any, TypeVar

import msgspec

from asv_watch.files import append_durably, read_regular
from asv_watch.records.records import Problem

UNREADABLE = "cannot be read"
"""Start of the message about a file that cannot be read."""

T = TypeVar("T")


def read_lines(
    path: Path, decode: Callable[[bytes], T], name: str
) -> tuple[list[tuple[int, T]], list[Problem]]:
    """Read the records of a file with their line numbers.

    Args:
        path: The file.
        decode: Decodes a line, such as a method of ``msgspec.json.Decoder``, or raises an
            exception of msgspec.
        name: What a line should be, for people: ``explanation``.

    Returns:
        The records, and a problem for each line that is not such a record. A file that cannot
        be read gives one problem and no records.
    """
    try:
        content = read_regular(path)
    except OSError as error:
        return [], [Problem(str(path), f"{UNREADABLE}: {error.strerror}")]
    if b"\0" in content[:4]:  # a power failure may leave one in a later line
        return [], [Problem(str(path), "it is not UTF-8 text; it was left out")]
    records: list[tuple[int, T]] = []
    problems = []
    for number, line in enumerate(content.split(b"\n"), start=1):
        if not line.strip():
            continue
        try:
            records.append((number, decode(line)))
        except (msgspec.MsgspecError, UnicodeDecodeError, RecursionError):
            message = f"line {number} is not a valid {name}; it was left out"
            problems.append(Problem(str(path), message))
    return records, problems


def read_stored(path: Path, kind: type[T], name: str) -> tuple[tuple[T, ...], tuple[Problem, ...]]:
    """Read a file whose lines are all of one kind, oldest first; a missing file has none.

    Returns:
        The records, and a problem for each line that is damaged.
    """
    if not path.exists():
        return (), ()
    lines, problems = read_lines(path, msgspec.json.Decoder(kind).decode, name)
    return tuple(record for _, record in lines), tuple(problems)


def append_lines(path: Path, entries: Iterable[Any]) -> None:
    """Add a line for each entry (a msgspec struct or plain data), and wait until they are stored.

    Raises:
        OSError: The disk is full, or the file cannot be written.
    """
    append_durably(path, msgspec.json.Encoder().encode_lines(list(entries)))
