"""Reads commits and their files from git, including the commits inside merges.

The order is that of asv's revisions: along the first parents, oldest first, so a merged branch
counts as one commit. All functions raise `WatchError` if git is missing, and those that use
`run_git` also if it fails.
"""

import os
import subprocess
import tempfile
from bisect import bisect_right
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import attrgetter
from pathlib import Path

from asv_watch.errors import WatchError
from asv_watch.versions.version import Commit, is_full_hash, release_order

# A hook or a wrapper may have pointed these at another repository.
_REDIRECTIONS = ("GIT_DIR", "GIT_WORK_TREE", "GIT_INDEX_FILE", "GIT_OBJECT_DIRECTORY")


def read_commits(repository: Path, branch: str = "main") -> tuple[Commit, ...]:
    """Read all commits of a local branch along the first parents, oldest first.

    If a detached checkout has no local branch, the same branch of ``origin`` is read.

    Raises:
        WatchError: this is not a repository, it is a shallow clone, or it has no such branch.
    """
    check_complete(repository)
    branches = f"refs/heads/{branch}", f"refs/remotes/origin/{branch}"
    reference = next((name for name in branches if find_commit(repository, name)), "")
    if not reference:
        raise WatchError(
            f"{repository} has no branch {branch!r} (a detached checkout has none, "
            "a new repository has no commits): run "
            f"`git fetch origin {branch}:{branch}` or `git branch {branch}`"
        )
    options = ("--decorate=short", "--decorate-refs=refs/tags/*", "--first-parent", "--reverse")
    log = read_log(repository, "%H%x09%ct%x09%D%x09%s", *options, reference)
    return tuple(
        Commit(commit, int(date), subject, _tags(decoration), position)
        for position, (commit, date, decoration, subject) in enumerate(log)
    )


def _tags(decoration: str) -> tuple[str, ...]:
    """Return the tags that git writes as ``tag: v1.0, tag: v1.1``, in the order of releases."""
    parts = [part.partition("tag: ") for part in decoration.split(", ")]
    return tuple(sorted((tag for _, _, tag in parts if tag), key=release_order))


def check_complete(repository: Path) -> None:
    """Refuse a folder in which git cannot see every commit, such as a shallow clone."""
    if not repository.is_dir():
        raise WatchError(f"{repository} is not a folder: give the path of a git checkout")
    if run_git(repository, "rev-parse", "--is-shallow-repository").strip() == "true":
        raise WatchError(
            f"{repository} is a shallow clone, whose history ends early: "
            "run `git fetch --unshallow --tags`"
        )


def read_log(repository: Path, fields: str, *arguments: str) -> list[list[str]]:
    """Read fields of commits with `git log`: git's placeholders, separated by ``%x09`` (a tab)."""
    settings = ("-c", "log.showSignature=false", "-c", "i18n.logOutputEncoding=UTF-8")
    log = run_git(repository, *settings, "log", "-z", f"--format={fields}", *arguments, "--")
    most = fields.count("%x09")
    return [record.split("\t", most) for record in log.split("\0") if record]


def run_git(repository: Path, *arguments: str, **variables: str) -> str:
    """Run git in a repository and return what it prints.

    Variables such as ``GIT_DIR`` are ignored: ``repository`` alone says which one is meant.
    Those that are given here are set.

    Raises:
        WatchError: git is missing or fails; the message quotes git's first line.
    """
    done = _run(repository, *arguments, **variables)
    if done.returncode != 0:
        lines = done.stderr.decode("utf-8", "replace").strip().splitlines()
        message = lines[0] if lines else f"exit status {done.returncode}"
        if "dubious ownership" in message:
            raise WatchError(
                f"{repository} belongs to another user, so git does not read it; work in a clone "
                f"of your own, or run `git config --global --add safe.directory {repository}`"
            )
        raise WatchError(
            f"{repository} is not a git checkout that git can read ({message}); give the path of "
            "one, such as from `git clone <address>`"
        )
    return done.stdout.decode("utf-8", "replace")


def find_commit(repository: Path, name: str) -> str:
    """Return the full hash of the commit that a hash, tag or branch names; empty if none does."""
    options = ("--verify", "--quiet", "--end-of-options")
    full_hash = ask_git(repository, "rev-parse", *options, f"{name}^{{commit}}")
    return full_hash if is_full_hash(full_hash) else ""  # git negates `^HEAD`


def ask_git(repository: Path, *arguments: str) -> str:
    """Run git in a repository; return what it prints, stripped, or ``""`` if it fails."""
    done = _run(repository, *arguments)
    return done.stdout.decode("utf-8", "replace").strip() if done.returncode == 0 else ""


def commits_changing(repository: Path, span: str, paths: Sequence[str]) -> list[str]:
    """List the hashes of commits along the first parents that change a file below the paths.

    The span is a commit, with all before it, or ``BEFORE..AFTER``. The oldest comes first; without
    paths, all are listed.
    """
    return ask_git(
        repository, "rev-list", "--first-parent", "--reverse", span, "--", *paths
    ).split()


