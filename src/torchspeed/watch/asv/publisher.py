"""The asv plugin that makes `asv publish` build this site instead of asv's pages.

asv loads it as ``"plugins": [".torchspeed.watch.asv.publisher"]`` of asv.conf.json and calls
`setup`, which replaces ``Publish.run``. An ``OutputPublisher``, asv's own way to add a page,
would not do: asv deletes the published site before it reads its first input, and stops with a
traceback at many of them. See ``docs/site.md``.
"""

from __future__ import annotations

import gc
import hashlib
import json
import os
import shutil
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from asv.commands.publish import Publish
from asv.console import log
from asv.repo import get_repo
from asv.util import ProcessError, UserError

from torchspeed.errors import TorchspeedError
from torchspeed.files import digest
from torchspeed.published.values import site_rows
from torchspeed.watch.asv.settings import measured_paths
from torchspeed.watch.history.ancestry import Ancestry, read_ancestry
from torchspeed.watch.history.git import read_commits
from torchspeed.watch.history.records import Commit
from torchspeed.watch.site.swap import MANIFEST, RUNS, STEPS, swapped_in

_WATCH = Path(__file__).parents[1]
_DEEPEST = 4
"""Folders below that of the results, or of the site, that a file lies in at most."""


def setup() -> None:
    """Replace what `asv publish` does: asv calls this when it has loaded the plugin."""

    def run(
        _: Any, conf: Any, range_spec: str | list[str] | None = None, pull: bool = True
    ) -> int:
        try:
            with _no_cycle_collection():
                return _publish(conf, range_spec, pull)
        except TorchspeedError as error:
            # asv prints a UserError as one line and exits with status 1.
            raise UserError(str(error)) from error

    Publish.run = classmethod(run)


@contextmanager
def _no_cycle_collection() -> Iterator[None]:
    """Switch off Python's cycle collector: it takes a tenth of the time and frees little."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


def _publish(conf: Any, range_spec: str | list[str] | None, pull: bool) -> int:
    """Publish to ``conf.html_dir``; the exit status is 1 if results had to be left out."""
    results, site = Path(conf.results_dir), Path(conf.html_dir)
    if shutil.which("git") is None:
        raise TorchspeedError("git was not found: install git and put it on PATH")
    repo = get_repo(conf)
    if pull:
        repo.pull()
    commits = read_commits(Path(repo._path), repo.get_branch_name(conf.branches[0]))
    if range_spec is not None:
        hashes = set(_hashes_of(repo, range_spec))
        commits = tuple(commit for commit in commits if commit.hash in hashes)
    digests: dict[str, str] = {}
    inputs = _inputs(conf, commits, results, digests)
    if _is_up_to_date(site, inputs):
        log.info(f"Nothing has changed: the site in {conf.html_dir} is left as it is")
        return 0
    # Every asv command loads this plugin, and numpy and jinja2 take longer to load than it
    # takes to find out that nothing has changed.
    from torchspeed.watch.analysis.block_cache import BlockCache  # noqa: PLC0415
    from torchspeed.watch.analysis.findings import analyse  # noqa: PLC0415
    from torchspeed.watch.history.loading import load_history  # noqa: PLC0415
    from torchspeed.watch.history.run_cache import RunCache  # noqa: PLC0415
    from torchspeed.watch.site.build import build_site  # noqa: PLC0415
    from torchspeed.watch.site.contents import contents_of, in_order  # noqa: PLC0415

    generated = _now()
    with swapped_in(site) as fresh:
        runs = RunCache(results, site / RUNS, digests)
        history = in_order(load_history(results, commits, runs))
        runs.write(fresh / RUNS)
        cache = BlockCache(site / STEPS)
        findings = analyse(history, cache)
        cache.write(fresh / STEPS)
        ancestry = Ancestry(commits)
        if findings.changes:
            since = min(change.previous for change in findings.changes)
            since_hash = history.commits[since].hash
            ancestry = read_ancestry(Path(repo._path), commits, since_hash, measured_paths(conf))
        contents = contents_of(history, findings, ancestry)
        build_site(
            fresh,
            contents,
            generated=generated,
            project=_project(conf),
            published=tuple(site_rows()) if contents.layout.of_models else (),
        )
        manifest = {
            "inputs": "" if history.problems else inputs,
            "contents": _contents(fresh),
        }
        (fresh / MANIFEST).write_text(json.dumps(manifest) + "\n", encoding="utf-8")
    log.info(f"The site is in {conf.html_dir}: `asv preview` shows it")
    for reason, count in Counter(left_out.reason for left_out in history.left_out).items():
        log.info(f"Left out, as the status page lists: {reason} ({count})")
    # Without a line, or a file of lines, reasons or comparisons are missing, but no results.
    damaged = [problem for problem in history.problems if not problem.path.endswith(".jsonl")]
    for problem in history.problems:
        if problem not in damaged[:1]:
            log.warning(f"left out of the site: {problem.path}: {problem.message}")
    if damaged:
        others = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
        log.error(
            f"the site was published without {damaged[0].path} ({damaged[0].message}){others}; "
            "mend or remove it (`git checkout` brings a tracked file back), then publish again"
        )
    return 1 if damaged else 0


def _hashes_of(repo: Any, range_spec: str | list[str]) -> list[str]:
    if isinstance(range_spec, list):
        return range_spec
    try:
        hashes: list[str] = repo.get_hashes_from_range(range_spec)
    except ProcessError as error:
        raise TorchspeedError(
            f"git knows no range {range_spec!r}: give one such as v0.1..main"
        ) from error
    return hashes


def _project(conf: Any) -> dict[str, str]:
    """Return what the pages say of the project; asv's ``#`` means that there is no address.

    ``site_url`` is a key of ours in asv.conf.json: where the site will be served.
    """

    def address(text: str) -> str:
        return text if text.startswith(("https://", "http://")) else ""

    site = address(str(getattr(conf, "site_url", "")))
    return {
        "name": str(conf.project),
        "url": address(str(conf.project_url)),
        "commit_url": address(str(conf.show_commit_url)),
        "site": f"{site.rstrip('/')}/" if site else "",
    }


def _now() -> int:
    """Return seconds since the epoch, or ``SOURCE_DATE_EPOCH`` for reproducible builds."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    return int(given) if given.isdigit() else int(time.time())


