"""Which commits lie between two commits of the branch, those inside merges included."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from asv_watch.records.git import ask_git, read_log, run_git
from asv_watch.records.records import Commit


@dataclass(frozen=True, slots=True)
class BranchCommit:
    """A commit that reached the branch, directly or with a merge."""

    hash: str
    date: int
    """Committer date, seconds since the epoch."""
    subject: str
    """First line of the message: hostile input, to be escaped where shown."""
    touches: bool
    """Whether it changes a file below the paths that were asked about."""


class Ancestry:
    """The commits of a branch, each with what a merge brought."""

    def __init__(
        self,
        line: Sequence[Commit],
        brought: Mapping[str, tuple[BranchCommit, ...]] | None = None,
        paths: tuple[str, ...] = (),
    ) -> None:
        """Keep what git lists.

        Args:
            line: The branch along the first parents, oldest first.
            brought: Hash of a commit of the branch to itself and what it merged, newest first.
            paths: What `BranchCommit.touches` refers to; empty for all files.
        """
        self.paths = paths
        self._line = line
        self._brought = brought or {}
        self._position = {commit.hash: position for position, commit in enumerate(line)}

    def between(self, before: str, after: str) -> tuple[BranchCommit, ...]:
        """List the commits after one of the branch up to and including another, newest first."""
        span = self._line[self._position[before] + 1 : self._position[after] + 1]
        return tuple(
            inner
            for commit in reversed(span)
            for inner in self._brought.get(
                commit.hash, (BranchCommit(commit.hash, commit.date, commit.subject, False),)
            )
        )


def read_ancestry(
    repository: Path, line: Sequence[Commit], since: str, paths: Sequence[str] = ()
) -> Ancestry:
    """Read from git what came with the newer commits of a branch.

    Args:
        repository: A checkout or a bare repository.
        line: The branch along the first parents, oldest first.
        since: Full hash of one of its commits: what came after it is read.
        paths: Files and folders, of which those that the newest commit lacks are ignored.

    Raises:
        WatchError: git is missing or fails.
    """
    first = next(position for position, commit in enumerate(line) if commit.hash == since)
    commits = line[first + 1 :]
    if not commits:
        return Ancestry(line)
    reach = [commits[-1].hash, f"^{since}"]
    tree = set(ask_git(repository, "ls-tree", "-r", "-t", "--name-only", reach[0]).splitlines())
    known = tuple(path for path in paths if path in tree)
    arguments = ["rev-list", "--full-history", "--no-merges", *reach, "--", *known]
    touching = set(run_git(repository, *arguments).split())
    parents: dict[str, list[str]] = {}
    listed: dict[str, BranchCommit] = {}
    log = read_log(repository, "%H%x09%P%x09%ct%x09%s", "--topo-order", *reach)
    for commit, its_parents, date, subject in log:
        parents[commit] = its_parents.split()
        listed[commit] = BranchCommit(commit, int(date), subject, commit in touching)
    order = {commit: index for index, commit in enumerate(listed)}
    brought: dict[str, tuple[BranchCommit, ...]] = {}
    seen: set[str] = set()
    for merge in commits:
        new: list[str] = []
        waiting = [merge.hash]
        while waiting:
            candidate = waiting.pop()
            if candidate in listed and candidate not in seen:
                seen.add(candidate)
                new.append(candidate)
                waiting += parents[candidate]
        new.sort(key=order.__getitem__)
        brought[merge.hash] = tuple(listed[commit] for commit in new)
    return Ancestry(line, brought, known)
