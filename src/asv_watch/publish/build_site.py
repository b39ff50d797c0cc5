"""Builds the site of a project from its stored results."""

from __future__ import annotations

import os
import time
from collections import Counter
from typing import Any

from asv_watch.asv import publish_hook
from asv_watch.asv.publish_hook import PublishRequest


def setup() -> None:
    """Make `asv publish` build this site; asv calls this when it loads the plugin."""
    publish_hook.setup(publish_site)


def publish_site(request: PublishRequest, log: Any) -> int:
    """Publish the site of a project.

    Returns:
        The exit status: 1 if results had to be left out.

    Raises:
        WatchError: the site cannot be written; the old one stays.
    """
    # Every asv command loads this plugin, and these take a while to load.
    from asv_watch.judge.findings import analyse  # noqa: PLC0415
    from asv_watch.records.git import Ancestry, read_ancestry, read_commits  # noqa: PLC0415
    from asv_watch.records.loading import load_history  # noqa: PLC0415
    from asv_watch.site.build import build_site  # noqa: PLC0415
    from asv_watch.site.contents import contents_of, in_order  # noqa: PLC0415
    from asv_watch.site.declared_files import read_published, read_tables  # noqa: PLC0415
    from asv_watch.site.swap import swapped_in  # noqa: PLC0415

    commits = read_commits(request.repository, request.branch)
    if request.hashes is not None:
        commits = tuple(commit for commit in commits if commit.hash in request.hashes)
    with swapped_in(request.site) as fresh:
        history = in_order(load_history(request.results, commits))
        findings = analyse(history)
        ancestry = Ancestry(commits)
        if findings.changes:
            since = min(change.previous for change in findings.changes)
            since_hash = history.commits[since].hash
            ancestry = read_ancestry(
                request.repository, commits, since_hash, request.measured_paths
            )
        build_site(
            fresh,
            contents_of(history, findings, ancestry),
            generated=_now(),
            project=request.project,
            published=read_published(request.published_values),
            tables=read_tables(request.tables),
        )
    log.info(f"The site is in {request.site}: open its index.html")
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
