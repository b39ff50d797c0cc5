"""What people wrote about results: ``results/notes.toml``.

``docs/pull-requests.md`` describes its ``[[change]]`` and ``[versions]``. A ``[[release]]`` says
what is behind the changes that a release of a requirement made::

    [[release]]
    requirement = "torch"
    release = "2.8.0"
    title = "max pooling is faster"
    text = "The compiler went from GCC 11.2 to 13.3."
"""

from collections.abc import Collection, Mapping, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Annotated, Literal

import msgspec

from asv_watch.errors import WatchError
from asv_watch.files import read_regular
from asv_watch.records.records import Problem
from asv_watch.versions.version import Commit

FILE_NAME = "notes.toml"
_DAMAGED = (msgspec.MsgspecError, ValueError, RecursionError)
"""Exceptions that decoding a file raises if it has another shape."""
_REMEDY = "correct it, as docs/pull-requests.md says"

CommitStart = Annotated[str, msgspec.Meta(pattern="^[0-9a-f]{7,64}$")]
Text = Annotated[str, msgspec.Meta(pattern=r"\S")]


class ChangeNote(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A remark about the changes that a commit caused."""

    commit: CommitStart
    kind: Literal["expected", "explained", "false alarm"]
    text: Text
    cases: tuple[str, ...] = ("*",)
    machine: str = ""
    by: str = ""
    """Who wrote it; empty if not given."""

    @property
    def in_words(self) -> str:
        """What the page shows: ``expected, by Ann: the batch was doubled``."""
        author = f", by {self.by}" if self.by else ""
        return f"{self.kind}{author}: {self.text}"

    def is_about(self, machine: str, case: str) -> bool:
        """Tell whether it concerns a case (by its name) on a machine."""
        is_case = any(fnmatchcase(case, pattern) for pattern in self.cases)
        return is_case and self.machine in {"", machine}


class ReleaseNote(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """What is behind the changes that a release made: causes and links, without numbers."""

    requirement: Text
    release: Text
    title: Text
    text: Text


class _File(msgspec.Struct, forbid_unknown_fields=True):
    versions: dict[Annotated[str, msgspec.Meta(pattern=r"^\w[\w.+-]*$")], CommitStart] = {}
    change: tuple[ChangeNote, ...] = ()
    release: tuple[ReleaseNote, ...] = ()


class Notes(msgspec.Struct, frozen=True):
    """The notes of a results folder, with the positions of their commits along a branch."""

    changes: tuple[tuple[int, ChangeNote], ...] = ()
    """Pairs of the position of a commit along the branch and a remark on its changes."""
    unplaced: tuple[str, ...] = ()
    """Starts of hashes in the notes that fit no commit of the branch, or several."""
    versions: Mapping[str, int] = msgspec.field(default_factory=dict)
    """Maps the name of a version to the position of its commit."""

    def about(self, machine: str, case: str, after: int, until: int) -> ChangeNote | None:
        """Return the last note about a change of a case between two commits, if there is one."""
        chosen = None
        for position, note in self.changes:
            if after < position <= until and note.is_about(machine, case):
                chosen = note
        return chosen


def read_notes(results: Path, commits: Sequence[Commit]) -> tuple[Notes, list[Problem]]:
    """Read the notes of a results folder; if the file is damaged, a problem and none of them."""
    path = results / FILE_NAME
    try:
        stored = msgspec.toml.decode(read_regular(path), type=_File)
    except FileNotFoundError:
        return Notes(), []
    except OSError as error:
        return Notes(), [Problem(str(path), f"it cannot be read: {error.strerror}")]
    except _DAMAGED as error:
        return Notes(), [Problem(str(path), f"{error}; none of its notes is used: {_REMEDY}")]
    named = {note.commit for note in stored.change} | set(stored.versions.values())
    positions = {
        start: [place for place, commit in enumerate(commits) if commit.hash.startswith(start)]
        for start in named
    }
    placed = {start: matching[0] for start, matching in positions.items() if len(matching) == 1}
    known = (note for note in stored.change if note.commit in placed)
    return Notes(
        tuple((placed[note.commit], note) for note in known),
        tuple(sorted(named - placed.keys())),
        {name: placed[start] for name, start in stored.versions.items() if start in placed},
    ), []


def expected_changes(content: bytes, commits: Collection[str]) -> tuple[ChangeNote, ...]:
    """Return the notes that call a change by one of these commits expected.

    Raises:
        WatchError: The content of the file has another shape.
    """
    try:
        stored = msgspec.toml.decode(content, type=_File)
    except _DAMAGED as error:
        raise WatchError(f"{FILE_NAME} of the head is damaged ({error}); {_REMEDY}") from error
    return tuple(
        note
        for note in stored.change
        if note.kind == "expected" and any(commit.startswith(note.commit) for commit in commits)
    )


def commit_of_version(results: Path, name: str) -> str:
    """Return the start of the hash that ``[versions]`` gives a name, or an empty text."""
    try:
        stored = msgspec.toml.decode((results / FILE_NAME).read_bytes(), type=_File)
    except (OSError, msgspec.MsgspecError, ValueError):  # publishing names what is wrong
        return ""
    return stored.versions.get(name, "")