def _inputs(conf: Any, commits: tuple[Commit, ...], results: Path, digests: dict[str, str]) -> str:
    """Return a digest of all that the site depends on: results, history, settings and code.

    Args:
        conf: asv's settings.
        commits: The branch.
        results: Folder of the results.
        digests: Gets the digest of each file of the results and of the code, by its path.
    """
    state = hashlib.blake2b(digest_size=16)
    settings = {key: value for key, value in vars(conf).items() if key != "html_dir"}
    versions = [f"{name} {metadata.version(name)}" for name in ("asv", "jinja2", "pillow")]
    state.update(repr((sorted(settings.items()), commits, versions)).encode("utf-8", "replace"))
    for folder in (_WATCH, results):
        _add_files(state, folder, {"__pycache__"}, digests)
    return state.hexdigest()


def _contents(site: Path) -> str:
    """Return the digest of a published site, names and contents; caches have their own."""
    state = hashlib.blake2b(digest_size=16)
    _add_files(state, site, {MANIFEST, RUNS, STEPS}, {})
    return state.hexdigest()


def _add_files(state: Any, folder: Path, skip: Set[str], digests: dict[str, str]) -> None:
    for name in sorted(_files(folder)):
        path = os.path.join(folder, name)
        if not skip.isdisjoint(name.split(os.sep)) or name == ".gitignore":
            continue
        digests[path] = digest(path)  # what cannot be read is named by the reader of the results
        state.update(f"{name}\0{digests[path]}\0".encode("utf-8", "surrogateescape"))


def _files(folder: Path) -> Iterable[str]:
    """Paths of the files below a folder; links are followed, and a loop of links ends."""
    for root, folders, files in os.walk(folder, followlinks=True):
        below = os.path.relpath(root, folder)
        if below.count(os.sep) >= _DEEPEST:
            folders.clear()
        front = "" if below == os.curdir else below + os.sep
        for file in files:
            yield front + file


def _is_up_to_date(site: Path, inputs: str) -> bool:
    """Tell whether the folder holds, whole and untouched, what these inputs would give."""
    try:
        manifest = json.loads((site / MANIFEST).read_text(encoding="utf-8"))
        return bool(
            manifest["inputs"] == inputs
            and manifest["contents"] == _contents(site)
            and (site / ".gitignore").exists()
        )
    except (OSError, ValueError, TypeError, KeyError):
        return False
