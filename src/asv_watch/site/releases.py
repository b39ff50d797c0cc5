"""What the view of releases shows: ratios, lines over all releases, memory, imports."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from statistics import geometric_mean, median

from asv_watch.judge.causes import in_words
from asv_watch.judge.release_findings import ReleaseFinding, release_findings
from asv_watch.judge.release_history import (
    RelativeTime,
    ReleaseHistory,
    ReleaseStep,
    relative_times,
)
from asv_watch.records.comparisons import CaseRatio, Unmeasured
from asv_watch.records.explanations import StoredExplanation
from asv_watch.records.records import Case
from asv_watch.records.release_order import release_order
from asv_watch.records.releases import TriedRelease, import_case
from asv_watch.site import names
from asv_watch.site.contents import Contents, SeriesSummary
from asv_watch.site.release_value_tables import (
    UnmeasuredValues,
    ValueTable,
    unmeasured_values,
    value_tables,
)
from asv_watch.statistics.ratio import verdict
from asv_watch.statistics.rule import Verdict

_LIBRARIES = ("oneDNN", "MKL", "compiler")
"""Facts of a release that its kernels depend on."""


@dataclass(frozen=True, slots=True)
class ReleaseColumn:
    """A release against another one, over the cases of a table."""

    step: ReleaseStep
    mean: float | None
    """Geometric mean of all ratios, later over earlier."""
    count: int
    """Number of ratios."""
    slower: tuple[CaseRatio, ...]
    """Cases that the rule calls slower, the largest change first."""
    faster: tuple[CaseRatio, ...]
    half_width: float | None
    """Median half-width of the intervals, as a share."""
    commits: tuple[str, ...]
    """Hashes of the commits that ran on both sides."""


@dataclass(frozen=True, slots=True)
class ReleaseRow:
    """One case in all columns of a table."""

    case: str
    """As asv names it."""
    model: str
    """Without its settings: ``lenet5``."""
    title: str
    """With its settings: ``lenet5 bf16 channels_last``."""
    direction: str
    """Its pass, or what else is timed."""
    series: SeriesSummary | None
    """Where the case has a page."""
    cells: tuple[CaseRatio | Unmeasured | None, ...]
    """For each column, the newest release first."""
    times: tuple[RelativeTime, ...]
    """Times relative to the newest release, the oldest first."""

    @property
    def total(self) -> RelativeTime | None:
        """Time in the newest release over that in the oldest one that is known."""
        if not self.times:
            return None
        oldest = self.times[0]
        low, high = oldest.interval
        return replace(oldest, ratio=1 / oldest.ratio, interval=(1 / high, 1 / low))

    @property
    def name(self) -> str:
        """Model and what is timed of it."""
        return f"{self.title} {self.direction}".rstrip()


@dataclass(frozen=True, slots=True)
class ReleaseTable:
    """Models, or operators, by release."""

    title: str
    columns: tuple[ReleaseColumn, ...]
    """Releases against the one before, the newest first."""
    rows: tuple[ReleaseRow, ...]


@dataclass(frozen=True, slots=True)
class ShownFinding:
    """A difference between two releases as the view lists it."""

    finding: ReleaseFinding
    name: str
    """Model and what is timed of it."""
    why: StoredExplanation | None
    """The newest explanation of the difference, if there is one."""

    @property
    def cause(self) -> str:
        """What the explanation says of the newest comparison that shows the difference."""
        return in_words(self.why.explanation, self.finding.shown.ratio) if self.why else ""


@dataclass(frozen=True, slots=True)
class ReleaseFacts:
    """What is known of a release in addition to the times of cases."""

    release: str
    tried: TriedRelease | None
    column: ReleaseColumn | None
    """The models against the release before; ``None`` for the oldest."""
    import_ratio: CaseRatio | None
    """CPU time of the import over that of the release before."""
    import_s: float | None
    """Median CPU seconds of the import."""
    import_bytes: float | None
    """Median peak resident set of the import."""
    libraries: dict[str, tuple[str, bool]]
    """Name to version, and whether the release before had another one."""


@dataclass(frozen=True, slots=True)
class ReleaseView:
    """The releases that one machine compared."""

    history: ReleaseHistory
    tables: tuple[ReleaseTable, ...]
    value_tables: tuple[ValueTable, ...]
    unmeasured_values: tuple[UnmeasuredValues, ...]
    facts: tuple[ReleaseFacts, ...]
    """The newest release first; those that could not be installed too."""
    findings: tuple[ShownFinding, ...]
    """Differences between releases: those of the newest release first."""
    cpu: str
    """Name of the machine's CPU, if known."""

    @property
    def companions(self) -> tuple[str, ...]:
        """Other packages in which the releases differ."""
        tried = [facts.tried.requirements for facts in self.facts if facts.tried]
        names = dict.fromkeys(name for requirements in tried for name in requirements)
        return tuple(
            name
            for name in names
            if name != self.history.requirement
            and len({requirements.get(name) for requirements in tried}) > 1
        )

    @property
    def libraries(self) -> tuple[str, ...]:
        """Names of the libraries that are known of any release."""
        known = {name for facts in self.facts for name in facts.libraries}
        return tuple(name for name in _LIBRARIES if name in known)

    @property
    def threads(self) -> str:
        """How many threads the cases used, by the newest release of which that is known."""
        tried = (facts.tried.facts for facts in self.facts if facts.tried)
        return next((facts["threads"] for facts in tried if "threads" in facts), "")

    @property
    def unmeasured(self) -> dict[tuple[str, str, str], list[ReleaseStep]]:
        """Case, why it was skipped, or why it failed, to the releases without its ratio."""
        steps: dict[tuple[str, str, str], list[ReleaseStep]] = defaultdict(list)
        for step in self.history.steps:
            for case, result in step.unmeasured.items():
                if case not in step.ratios:
                    steps[case, result.skipped, result.failed].append(step)
        return steps


