"""Merges the results of a folder or a branch into another folder, and loses nothing.

Files merge as `.gitattributes` lets git merge them: a result file keeps the line of each side,
which readers take for several versions of it (`asv_watch.records.result_files`). A file of
lines has the lines of both, and lists of benchmarks become their union.

Folders and branches of results come from other people. A symbolic link in one could lead to a
private file, or out of the folder that is written to, so none is followed.
"""

from __future__ import annotations

import json
import os
import stat
import tempfile
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from asv_watch.errors import WatchError
from asv_watch.exchange.checking import check_results, different_facts
from asv_watch.files import make_folder, read_regular, write_whole
from asv_watch.records import notes, suite_lists
from asv_watch.records.comparisons import FOLDER
from asv_watch.records.git import export_files, find_commit, run_git
from asv_watch.records.suite_lists import list_bytes, merge_lists, parse_list


@contextmanager
def results_in(source: str, repository: Path) -> Iterator[Path]:
    """Yield the folder of results in a source, which is left as it is.

    A source is a folder (results, or what holds them), or a branch, tag or commit of a checkout.

    Raises:
        WatchError: There is no such source, or it holds none or several folders of results.
    """
    path = Path(source)
    if path.is_dir():
        yield find_results(path, source)
        return
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as temporary:
        folder = Path(temporary)
        _check_out(repository, source, folder)
        yield find_results(folder, source)


def _check_out(repository: Path, revision: str, folder: Path) -> None:
    """Put the files of a revision below the folder, without touching the checkout."""
    commit = find_commit(repository, revision)
    if not commit:
        raise WatchError(
            f"{revision!r} is neither a folder nor a branch of {repository}; "
            "`git branch -a` lists branches, `git fetch` brings those of others"
        )
    blobs = run_git(repository, "ls-tree", "-r", "-l", "-z", commit).split("\0")
    sizes = [blob.split(maxsplit=4)[3] for blob in blobs if blob]
    refuse_too_much(revision, len(sizes), sum(int(size) for size in sizes if size.isdigit()))
    export_files(repository, commit, folder)


def find_results(folder: Path, source: str) -> Path:
    """Return the folder at or below this one that holds folders of machines."""
    holders = {
        path.parent.parent
        for path in folder.rglob("machine.json")
        if not any(part.startswith(".") for part in path.relative_to(folder).parts)
    }
    if not holders and (folder / suite_lists.FILE_NAME).is_file():
        return folder
    if len(holders) != 1:
        names = ", ".join(sorted(str(holder.relative_to(folder)) for holder in holders))
        content = f"holds several folders of results ({names})" if names else "holds no results"
        raise WatchError(
            f"{source} {content}: give the folder that has a machine's folder with machine.json"
        )
    return holders.pop()


MOST_FILES = 200_000
MOST_BYTES = 2 * 1024**3
"""Largest size of a source: all of it is held in memory, so that it is written whole or not."""


def list_results(folder: Path) -> tuple[list[Path], list[Path]]:
    """List the files below a folder of results, but not those of hidden folders such as ``.git``.

    Returns:
        Files of results, and other files, such as a README.

    Raises:
        WatchError: It holds a symbolic link, or more than can be merged.
    """
    results: list[Path] = []
    others: list[Path] = []
    size = 0
    for path in sorted(_walk(folder)):
        status = path.lstat()
        if stat.S_ISLNK(status.st_mode):
            raise WatchError(
                f"{path} is a symbolic link, which could lead anywhere; put a plain file or "
                "folder there, or remove it"
            )
        if stat.S_ISREG(status.st_mode):
            (results if _is_result(path.relative_to(folder)) else others).append(path)
            size += status.st_size
            refuse_too_much(str(folder), len(results) + len(others), size)
    return results, others


def refuse_too_much(source: str, files: int, size: int) -> None:
    """Refuse a source that is too large to be results."""
    if files > MOST_FILES or size > MOST_BYTES:
        raise WatchError(
            f"{source} has {files:,} files or more, of {size:,} bytes or more; at most "
            f"{MOST_FILES:,} files and {MOST_BYTES:,} bytes are merged: give fewer at a time"
        )


