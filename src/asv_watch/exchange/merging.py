"""Merges the results of a folder or a branch into another folder.

A file of lines gets the lines of both, as `.gitattributes` lets git merge it, and lists of
benchmarks become their union. Of two result files of one commit, the one that was measured last
counts; nights measure again what it lacks.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import msgspec

from asv_watch.errors import WatchError
from asv_watch.exchange.checking import check_results, different_facts
from asv_watch.exchange.sources import list_results, refuse_blocked_path
from asv_watch.files import make_folder, read_regular, write_whole
from asv_watch.records import notes, suite_lists
from asv_watch.records.result_files import (
    DamagedError,
    ResultFile,
    read_json,
    read_result_file,
)
from asv_watch.records.suite_lists import list_bytes, merge_lists, parse_list


@dataclass(frozen=True, slots=True)
class Merged:
    """Numbers of files that a merge added, extended and left unchanged."""

    added: int
    extended: int
    """Files that were there and got new content."""
    unchanged: int
    others: tuple[str, ...] = ()
    """Paths of files that are not results, and were left out."""
    damaged: tuple[str, ...] = ()
    """Damaged lines of files whose other lines are sound; they were left out."""

    def __str__(self) -> str:
        text = f"{self.added} files added, {self.extended} extended, {self.unchanged} unchanged"
        if self.others:
            more = f" and {len(self.others) - 1} more" if len(self.others) > 1 else ""
            text += f"; left out, as no results: {self.others[0]!a}{more}"
        if self.damaged:
            more = f" and {len(self.damaged) - 1} more" if len(self.damaged) > 1 else ""
            text += f"; left out, as damaged: {self.damaged[0]}{more}"
        return text


def merge_results(source: Path, target: Path, machines: Collection[str] = ()) -> Merged:
    """Add all results of a folder to another one, which is made if it is missing.

    Only the named machines may be in the source; any if none is named.

    Raises:
        WatchError: A file of the source or the target is damaged, a file of both cannot be
            merged, a machine may not be in the source or is another one in the target, or a
            symbolic link lies in the source or on the way to a file of the target; then nothing
            was written. Damaged lines of a file of lines are only left out.
    """
    files, others = list_results(source)
    damaged: dict[str, set[int]] = {}
    faults = []
    for fault in check_results(source, machines):
        if fault.line:
            damaged.setdefault(fault.path, set()).add(fault.line)
        else:
            faults.append(fault)
    if faults:
        more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
        raise WatchError(
            f"{faults[0].path}: {faults[0].message}{more}; correct the source first "
            "(`asv-watch results check` names all)"
        )
    contents: dict[Path, bytes] = {}
    added = unchanged = 0
    for path in files:
        new = _without_lines(read_regular(path), damaged.get(str(path), ()))
        file = target / path.relative_to(source)
        refuse_blocked_path(target, file)
        if not file.exists():
            contents[file] = new
            added += 1
            continue
        old = read_regular(file)
        if old != new:
            _check_sound(file)
        if machines and file.name == "machine.json":
            _check_same_machine(file, old, new)
        merged = _merge(file, old, new)
        if merged == old:
            unchanged += 1
        else:
            contents[file] = merged
    for file, content in contents.items():
        make_folder(file.parent)
        write_whole(file, content)
    names = tuple(path.relative_to(source).as_posix() for path in others)
    left_out = (
        f"line {line} of {Path(path).relative_to(source).as_posix()!a}"
        for path, lines in sorted(damaged.items())
        for line in sorted(lines)
    )
    return Merged(added, len(contents) - added, unchanged, names, tuple(left_out))


def _without_lines(content: bytes, numbers: Collection[int]) -> bytes:
    """Return a file without some of its lines, which are counted from 1."""
    if not numbers:
        return content
    lines = content.split(b"\n")
    kept = [line for number, line in enumerate(lines, start=1) if line and number not in numbers]
    return b"".join(line + b"\n" for line in kept)


def _check_sound(file: Path) -> None:
    """Refuse to add to a file that is damaged."""
    try:
        if file.name == "machine.json":
            read_json(file, dict[str, Any])
        elif file.suffix == ".json" and file.name != suite_lists.FILE_NAME:
            read_result_file(file)
    except DamagedError as error:
        raise WatchError(f"{file}: {error}; correct or remove it first") from error


def _check_same_machine(file: Path, old: bytes, new: bytes) -> None:
    """Refuse results of another machine under a known machine's name."""
    for name, value in different_facts(json.loads(old), json.loads(new)):
        raise WatchError(
            f"{file} describes another machine: {name} is {value!r} in what is merged; give that "
            "machine a name of its own"
        )


def _merge(file: Path, old: bytes, new: bytes) -> bytes:
    if old == new:
        return old
    try:
        if file.name == suite_lists.FILE_NAME:
            lists = [parse_list(content) for content in (old, new)]
            merged = merge_lists(lists)
            return old if merged == lists[0] else list_bytes(merged)
        if file.name == "machine.json":
            facts: dict[str, Any] = json.loads(new) | json.loads(old)
            return old if facts == json.loads(old) else json.dumps(facts, indent=4).encode()
        if file.suffix == ".json":
            return new if _last_start(new) > _last_start(old) else old
    except ValueError as error:
        raise WatchError(f"{file} cannot be merged ({error}); correct it first") from error
    if file.suffix == ".jsonl":
        return _union(old.splitlines(), new.splitlines(), old)
    remedy = "merge its entries by hand" if file.name == notes.FILE_NAME else "remove one of them"
    raise WatchError(f"{file} differs from the file of that name to be merged; {remedy}")


def _last_start(content: bytes) -> int:
    """Return when the last benchmark of a result file started, in seconds since the epoch.

    Raises:
        ValueError: The content is not a result file.
    """
    file = msgspec.convert(json.loads(content), ResultFile)
    starts = []
    for name in file.results:
        with contextlib.suppress(DamagedError):  # as loading leaves such a row out
            starts.append(file.row(name).started_at or 0)
    return max(starts, default=0)


def _union(old: Sequence[bytes], new: Sequence[bytes], unchanged: bytes) -> bytes:
    """Return the old lines, followed by the new lines that are not among them."""
    known = set(old)
    extra = [line for line in new if line.strip() and line not in known]
    return b"\n".join([*old, *extra, b""]) if extra else unchanged