def working_tree_commit(repository: Path, left_out: Iterable[Path]) -> str:
    """Return a commit of the working tree, untracked files that git does not ignore included.

    It has no name, and neither branches nor git's index change. Equal trees give the same commit;
    if nothing differs from HEAD, it is HEAD. Files in folders that are left out, such as results,
    stay as they are in HEAD.

    Raises:
        WatchError: the repository has no working tree, or git fails.
    """
    if ask_git(repository, "rev-parse", "--is-inside-work-tree") != "true":
        raise WatchError(
            f'{repository} has no working tree, which . means; name commits, or let "repo" of '
            "asv.conf.json be the path of a checkout"
        )
    top = Path(top_of(repository)).resolve()
    inside = [path.relative_to(top) for path in left_out if path.is_relative_to(top)]
    paths = ("--", ".", *(f":(exclude,literal){path}" for path in inside))
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as folder:
        index, names = {"GIT_INDEX_FILE": f"{folder}/index"}, Path(folder, "names")
        run_git(top, "read-tree", "HEAD", **index)
        run_git(top, "add", "--update", *paths, **index)
        others = ("ls-files", "-z", "--others", "--exclude-standard", *paths)
        untracked = run_git(top, *others, **index).split("\0")
        # A name with a slash at its end is another repository.
        names.write_text("\0".join(name for name in untracked if not name.endswith("/")))
        files = (f"--pathspec-from-file={names}", "--pathspec-file-nul")
        run_git(top, "--literal-pathspecs", "add", *files, **index)
        tree = run_git(top, "write-tree", **index).strip()
    head, of_head, date = ask_git(top, "log", "-1", "--format=%H %T %ct").split()
    if tree == of_head:
        return head
    author = ("-c", "user.name=asv-watch", "-c", "user.email=asv-watch@localhost")
    made = ("commit-tree", tree, "-p", head, "-m", "The working tree")
    dates = dict.fromkeys(("GIT_AUTHOR_DATE", "GIT_COMMITTER_DATE"), f"@{date} +0000")
    return run_git(top, *author, *made, **dates).strip()


def top_of(repository: Path) -> str:
    """Return the folder that asv takes as a repository: the top of a checkout, or a bare one."""
    return ask_git(repository, "rev-parse", "--show-toplevel") or str(repository)


def export_commit(repository: Path, commit: str, folder: Path) -> None:
    """Put the files of a commit below a folder, and leave the checkout as it is.

    git itself checks it out, since it never writes through a link of the commit.

    Raises:
        WatchError: git fails.
    """
    folder.mkdir(parents=True, exist_ok=True)
    options = ("-c", "core.hooksPath=/dev/null", f"--work-tree={folder.absolute()}")
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as temporary:
        index = {"GIT_INDEX_FILE": f"{temporary}/index"}
        run_git(repository, *options, "checkout", "--quiet", "--force", commit, "--", ".", **index)


def _run(
    repository: Path, *arguments: str, **variables: str
) -> subprocess.CompletedProcess[bytes]:
    own = {name: value for name, value in os.environ.items() if name not in _REDIRECTIONS}
    try:
        return subprocess.run(
            ["git", "-C", str(repository), *arguments],
            capture_output=True,
            check=False,
            env=own | {"LC_ALL": "C"} | variables,
        )
    except FileNotFoundError as error:
        raise WatchError("git was not found: install git and put it on PATH") from error


@dataclass(frozen=True)
class Ancestry:
    """The commits of a branch, each with the commits that its merge brought in."""

    commits: Sequence[Commit]
    """Oldest first; merged ones come before their merge and have its position."""
    touching: Collection[str] = ()
    """Hashes of the commits that change a file below the paths."""
    paths: tuple[str, ...] = ()
    """Files and folders to look at; empty for all files."""

    @cached_property
    def _positions(self) -> dict[str, int]:
        return {commit.hash: commit.position for commit in self.commits}

    def between(self, before: str, after: str) -> Sequence[Commit]:
        """List the commits after ``before``, up to and including ``after``, newest first."""
        first, last = (
            bisect_right(self.commits, self._positions[end], key=attrgetter("position"))
            for end in (before, after)
        )
        return self.commits[first:last][::-1]

    def suspects(self, before: str, after: str) -> Sequence[str]:
        """List the hashes of the branch's commits in between that may have changed a value.

        Such a commit changed a file below the paths, or merged one that did. If there are no paths
        or no such commits, all commits in between are listed, oldest first.
        """
        between = self.between(before, after)[::-1]
        hashes = {commit.position: commit.hash for commit in between}  # a merge comes last
        changing = {commit.position for commit in between if commit.hash in self.touching}
        positions = changing if self.paths and changing else hashes
        return [hashes[position] for position in sorted(positions)]


def read_ancestry(
    repository: Path, line: Sequence[Commit], since: str, paths: Sequence[str] = ()
) -> Ancestry:
    """Read the commits of a branch after one of them, with those that each merge brought in.

    ``line`` has commits of the branch along the first parents, oldest first; some may be missing.
    ``since`` is the full hash of one of them. Paths that the newest commit lacks are ignored.
    """
    first = next(index for index, commit in enumerate(line) if commit.hash == since)
    if line[-1].hash == since:
        return Ancestry(line)
    reach = [line[-1].hash, f"^{since}"]
    listing = ask_git(repository, "ls-tree", "-r", "-t", "--name-only", reach[0]) if paths else ""
    tree = set(listing.splitlines())
    known = tuple(path for path in paths if path in tree)
    log = read_log(repository, "%H%x09%P%x09%ct%x09%s", "--topo-order", *reach)
    unmerged = ("--full-history", "--no-merges", *reach, "--", *known)
    touching = frozenset(run_git(repository, "rev-list", *unmerged).split())
    first_parents = commits_changing(repository, f"{since}..{line[-1].hash}", ())
    positions = {commit: n for n, commit in enumerate(first_parents, line[first].position + 1)}
    for commit, parents, *_ in log:  # children come first
        own = positions[commit]
        for parent in parents.split():  # the oldest child of a merged commit brought it in
            positions[parent] = min(own, positions.get(parent, own))
    newer = [
        Commit(commit, int(date), subject, position=positions[commit])
        for commit, _, date, subject in reversed(log)
    ]
    newer.sort(key=attrgetter("position"))
    return Ancestry([*line[: first + 1], *newer], touching, known)
