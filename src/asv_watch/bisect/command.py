"""Finds which commit, or which release of a requirement, changed a case."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from asv_watch.asv.selection import EVERYTHING, matching
from asv_watch.bisect.search import Culprit, candidates_between
from asv_watch.bisect.search import bisect as narrow
from asv_watch.checkout.workplace import open_workplace
from asv_watch.exit_status import ExitStatus
from asv_watch.interleave.cases import find_case
from asv_watch.interleave.sides import side
from asv_watch.options import SIDE, Machine, OneCase
from asv_watch.quantities import measured
from asv_watch.records.git import ask_git


def bisect(
    *,
    cases: OneCase,
    before: Annotated[str, typer.Option(metavar=SIDE, help="Where the range begins.")],
    after: Annotated[
        str,
        typer.Option(metavar=SIDE, help="Where it ends: a later commit, or another release."),
    ] = "HEAD",
    machine: Machine = "",
) -> ExitStatus:
    """Narrow the change of one case between two sides, and print what changed it.

    Raises:
        WatchError: the pattern matches no case or several, there is no range between the
            sides, or noise hides the change.
    """
    selection = matching(cases, otherwise=EVERYTHING)
    with open_workplace(Path.cwd(), "bisect", release="all", machine=machine) as place:
        candidates = candidates_between(place, before, after)
        ends = [side(place, text).environment for text in (candidates[0], candidates[-1])]
        case = find_case(place, ends, selection)
        print(f"{case.name}: {len(candidates)} candidates", flush=True)
        culprits = narrow(place, case, candidates)
    if not culprits:
        print("\nThe ends of the range do not differ.")
    for culprit in culprits:
        print(f"\n{describe_culprit(place.configuration.repository, culprit)}")
    return ExitStatus.DONE


def describe_culprit(repository: Path, culprit: Culprit) -> str:
    """Return the size of a change and the commit or release that made it."""
    before, after = culprit.before, culprit.after
    assert after.version is not None  # noqa: S101 - candidates are commits
    subject = ask_git(repository, "log", "-1", "--format=%h %s", after.version.commit)
    same_commit = before.version is not None and before.version.commit == after.version.commit
    what = after.environment.label if same_commit else subject
    if culprit.between:
        earlier = "the version" if culprit.between == 1 else f"one of {culprit.between} versions"
        what += f", or {earlier} before it, without a clear result"
    ratio = culprit.ratio
    size = measured(ratio.ratio, ratio.interval, ratio.kind)
    return f"{size}: {what} (after {before.name})"
