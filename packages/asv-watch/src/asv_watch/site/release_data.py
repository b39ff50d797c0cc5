"""The data of the view of releases: ratios between neighbours, lines over all, findings.

Each ratio is of an interleaved comparison of a release with the one before it, by the same commit
of the project.
"""

from collections.abc import Mapping, Sequence, Set
from typing import Any, Literal, Self

import msgspec

from asv_watch.comparison import Metric, Outcome, Ratio, import_case, metric_of
from asv_watch.judge.graph import noise_in_words
from asv_watch.judge.release_history import ReleaseHistory, ReleaseStep, failed_releases
from asv_watch.site import names
from asv_watch.site.cases import CaseTable
from asv_watch.site.causes import ReleaseCauses
from asv_watch.site.contents import Contents
from asv_watch.site.scripts import shortened, shortened_ends
from asv_watch.statistics.rule import MINIMUM_EFFECT, Verdict
from asv_watch.text import quantities


class Compared(msgspec.Struct, kw_only=True):
    """The ratio of two versions by all interleaved comparisons that lead from one to the other."""

    ratio: float
    interval: tuple[float, float]
    verdict: Verdict
    text: str
    interval_text: str

    @classmethod
    def of(cls, ratio: Ratio, **others: Any) -> Self:
        """Return what the page shows of a ratio, with the fields of a subclass."""
        return cls(
            ratio=shortened(ratio.ratio, 7),
            interval=shortened_ends(ratio.interval),
            verdict=ratio.verdict,
            text=quantities.change(ratio.ratio, ratio.metric),
            interval_text=quantities.interval(ratio.interval, ratio.clock),
            **others,
        )


class StepRatio(Compared):
    """A case between two neighbouring releases."""

    case: int
    """Index in ``cases`` of the history."""
    days: str
    """How many days show a difference by themselves."""
    pale: bool
    """Whether it is below 5 %, and fewer than two days show it."""
    metric: Metric
    cause: str
    """The operator that accounts for a time that differs, where a profile shows it."""


class Unmeasured(msgspec.Struct):
    """A case without a ratio between two neighbouring releases."""

    case: int
    outcome: Literal["skipped", "failed"]
    reason: str


class ReleaseStepData(msgspec.Struct):
    """One release against the one before it."""

    before: str
    after: str
    ratios: list[StepRatio]
    unmeasured: list[Unmeasured]


class ReleaseCase(msgspec.Struct):
    """A case that releases were compared with."""

    key: str
    """Empty where the case has no page."""
    title: str
    main: bool
    """Whether it has a chart, and counts for means."""
    metric: Metric
    times: list[tuple[int, float, float, float]]
    """Release, value relative to the newest release, and its interval; the oldest first."""


class FailedRelease(msgspec.Struct):
    """A release that could not be measured."""

    version: str
    reason: str


class ReleaseHistoryData(msgspec.Struct):
    """The releases of a requirement that a machine compared; ``releases.js`` lists them."""

    machine: str
    cpu: str
    package: str
    """The requirement; empty for the versions of the project."""
    versions: tuple[str, ...]
    """Oldest first."""
    cases: list[ReleaseCase]
    steps: list[ReleaseStepData]
    """The newest release first."""
    method: list[str]
    failed: list[FailedRelease]


def release_data(contents: Contents) -> list[ReleaseHistoryData]:
    """Return the findings of each machine that compared releases, the latest measurement first.

    Cases of the main groups have a chart; all others stand in tables alone.
    """
    return [_history_data(history, contents) for history in contents.findings.release_histories]


def _history_data(history: ReleaseHistory, contents: Contents) -> ReleaseHistoryData:
    steps, known = history.steps, contents.cases.index_of
    measured = {case for step in steps for case in step.commits}
    cases = sorted(measured, key=lambda case: (known.get(case, len(known)), case))
    index_of = {case: index for index, case in enumerate(cases)}
    causes = ReleaseCauses(history, contents)
    summed = summed_up([history], contents.cases)
    failed = failed_releases(history.graphs.comparisons, history.requirement)
    return ReleaseHistoryData(
        history.machine,
        contents.history.machines[history.machine].facts.get("cpu", ""),
        history.requirement,
        history.releases,
        [_case(history, contents.cases, case, is_main=case in summed) for case in cases],
        [_step(step, index_of, causes) for step in steps],
        _method(history),
        [
            FailedRelease(str(release), names.exception_line(reason))
            for release, reason in failed.items()
        ],
    )


def _case(history: ReleaseHistory, table: CaseTable, case: str, *, is_main: bool) -> ReleaseCase:
    summary = table.summaries.get(case)
    times = [
        (history.releases.index(release), shortened(ratio.ratio), *shortened_ends(ratio.interval))
        for release, ratio in history.relative.get(case, {}).items()
    ]
    newest = [(len(history.releases) - 1, 1.0, 1.0, 1.0)] if times else []
    return ReleaseCase(
        case if summary else "",
        table.title(case),
        is_main,
        metric_of(summary.metric.unit) if summary else "time",
        times + newest,
    )


def summed_up(histories: Sequence[ReleaseHistory], table: CaseTable) -> Set[str]:
    """Return the cases that counts include: those of the first screen, or all without any.

    The cost of an import is never included.
    """
    cases = {case for history in histories for step in history.steps for case in step.ratios}
    cases -= {import_case(history.requirement) for history in histories}
    main = {
        case
        for case in cases
        if case in table.summaries and table.summaries[case].group in table.main_groups
    }
    return main or cases


def _step(
    step: ReleaseStep, index_of: Mapping[str, int], causes: ReleaseCauses
) -> ReleaseStepData:
    ratios = [
        StepRatio.of(
            ratio,
            case=index_of[case],
            days=ratio.days_in_words,
            pale=ratio.needs_second_day,
            metric=ratio.metric,
            cause=causes.operator(step, ratio),
        )
        for case, ratio in step.ratios.items()
        if not ratio.exact
    ]
    unmeasured = [
        Unmeasured(
            index_of[case],
            "skipped" if outcome is Outcome.SKIPPED else "failed",
            names.exception_line(reason),
        )
        for case, (outcome, reason) in step.unmeasured.items()
        if case not in step.ratios
    ]
    return ReleaseStepData(step.before, step.after, ratios, unmeasured)


def _method(history: ReleaseHistory) -> list[str]:
    between = history.graphs.usual_between["time"]
    sentences = [
        "Each release is compared with the one before it. Samples of both are interleaved.",
        "Some are also compared with other releases, and a ratio uses all of these comparisons.",
        "Both sides run the same commit of the project."
        if history.requirement
        else "Both sides run in the same environment.",
        "A change is new time / old time, with its 99 % confidence interval.",
        "It counts where the interval excludes 0 and it is at least "
        f"{quantities.share(MINIMUM_EFFECT)}.",
        "About one interval in a hundred excludes the true ratio by chance.",
        f"Ratios of times vary by {quantities.share(between)} from one sitting to another on this "
        "machine (standard deviation, root mean square of its cases); intervals include that of "
        "their case.",
    ]
    if ratios := history.null_ratios:
        count = quantities.counted(len(ratios), "comparison")
        noise = noise_in_words(ratios)
        sentences.append(f"{count} of a release with itself differ by {noise}.")
    return sentences
