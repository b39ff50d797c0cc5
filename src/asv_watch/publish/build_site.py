"""Builds the site of a project where anything that it depends on has changed."""

from __future__ import annotations

import gc
import hashlib
import json
import os
import time
from collections import Counter
from collections.abc import Iterable, Iterator, Set
from contextlib import contextmanager
from importlib import metadata
from pathlib import Path
from typing import Any

from asv_watch.asv import publish_hook
from asv_watch.asv.publish_hook import PublishRequest
from asv_watch.files import digest
from asv_watch.records.git import Ancestry, read_ancestry, read_commits
from asv_watch.records.records import Commit
from asv_watch.site.published import read_published
from asv_watch.site.swap import MANIFEST, STEPS, swapped_in

_WATCH = Path(__file__).parents[1]
_DEEPEST = 4
"""Folders below that of the results, or of the site, that a file lies in at most."""


def setup() -> None:
    """Make `asv publish` build this site; asv calls this when it loads the plugin."""
    publish_hook.setup(publish_site)


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


def publish_site(request: PublishRequest, log: Any) -> int:
    """Publish the site of a project, unless nothing has changed since it was published.

    Returns:
        The exit status: 1 if results had to be left out.

    Raises:
        WatchError: the site cannot be written; the old one stays.
    """
    with _no_cycle_collection():
        return _publish(request, log)


def _publish(request: PublishRequest, log: Any) -> int:
    results, site = request.results, request.site
    commits = read_commits(request.repository, request.branch)
    if request.hashes is not None:
        commits = tuple(commit for commit in commits if commit.hash in request.hashes)
    inputs = _inputs(request, commits)
    if _is_up_to_date(site, inputs):
        log.info(f"Nothing has changed: the site in {site} is left as it is")
        return 0
    # Every asv command loads this plugin, and numpy and jinja2 take longer to load than it
    # takes to find out that nothing has changed.
    from asv_watch.judge.findings import analyse  # noqa: PLC0415
    from asv_watch.records.loading import load_history  # noqa: PLC0415
    from asv_watch.site.build import build_site  # noqa: PLC0415
    from asv_watch.site.contents import contents_of, in_order  # noqa: PLC0415
    from asv_watch.statistics.block_cache import BlockCache  # noqa: PLC0415

    generated = _now()
    with swapped_in(site) as fresh:
        history = in_order(load_history(results, commits))
        cache = BlockCache(site / STEPS)
        findings = analyse(history, cache)
        cache.write(fresh / STEPS)
        ancestry = Ancestry(commits)
        if findings.changes:
            since = min(change.previous for change in findings.changes)
            since_hash = history.commits[since].hash
            ancestry = read_ancestry(
                request.repository, commits, since_hash, request.measured_paths
            )
        contents = contents_of(history, findings, ancestry)
        build_site(
            fresh,
            contents,
            generated=generated,
            project=request.project,
            published=read_published(request.published_values),
        )
        manifest = {
            "inputs": "" if history.problems else inputs,
            "contents": _contents(fresh),
        }
        (fresh / MANIFEST).write_text(json.dumps(manifest) + "\n", encoding="utf-8")
    log.info(f"The site is in {site}: `asv-watch preview` shows it")
    for reason, count in Counter(left_out.reason for left_out in history.left_out).items():
        log.info(f"Left out, as About the data lists: {reason} ({count})")
    # Without a line, or a file of lines, reasons or comparisons are missing, but no results.
    damaged = [problem for problem in history.problems if not problem.path.endswith(".jsonl")]
    for problem in history.problems:
        if problem not in damaged[:1]:
            log.warning(f"left out of the site: {problem.path}: {problem.message}")
    if damaged:
        others = f" and {len(damaged) - 1} more" if len(damaged) > 1 else ""
        log.error(
            f"the site was published without {damaged[0].path} ({damaged[0].message}){others}; "
            "correct or remove it (`git checkout` brings a tracked file back), then publish again"
        )
    return 1 if damaged else 0


def _now() -> int:
    """Return seconds since the epoch, or ``SOURCE_DATE_EPOCH`` for reproducible builds."""
    given = os.environ.get("SOURCE_DATE_EPOCH", "")
    return int(given) if given.isdigit() else int(time.time())


def _inputs(request: PublishRequest, commits: tuple[Commit, ...]) -> str:
    """Return a digest of all that the site depends on: results, history, settings and code."""
    state = hashlib.blake2b(digest_size=16)
    versions = [f"{name} {metadata.version(name)}" for name in ("asv", "jinja2")]
    state.update(repr((request.settings, commits, versions)).encode("utf-8", "replace"))
    if request.published_values is not None:
        state.update(digest(request.published_values).encode())
    for folder in (_WATCH, request.results):
        _add_files(state, folder, {"__pycache__"})
    return state.hexdigest()


def _contents(site: Path) -> str:
    """Return the digest of a published site, names and contents; the cache has its own."""
    state = hashlib.blake2b(digest_size=16)
    _add_files(state, site, {MANIFEST, STEPS})
    return state.hexdigest()


def _add_files(state: Any, folder: Path, skip: Set[str]) -> None:
    for name in sorted(_files(folder)):
        if not skip.isdisjoint(name.split(os.sep)) or name == ".gitignore":
            continue
        # What cannot be read is named by the reader of the results.
        content = digest(os.path.join(folder, name))
        state.update(f"{name}\0{content}\0".encode("utf-8", "surrogateescape"))


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