def release_views(contents: Contents) -> tuple[ReleaseView, ...]:
    """Work out the view of every machine that compared releases interleaved."""
    cases = {series.case.name: series.case for series in contents.history.series}
    views = []
    for history in contents.findings.release_histories:
        tried = contents.history.releases.get(history.machine, {})
        tables = _tables(history, contents, cases)
        machine = contents.history.machines.get(history.machine)
        cpu = machine.facts.get("cpu", "") if machine else ""
        row_of = {row.case: row for table in tables for row in table.rows}
        explanations = {
            (stored.before.release, stored.after.release, stored.case): stored
            for stored in contents.history.explanations.get(history.machine, ())
            if stored.before.commit == stored.after.commit
        }
        named = f"{history.requirement} {{}}".format
        shown = tuple(
            ShownFinding(
                finding,
                row_of[finding.case].name,
                explanations.get((named(step.before), named(step.after), finding.case)),
            )
            for step in history.steps
            for finding in release_findings(step)
            if finding.case in row_of
        )
        facts = _facts(history, tables, tried)
        of_values = value_tables(
            history,
            lambda case: " ".join(filter(None, _name(cases.get(case), case)[1:])),
            _pages(history, contents).get,
        )
        without = unmeasured_values(history)
        views.append(ReleaseView(history, tables, of_values, without, facts, shown, cpu))
    return tuple(views)


def newest_column(view: ReleaseView) -> ReleaseColumn | None:
    """Return the newest release against the one before it, over the models, if compared."""
    newest = [column for table in view.tables[:1] for column in table.columns]
    return next((c for c in newest if c.step in view.history.steps[:1]), None)


