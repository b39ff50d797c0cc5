"""Changes in the form of the data files, with their sizes, states and sentences."""

from collections.abc import Sequence
from typing import Literal

import msgspec

from asv_watch.judge.causes import in_words
from asv_watch.judge.changes import Cause, Change, Kind, State
from asv_watch.site import names
from asv_watch.site.contents import Contents
from asv_watch.site.scripts import shortened, shortened_ends
from asv_watch.statistics.rule import Verdict
from asv_watch.text import quantities

RECENT = 10
"""The first screen reports the changes of this many of the newest measured commits."""
RANGE_COMMITS = 50
"""Most commits of a range that are listed."""

_CAUSES: dict[Cause, str] = {
    "code": "not profiled",
    "release": "another release of a requirement",
    "environment": "environment",
}


class ChangeData(msgspec.Struct, kw_only=True):
    """A change of one series between two commits."""

    kind: Kind
    state: State
    verdict: Verdict
    ratio: float | None
    """Of a measured change; ``None`` for a count from or to zero."""
    interval: tuple[float, float] | None = None
    about: float | None
    """What a suspected one may be."""
    text: str
    interval_text: str = ""
    values: tuple[str, str] | None
    """Before and after, of the comparison that measured it."""
    through: Literal["", "other commits"] = ""
    """``other commits`` where the two were not compared with each other, but each with others."""
    days: str = ""
    """How many days show it by themselves; empty where nothing was measured."""
    pale: bool
    """Whether it is below 5 %, and fewer than two days show it."""
    s: int
    """Index of its series."""
    p: int
    """Index of the last commit measured before it, and of the first after it."""
    c: int
    cause: str
    may_be_code: bool
    """Whether comparisons look into it: no, where separate runs blame the machine."""
    range: int
    """Index in ``ranges``."""


class CommitRange(msgspec.Struct):
    """The commits that a change may come from."""

    p: int
    c: int
    commits: list[tuple[str, int, str, bool]]
    """Hash, date, subject, and whether it touches what is measured."""
    more: int
    """Commits that are not listed."""
    suspects: int
    """Number of commits that may have made the change, and the hash of the only one."""
    culprit: str | None
    command: str
    diff: str
    """Address of the diff, or empty."""


def change_data(
    contents: Contents, commit_url: str
) -> tuple[list[ChangeData], list[ChangeData], list[CommitRange]]:
    """Return all changes, those of exact counts, and the commits they may come from."""
    findings = contents.findings
    ranges: dict[tuple[int, int], int] = {}
    changes = [_shown(contents, change, ranges) for change in findings.changes]
    exact_changes = [_shown(contents, change, ranges) for change in findings.exact_changes]
    return changes, exact_changes, [_range(contents, commit_url, *span) for span in ranges]


def _shown(contents: Contents, change: Change, ranges: dict[tuple[int, int], int]) -> ChangeData:
    """Return a change as the page shows it, and number its range of commits.

    The estimate of a suspicion is under ``about``.
    """
    unit = contents.series[change.series].metric.unit
    measured = change.is_measured
    ratio = None if change.ratio is None else shortened(change.ratio, 7)
    words = quantities.change if measured else quantities.about
    text = words(change.ratio, change.kind)
    before, after = change.values
    values = quantities.quantity(before, unit), quantities.quantity(after, unit)
    if change.kind == "exact" and text.startswith("±"):  # too small for per cent, yet no noise
        size = quantities.digits(abs(after - before))
        text = f"{'+' if after > before else quantities.MINUS}{size} {unit}"
        values = f"{before:,.12g} {unit}", f"{after:,.12g} {unit}"
    shown = ChangeData(
        kind=change.kind,
        state=change.state,
        verdict=change.verdict,
        ratio=ratio if measured else None,
        about=None if measured else ratio,
        text=text,
        values=values if measured else None,
        pale=change.needs_second_day,
        s=change.series,
        p=change.previous,
        c=change.commit,
        cause=cause(change, contents),
        may_be_code=change.may_be_code,
        range=ranges.setdefault((change.previous, change.commit), len(ranges)),
    )
    if compared := change.compared:
        shown.interval = shortened_ends(compared.interval)
        shown.interval_text = quantities.interval(compared.interval, compared.clock)
        shown.through = "" if compared.sittings else "other commits"
        shown.days = compared.days_in_words
    return shown


