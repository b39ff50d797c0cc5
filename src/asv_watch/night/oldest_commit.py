"""Where a night stops going back: the key ``oldest_commit`` of asv.conf.json."""

from __future__ import annotations

import datetime
from collections.abc import Sequence
from pathlib import Path

from asv_watch.errors import WatchError
from asv_watch.records.git import ask_git
from asv_watch.records.records import Commit

_LONGEST_NUMBER = 6
"""Digits; what is longer is the hash of a commit."""


def since(oldest: str, commits: Sequence[Commit], repository: Path) -> tuple[Commit, ...]:
    """Return the commits from the oldest one that is to be measured.

    Args:
        oldest: a number of commits, a date such as ``2025-01-31``, or a commit, tag or branch;
            empty for all of them.
        commits: oldest first.
        repository: where they are.

    Raises:
        WatchError: it is none of these.
    """
    if oldest.isdecimal() and int(oldest) > 0 and len(oldest) <= _LONGEST_NUMBER:
        return tuple(commits[-int(oldest) :])
    if not oldest:
        return tuple(commits)
    try:
        day = datetime.datetime.fromisoformat(oldest).replace(tzinfo=datetime.UTC)
    except ValueError:
        revision = f"{oldest}^{{commit}}"
        options = ("--verify", "--quiet", "--end-of-options")
        found = ask_git(repository, "rev-parse", *options, revision)
        if not found:
            raise WatchError(
                f'"oldest_commit" of asv.conf.json is {oldest!r}: give a commit, a date such as '
                "2025-01-31, or how many commits to measure"
            ) from None
        earlier = set(ask_git(repository, "rev-list", f"{found}^@").split())
        return tuple(commit for commit in commits if commit.hash not in earlier)
    return tuple(commit for commit in commits if commit.date >= day.timestamp())