def refuse_links(folder: Path, path: Path) -> None:
    """Refuse to write to a path below a folder, if a symbolic link lies on the way to it."""
    for step in (path, *path.parents):
        if step == folder:
            return
        if step.is_symlink():
            raise WatchError(
                f"{step} is a symbolic link, so what is written there would go elsewhere; "
                "remove it"
            )


def _walk(folder: Path) -> Iterator[Path]:
    for root, folders, files in os.walk(folder):
        folders[:] = [name for name in folders if not name.startswith(".")]
        links = [name for name in folders if Path(root, name).is_symlink()]
        for name in (*links, *files):
            if not name.startswith("."):
                yield Path(root, name)


def _is_result(path: Path) -> bool:
    """Tell from its path below the folder of results whether a file is one that is read there."""
    match path.parts:
        case (name,):
            return name in {suite_lists.FILE_NAME, notes.FILE_NAME}
        case (_, _):
            return path.suffix in {".json", ".jsonl"}
        case (_, folder, _):
            return folder == FOLDER and path.suffix == ".jsonl"
    return False


@dataclass(frozen=True, slots=True)
class Merged:
    """What a merge did, in numbers of files."""

    added: int
    extended: int
    """Files that were there and got new content."""
    unchanged: int
    others: tuple[str, ...] = ()
    """Paths of files that are no results, and were left out."""

    def __str__(self) -> str:
        text = f"{self.added} files added, {self.extended} extended, {self.unchanged} unchanged"
        if self.others:
            more = f" and {len(self.others) - 1} more" if len(self.others) > 1 else ""
            text += f"; left out, as no results: {self.others[0]!a}{more}"
        return text


def merge_results(source: Path, target: Path, machines: Collection[str] = ()) -> Merged:
    """Add everything that a folder of results holds to another one, made if it is missing.

    Only the named machines may be in the source, or any where none is named.

    Raises:
        WatchError: A file of the source is damaged, a file of both cannot be merged, a machine
            may not be in the source or is another one in the target, or a symbolic link lies
            in the source or on the way to a file of the target; then nothing was written.
    """
    files, others = list_results(source)
    faults = check_results(source, machines)
    if faults:
        more = f", and {len(faults) - 1} more" if len(faults) > 1 else ""
        raise WatchError(
            f"{faults[0].path}: {faults[0].message}{more}; correct that there first "
            "(`asv-watch results check` names all)"
        )
    contents: dict[Path, bytes] = {}
    added = unchanged = 0
    for path in files:
        new = read_regular(path)
        file = target / path.relative_to(source)
        refuse_links(target, file)
        if not file.exists():
            contents[file] = new
            added += 1
            continue
        old = read_regular(file)
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
    return Merged(added, len(contents) - added, unchanged, names)


def _check_same_machine(file: Path, old: bytes, new: bytes) -> None:
    """Refuse results of another machine that calls itself by the name of a known one."""
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
            return _union(_lines_of_json(old), _lines_of_json(new), old)
    except ValueError as error:
        raise WatchError(f"{file} cannot be merged ({error}); correct it first") from error
    if file.suffix == ".jsonl":
        return _union(old.splitlines(), new.splitlines(), old)
    what = "merge its entries by hand" if file.name == notes.FILE_NAME else "remove one of them"
    raise WatchError(f"{file} differs from the file of that name to be merged; {what}")


def _lines_of_json(content: bytes) -> list[bytes]:
    """Return a result file as lines, one for each version; old files are written over many."""
    try:
        return [json.dumps(json.loads(content)).encode()]
    except ValueError:
        return [json.dumps(json.loads(line)).encode() for line in content.splitlines() if line]


def _union(old: Sequence[bytes], new: Sequence[bytes], unchanged: bytes) -> bytes:
    """Return the old lines, then those of the new ones that are not among them."""
    known = set(old)
    extra = [line for line in new if line.strip() and line not in known]
    return b"\n".join([*old, *extra, b""]) if extra else unchanged