def commits_of(change: Change, contents: Contents) -> tuple[str, str, Sequence[str]]:
    """Return the two commits of a change, and the commits that may have made it."""
    commits = contents.history.commits
    ends = commits[change.previous].hash, commits[change.commit].hash
    return *ends, contents.ancestry.suspects(*ends)


def cause(change: Change, contents: Contents) -> str:
    """Return the origin of a change, in the same words wherever it is shown."""
    is_count_of_code = change.kind == "exact" and change.cause == "code"
    parts = ["code" if is_count_of_code else _CAUSES[change.cause]]
    before, after, suspects = commits_of(change, contents)
    count = contents.history.positions[after] - contents.history.positions[before]
    if count > 1 and change.cause == "code" and len(suspects) == 1:
        parts = [f"only {suspects[0][:8]} of {count} commits touches what is measured"]
    if change.explanation:
        words = in_words(change.explanation, change.ratio, contents.layout, for_people=True)
        parts = [words] if parts == [_CAUSES["code"]] else [*parts, words]
    if change.note:
        parts.append(change.note.in_words)
    return "; ".join(parts)


def change_id(contents: Contents, change: Change) -> str:
    """Return a stable id of a change, from its series and the commit at which it appeared."""
    summary = contents.series[change.series]
    environment = names.environment_id(summary.environment)
    series = f"{summary.series.machine}/{environment}/{summary.series.case.name}"
    return names.digest(f"{series}@{contents.history.commits[change.commit].hash}", 16)


def _range(contents: Contents, commit_url: str, previous: int, commit: int) -> CommitRange:
    before, after = (contents.history.commits[index].hash for index in (previous, commit))
    inner = contents.ancestry.between(before, after)
    suspects = contents.ancestry.suspects(before, after)
    touching = contents.ancestry.touching
    listed = sorted(inner, key=lambda c: (c.hash != after, c.hash not in touching))[:RANGE_COMMITS]
    paths = " ".join(["", "--", *contents.ancestry.paths]) if contents.ancestry.paths else ""
    front = commit_url.removesuffix("commit/")  # of a host such as GitHub
    return CommitRange(
        previous,
        commit,
        [
            (within.hash, within.date, within.subject, within.hash in touching)
            for within in inner
            if within in listed
        ],
        len(inner) - len(listed),
        len(suspects),
        suspects[0] if len(suspects) == 1 else None,
        f"git log --oneline {before[:12]}..{after[:12]}{paths}",
        "" if front in {"", commit_url} else f"{front}compare/{before}...{after}",
    )


class Recent(msgspec.Struct, frozen=True):
    """Changes of the newest measured commits."""

    count: int
    """Number of these commits, `RECENT` at most."""
    compared: int
    """Number of them that a comparison of any case joins with an earlier commit."""
    changes: tuple[Change, ...]
    """Measured and suspected changes that only these commits can have made."""


def recent_changes(contents: Contents) -> Recent:
    """Return what the newest measured commits changed."""
    history, findings = contents.history, contents.findings
    measured = {commit for setup in contents.setups for commit in setup.commits}
    measured |= {change.commit for change in findings.changes}
    newest, earlier = sorted(measured)[-RECENT:], sorted(measured)[:-RECENT]
    before_them = history.positions[history.commits[earlier[-1]].hash] if earlier else 0
    spans = [part for commits in findings.compared.values() for part in commits.parts]
    compared = [index for index in newest if any(part[0] < index <= part[-1] for part in spans)]
    return Recent(
        len(newest),
        len(compared),
        tuple(
            change
            for change in findings.changes
            if history.positions[commits_of(change, contents)[2][0]] > before_them
        ),
    )


def size(change: Change) -> str:
    """Return the size of a change, in the same words wherever it is shown.

    A measured one is ``+5.2 % (+4.1 to +6.3 %)``, a suspicion ``about +5 %, not measured``.
    """
    if not change.is_measured:
        return f"{quantities.about(change.ratio, change.kind)}, not measured"
    text = quantities.change(change.ratio, change.kind)
    if change.compared is None:
        return text
    interval = quantities.interval(change.compared.interval, change.compared.clock)
    through = "" if change.compared.sittings else " through other commits"
    return f"{text} ({interval}{through})"
