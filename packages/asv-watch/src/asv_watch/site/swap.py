"""Build a folder's new contents aside, then swap them in whole, or not at all.

The new contents grow in a hidden folder *inside* the published one: it is on
the same file system, so entries move by rename; the published folder's own
``.gitignore`` keeps it out of git even if the process is killed; and the
published folder stays the same directory, so that a server running in it goes on
serving.
"""

import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from asv_watch.errors import WatchError
from asv_watch.files import lock

KEPT = ".gitignore"
KEPT_TEXT = """\
# Where `asv publish` writes the site: built, never tracked.
*
!.gitignore
"""
MANIFEST = ".asv-watch-site.json"
"""The file that marks a folder as a published site."""

_ASIDE = ".publishing"
_ENTRY = "index.html"


@contextmanager
def swapped_in(folder: Path) -> Iterator[Path]:
    """Give an empty folder to build in; on leaving it, put its contents into `folder`.

    On any exception `folder` stays as it was, and is removed again if it had not
    been there. Its `.gitignore` is never touched, and written if it is missing.

    Raises:
        WatchError: `folder` cannot be written, holds something that is no
            site, or another process is publishing to it.
    """
    folder = Path(os.path.realpath(folder))
    missing = [path for path in (folder, *folder.parents) if not path.exists()]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        with _locked(folder):
            aside = folder / _ASIDE
            if aside.exists():
                # A run was killed while it moved the entries: the folder is a site all the same.
                (folder / MANIFEST).touch()
            _refuse_foreign(folder)
            shutil.rmtree(aside, ignore_errors=True)
            try:
                fresh = aside / "new"
                fresh.mkdir(parents=True)
                yield fresh
                (fresh / MANIFEST).touch()
                _swap(folder, fresh, aside / "old")
            finally:
                shutil.rmtree(aside, ignore_errors=True)
            missing.clear()
    except OSError as error:
        raise WatchError(
            f"cannot write the site to {folder}: {error.strerror or error}"
            f"{f' ({error.filename})' if error.filename else ''}; free space or choose another "
            "folder with `asv publish --html-dir DIR`; what was published before is untouched"
        ) from error
    finally:
        for made in missing[-1:]:  # the topmost folder that had not been there
            shutil.rmtree(made, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold the folder alone; the lock goes with the process, however it ends."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        if not lock(descriptor, folder):
            raise WatchError(f"another process is publishing to {folder}: wait for it to end")
        yield
    finally:
        os.close(descriptor)


def _refuse_foreign(folder: Path) -> None:
    entries = {entry.name for entry in folder.iterdir()} - {KEPT, _ASIDE}
    is_ours = MANIFEST in entries
    is_of_asv = {_ENTRY, "asv.js", "graphdisplay.js"} <= entries
    if entries and not is_ours and not is_of_asv:
        raise WatchError(
            f"{folder} holds files that are not a published site ({min(entries)}, …), and "
            "publishing would replace them: choose an empty folder"
        )


def _swap(folder: Path, fresh: Path, old: Path) -> None:
    old.mkdir()
    incoming = sorted((entry.name for entry in fresh.iterdir()), key=lambda name: name == _ENTRY)
    outgoing = {entry.name for entry in folder.iterdir()} - {KEPT, _ASIDE}
    moves: list[tuple[Path, Path]] = []
    for name in [*incoming, *sorted(outgoing.difference(incoming))]:
        if name in outgoing:
            moves.append((folder / name, old / name))
        if name in incoming:
            moves.append((fresh / name, folder / name))
    try:
        for source, target in moves:
            os.rename(source, target)
        if not (folder / KEPT).exists():
            (folder / KEPT).write_text(KEPT_TEXT, encoding="utf-8")
    except BaseException:
        for source, target in reversed(moves):
            if not os.path.lexists(source):  # it was moved
                os.rename(target, source)
        raise
