"""The data of the view of releases: ratios between neighbours, lines over all, findings.

Each ratio is of an interleaved comparison of a release with the one before it, by the same commit
of the project. ``docs/answers.md`` describes the file.
"""

from collections.abc import Mapping, Sequence, Set
from statistics import geometric_mean

from asv_watch.comparison import Metric, Outcome, Ratio, import_case, metric_of
from asv_watch.judge.graph import MachineGraphs, noise_in_words
from asv_watch.judge.release_history import ReleaseHistory, ReleaseStep, failed_releases
from asv_watch.site import names
from asv_watch.site.case_table import CaseTable
from asv_watch.site.contents import Contents
from asv_watch.site.operators import ReleaseCauses
from asv_watch.site.scripts import Json, shortened
from asv_watch.statistics.rule import MINIMUM_EFFECT, Verdict
from asv_watch.text import quantities
from asv_watch.text.quantities import counted


def release_data(contents: Contents, table: CaseTable, main_groups: set[str]) -> list[Json]:
    """Return the findings of each machine that compared releases, the latest measurement first.

    Args:
        contents: What the site shows.
        table: Names of its cases.
        main_groups: Groups whose cases have a chart; all others stand in tables alone.
    """
    return [
        _history_data(history, contents, table, main_groups)
        for history in contents.findings.release_histories
    ]


def compared(ratio: Ratio) -> Json:
    """Return a ratio with its interval and values, in numbers and as text, and what it means."""
    return {
        "ratio": shortened(ratio.ratio),
        "interval": [shortened(end) for end in ratio.interval],
        "verdict": ratio.verdict.value,
        "text": quantities.change(ratio.ratio, ratio.metric),
        "interval_text": quantities.interval(ratio.interval, ratio.clock),
        "before_text": quantities.quantity(ratio.before, ratio.unit),
        "after_text": quantities.quantity(ratio.after, ratio.unit),
    }


def _history_data(
    history: ReleaseHistory, contents: Contents, table: CaseTable, main_groups: set[str]
) -> Json:
    steps = history.steps
    comparisons = contents.history.comparisons[history.machine]
    measured = {case for step in steps for case in step.commits}
    cases = sorted(
        measured, key=lambda case: (table.index_of.get(case, len(table.index_of)), case)
    )
    index_of = {case: index for index, case in enumerate(cases)}
    causes = ReleaseCauses(history, contents)
    summed = summed_up(history, table, main_groups)
    return {
        "machine": history.machine,
        "cpu": contents.history.machines[history.machine].facts.get("cpu", ""),
        "package": history.requirement,
        "versions": history.releases,
        "cases": [_case(history, table, case, is_main=case in summed) for case in cases],
        "steps": [_step(step, index_of, summed, causes) for step in steps],
        "method": _method(history, contents.findings.graphs[history.machine]),
        "failed": [
            {"version": str(release), "reason": names.exception_line(reason)}
            for release, reason in failed_releases(comparisons, history.requirement).items()
        ],
    }


def _case(history: ReleaseHistory, table: CaseTable, case: str, *, is_main: bool) -> Json:
    shown = table.find(case)
    relative = history.relative.get(case, {})
    return {
        "key": case if shown else "",
        "title": table.title(case),
        "main": is_main,
        "metric": "time" if shown is None else metric_of(shown.summary.metric.unit),
        "times": [
            [history.releases.index(release), *map(shortened, (ratio.ratio, *ratio.interval))]
            for release, ratio in relative.items()
        ]
        + ([[len(history.releases) - 1, 1, 1, 1]] if relative else []),
    }


def summed_up(history: ReleaseHistory, table: CaseTable, main_groups: set[str]) -> Set[str]:
    """Return the cases that means and counts include: those of the first screen.

    Others, such as single operators and compiled models, are summed up only if there are no cases
    of the first screen. The cost of an import is never included.
    """
    cases = {case for step in history.steps for case in step.ratios}
    cases.discard(import_case(history.requirement))
    main = {
        case
        for case in cases
        if (shown := table.find(case)) and shown.summary.group in main_groups
    }
    return main or cases


def summaries_of(step: ReleaseStep, summed: Set[str]) -> dict[str, Json]:
    """Return by metric how many of some cases there are, how many differ, and their mean ratio."""
    ratios = [ratio for case, ratio in step.ratios.items() if case in summed]
    kinds: tuple[Metric, ...] = ("time", "memory")
    return {
        kind: _summary([ratio for ratio in ratios if ratio.metric == kind and not ratio.exact])
        for kind in kinds
    }


def _summary(ratios: Sequence[Ratio]) -> Json:
    verdicts = [ratio.verdict for ratio in ratios]
    mean = geometric_mean(ratio.ratio for ratio in ratios) if ratios else None
    return {
        "count": len(ratios),
        "worse": verdicts.count(Verdict.WORSE),
        "better": verdicts.count(Verdict.BETTER),
        "mean": None if mean is None else shortened(mean),
        "mean_text": "–" if mean is None else quantities.change(mean, ratios[0].metric),
    }


def _step(
    step: ReleaseStep, index_of: Mapping[str, int], summed: Set[str], causes: ReleaseCauses
) -> Json:
    return {
        "before": step.before,
        "after": step.after,
        **summaries_of(step, summed),
        "ratios": [
            {
                "case": index_of[case],
                **compared(ratio),
                "days": quantities.days(ratio.days_showing, ratio.days) if ratio.differs else "",
                "pale": ratio.needs_second_day,
                "metric": ratio.metric,
                "cause": causes.operator(step, case, ratio)
                if ratio.differs and ratio.metric == "time"
                else "",
            }
            for case, ratio in step.ratios.items()
            if not ratio.exact
        ],
        "unmeasured": [
            {
                "case": index_of[case],
                "outcome": "skipped" if outcome is Outcome.SKIPPED else "failed",
                "reason": names.exception_line(reason),
            }
            for case, (outcome, reason) in step.unmeasured.items()
            if case not in step.ratios
        ],
    }


def _method(history: ReleaseHistory, graphs: MachineGraphs) -> list[str]:
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
        "Ratios of times vary by "
        f"{quantities.share(graphs.usual_between('time'))} from one sitting to another on this "
        "machine (standard deviation, median of its cases); intervals include that of their case.",
    ]
    if history.null_ratios:
        sentences.append(
            f"{counted(len(history.null_ratios), 'comparison')} of a release with itself differ "
            f"by {noise_in_words(history.null_ratios)}."
        )
    return sentences
