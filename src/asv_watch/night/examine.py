"""Examines measured changes: narrows each to one commit, and names its operators.

A change is *narrowed* by a bisection where several commits lie between the two that were compared,
and then *explained* operator by operator. Both are stored where `asv_watch.judge` finds them.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from asv_watch.asv.selection import Selection
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.bisect import candidates_between, describe_culprit, find_culprits
from asv_watch.explain import explain_case
from asv_watch.interleave.cases import find_case
from asv_watch.interleave.sides import side
from asv_watch.judge.causes import in_words
from asv_watch.night.queue import Situation
from asv_watch.records.git import ask_git
from asv_watch.workplace import Workplace


@dataclass(frozen=True, slots=True)
class Examination:
    """What is not known yet about a measured change: its commit, or its operators."""

    what: Literal["bisect", "explain"]
    case: str
    environment: EnvironmentSpec
    before: str
    """Hash of the last commit that is known to come before the change."""
    after: str
    """Hash of the first commit that is known to come after it."""

    def run(self, place: Workplace) -> str:
        """Examine the change and store the result.

        Returns:
            Why that did not succeed; empty if it did.

        Raises:
            WatchError: a version or the case cannot be measured.
        """
        version = self.environment.version
        names = f"{self.before}@{version}", f"{self.after}@{version}"
        sides = side(place, names[0]), side(place, names[1])
        only = Selection(f"^{re.escape(self.case)}$")
        case = find_case(place, sides[:1], only)
        if self.what == "explain":
            print(f"  {in_words(explain_case(place, sides, case))}", flush=True)
            return ""
        candidates = candidates_between(place, *names)
        culprits = find_culprits(place, case, candidates)
        for culprit in culprits:
            print(f"  {describe_culprit(place.configuration.repository, culprit)}", flush=True)
        narrowed = any(culprit.between + 2 < len(candidates) for culprit in culprits)
        return "" if narrowed else "no commit between the two gave a clear result"


@functools.cache  # a night looks at its queue after every task
def _count_candidates(repository: Path, before: str, after: str, package: str) -> int:
    """Count the commits after ``before``, up to ``after``, that change the package."""
    paths = [package] if package else []
    span = ("--first-parent", "--count", f"{before}..{after}", "--", *paths)
    return int(ask_git(repository, "rev-list", *span) or 0)


def examinations(situation: Situation) -> Iterator[Examination]:
    """Yield what is not known yet about the measured changes of this machine."""
    history, configuration = situation.history, situation.configuration
    if history is None:
        return
    by_release = {environment.release: environment for environment in situation.environments}
    for change in situation.changes:
        series = history.series[change.series]
        environment = by_release.get(history.environments[series.environment].release)
        on_cpu = not configuration.declared.uses_gpu(series.case.name)
        is_ours = series.machine == situation.machine and on_cpu
        if environment is None or not is_ours or not change.is_measured:
            continue
        ends = (history.commits[index].hash for index in (change.previous, change.commit))
        before, after = change.made_by or ends
        candidates = _count_candidates(
            configuration.repository, before, after, configuration.package
        )
        if candidates > 1:
            yield Examination("bisect", series.case.name, environment, before, after)
        is_explained = change.explanation is not None or change.kind != "time"
        if not is_explained and configuration.declared.profiler is not None:
            yield Examination("explain", series.case.name, environment, before, after)