def _tables(
    history: ReleaseHistory, contents: Contents, cases: Mapping[str, Case]
) -> tuple[ReleaseTable, ...]:
    measured = {name for step in history.steps for name in step.commits}
    measured -= {import_case(history.requirement)}
    operators = {name for name in measured if name.startswith("operators.")}
    pages = _pages(history, contents)
    tables = []
    for title, members in (("Models", measured - operators), ("Operators", operators)):
        columns = [step for step in history.steps if members.intersection(step.commits)]
        rows = [
            ReleaseRow(
                case,
                *_name(cases.get(case), case),
                series=pages.get(case),
                cells=tuple(
                    step.ratios.get(case) or step.unmeasured.get(case) for step in columns
                ),
                times=relative_times(history, case),
            )
            for case in members
        ]
        if rows:
            rows.sort(key=lambda row: (row.title, row.direction != "forward", row.direction))
            of_steps = tuple(_column(step, members) for step in columns)
            tables.append(ReleaseTable(title, of_steps, tuple(rows)))
    return tuple(tables)


def _pages(history: ReleaseHistory, contents: Contents) -> dict[str, SeriesSummary]:
    """Map each case to its page, that of the history's machine if there are several."""
    rows = [row for row in contents.series if row.has_value]
    rows.sort(key=lambda row: row.series.machine == history.machine)
    return {row.series.case.name: row for row in rows}


def _column(step: ReleaseStep, members: set[str]) -> ReleaseColumn:
    ratios = [ratio for case, ratio in step.ratios.items() if case in members]
    ratios.sort(key=lambda ratio: -max(ratio.ratio, 1 / ratio.ratio))
    half_widths = [half_width(ratio) for ratio in ratios]
    return ReleaseColumn(
        step=step,
        mean=geometric_mean(ratio.ratio for ratio in ratios) if ratios else None,
        count=len(ratios),
        slower=tuple(ratio for ratio in ratios if verdict(ratio) is Verdict.WORSE),
        faster=tuple(ratio for ratio in ratios if verdict(ratio) is Verdict.BETTER),
        half_width=median(half_widths) if half_widths else None,
        commits=tuple(dict.fromkeys(step.commits[ratio.case] for ratio in ratios)),
    )


def half_width(ratio: CaseRatio) -> float:
    """Return half of the width of a ratio's interval, as a share of the ratio."""
    low, high = ratio.interval
    return (high - low) / 2 / ratio.ratio


def _name(case: Case | None, name: str) -> tuple[str, str, str]:
    """Model without and with its settings, and what is timed of it."""
    if case is None:
        return name, name, ""
    labels = case.labels
    metric = "" if labels["metric"] == "time" else labels["metric"]
    owner = "" if "operator" in labels else case.benchmark.rpartition(".")[0].rpartition(".")[2]
    model = labels.get("model", owner)
    title = " ".join(filter(None, (model, *names.settings(labels))))
    return model, title, " ".join(filter(None, (labels.get("pass", ""), metric)))


def _facts(
    history: ReleaseHistory,
    tables: Sequence[ReleaseTable],
    tried: Mapping[str, TriedRelease],
) -> tuple[ReleaseFacts, ...]:
    steps = {step.after: step for step in history.steps}
    columns = {column.step.after: column for table in tables[:1] for column in table.columns}
    requirement = history.requirement
    known_releases = {
        known.requirements[requirement]
        for name, known in tried.items()
        if name.partition(" ")[0] == requirement
    }
    facts = []
    for release in sorted({*history.releases, *known_releases}, key=release_order):
        known = tried.get(f"{requirement} {release}")
        step = steps.get(release)
        facts.append(
            ReleaseFacts(
                release=release,
                tried=known,
                column=columns.get(release),
                import_ratio=step.ratios.get(import_case(requirement)) if step else None,
                import_s=median(known.import_s) if known and known.import_s else None,
                import_bytes=(
                    median(known.import_peak_bytes) if known and known.import_peak_bytes else None
                ),
                libraries=_libraries(
                    known, tried.get(f"{requirement} {step.before}") if step else None
                ),
            )
        )
    return tuple(reversed(facts))


def _libraries(
    release: TriedRelease | None, older: TriedRelease | None
) -> dict[str, tuple[str, bool]]:
    facts, before = (known.facts if known else {} for known in (release, older))
    return {
        name: (facts[name], name in before and before[name] != facts[name])
        for name in _LIBRARIES
        if name in facts
    }
