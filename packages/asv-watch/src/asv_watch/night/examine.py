"""Examines measured changes: narrows each to one commit, and names its operators.

A change is *narrowed* by a bisection where several commits lie between the two that were compared,
and then *explained* operator by operator. Both are stored where `asv_watch.judge` finds them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

from asv_watch.asv.selection import Selection
from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.bench import Tally
from asv_watch.bisect import candidates_between, describe_culprit, find_culprits
from asv_watch.engine.cases import find_case
from asv_watch.engine.sides import side
from asv_watch.explain import explain_case
from asv_watch.judge.causes import in_words
from asv_watch.night.queue import Situation, Task


def measured_changes(situation: Situation) -> Iterator[Task]:
    """Yield the tasks that narrow or explain measured changes, the newest commits first."""
    history, workplace = situation.history, situation.workplace
    if history is None:
        return
    by_release = {environment.release: environment for environment in workplace.environments}
    for change in situation.changes:
        series = history.series[change.series]
        environment = by_release.get(history.environments[series.environment].release)
        on_cpu = not workplace.declared.uses_gpu(series.case.name)
        is_ours = series.machine == workplace.machine and on_cpu
        if environment is None or not is_ours or not change.is_measured:
            continue
        between = history.commits[change.previous].hash, history.commits[change.commit].hash
        first, last = (history.positions[hash_] for hash_ in between)
        if sum(first < commit.position <= last for commit in situation.commits) > 1:
            yield _task("bisect", series.case.name, environment, between)
        is_explained = change.explanation is not None or change.kind != "time"
        if not is_explained and workplace.declared.profiler is not None:
            yield _task("explain", series.case.name, environment, between)


def _task(
    kind: Literal["bisect", "explain"],
    case_name: str,
    environment: EnvironmentSpec,
    between: tuple[str, str],
) -> Task:
    before, after = between
    name = f"{kind} {case_name} {before}..{after} {environment.name}"
    description = f"{kind} {case_name} between {before[:8]} and {after[:8]}, {environment.label}"

    def is_done(situation: Situation) -> bool:
        return all(task.name != name for task in measured_changes(situation))

    def run(situation: Situation, _: Tally) -> str:
        print(description, flush=True)
        workplace = situation.workplace
        ends = [f"{commit}@{environment.version}" for commit in between]
        sides = side(workplace, ends[0]), side(workplace, ends[1])
        case = find_case(workplace, sides[:1], Selection(f"^{re.escape(case_name)}$"))
        if kind == "explain":
            explanation = explain_case(workplace, sides, case)
            layout = workplace.declared.layout
            print(f"  {in_words(explanation, layout=layout)}", flush=True)
            return ""
        candidates = candidates_between(workplace, *ends)
        culprits = find_culprits(workplace, case, candidates)
        for culprit in culprits:
            print(f"  {describe_culprit(workplace.configuration.repository, culprit)}", flush=True)
        narrowed = any(culprit.between + 2 < len(candidates) for culprit in culprits)
        return "" if narrowed else "no commit between the two gave a clear result"

    return Task(name, description, "measured change", (environment,), is_done, run)
