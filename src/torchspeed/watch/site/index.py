"""The index of the data files: everything but the values (``docs/site-data.md``)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from torchspeed.watch.analysis.change_points import values_to_confirm
from torchspeed.watch.analysis.changes import Change
from torchspeed.watch.analysis.rule import MINIMUM_EFFECT, NOISE_FACTOR
from torchspeed.watch.history.notes import ChangeNote
from torchspeed.watch.history.records import Point
from torchspeed.watch.site import names
from torchspeed.watch.site.answers import detectable
from torchspeed.watch.site.contents import Contents, SeriesSummary, baseline
from torchspeed.watch.site.failures import exception_line
from torchspeed.watch.site.matrix import family, family_order

Json = dict[str, Any]

FORMAT = 1
BLOCK = 32
"""Commits in a block of revisions: Changes loads two of them."""
VALUES = 60_000
"""Values in a file of series, about a megabyte: more are divided over several files, so that
the timeline of one series of a long history does not wait for all the others."""
RANGE_COMMITS = 50
"""Commits of a range that are listed at most."""

RULES = {
    "min_effect": MINIMUM_EFFECT,
    "noise_factor": NOISE_FACTOR,
    "confirmed": values_to_confirm(),
    "news": 30,
}
"""What the script decides with, as `torchspeed.watch.analysis.rule` does. A change point needs
`confirmed` values to be confirmed; a change is coloured while fewer than `news` commits are
newer."""


def index_data(
    contents: Contents,
    *,
    generated: int,
    project: dict[str, str],
    published: Sequence[Json],
    figures: Sequence[Json],
) -> Json:
    """Everything about a history but the values themselves."""
    metric = {one: place for place, one in enumerate(contents.metrics)}
    machine = {one.name: place for place, one in enumerate(contents.machines)}
    environment = {one.name: place for place, one in enumerate(contents.environments)}
    environment_label = names.environment_labels(contents.environments)
    benchmark = {one.name: place for place, one in enumerate(contents.benchmarks)}
    metric_of = {one.benchmark.name: metric[one.metric] for one in contents.series}
    order = {commit.hash: place for place, commit in enumerate(contents.history.commits)}
    measured = sorted({commit for setup in contents.setups for commit in setup.commits})
    families = map(family, sorted(contents.benchmarks, key=family_order))
    index: Json = {
        "format": FORMAT,
        "generated": generated,
        "project": project,
        "block": BLOCK,
        "share": series_in_a_file(contents),
        "baseline": baseline(contents.history, measured) if measured else None,
        "rules": RULES,
        "commits": [
            [commit.hash, commit.date, commit.subject, list(commit.tags), commit.position]
            for commit in contents.history.commits
        ],
        "machines": [{"name": one.name, "facts": one.facts} for one in contents.machines],
        "environments": [
            {
                "id": names.environment_id(one),
                "name": one.name,
                "label": environment_label[one.name],
                "torch": one.torch,
                "python": one.python,
                "requirements": one.requirements,
                "variables": one.variables,
            }
            for one in contents.environments
        ],
        "metrics": [
            {
                "id": one.id,
                "label": one.label,
                "unit": one.unit,
                "higher_is_better": one.higher_is_better,
            }
            for one in contents.metrics
        ],
        "groups": list(dict.fromkeys(families)),
        "benchmarks": [
            {
                "name": one.name,
                "slug": names.slug(one.name),
                "metric": metric_of.get(one.name),
                "group": family(one),
                "param_names": list(one.param_names),
            }
            for one in contents.benchmarks
        ],
        "events": [
            {
                "c": one.commit,
                "m": machine[one.machine],
                "e": environment.get(one.environment),
                "kind": one.kind,
                "text": one.text,
            }
            for one in contents.annotations
        ],
        "geomeans": [
            {
                "metric": metric[one.metric],
                "m": machine[one.setup.machine.name],
                "e": environment[one.setup.environment.name],
                "labels": one.labels,
                "base": one.base,
                "c": one.commit,
                "ratio": shortened(one.ratio),
                "n": one.count,
            }
            for one in contents.means
        ],
        "records": [
            {
                "m": machine[setup.machine.name],
                "e": environment[setup.environment.name],
                "c": setup.record[0],
                "at": setup.record[1].at,
                "machine": setup.record[1].machine,
                "environment": setup.record[1].environment,
                "before": setup.record[1].before,
                "after": setup.record[1].after,
            }
            for setup in contents.setups
            if setup.record is not None
        ],
        "newest_runs": [
            {
                "m": machine[setup.machine.name],
                "e": environment[setup.environment.name],
                "c": setup.newest,
                "at": setup.at,
                "counts": setup.counts,
            }
            for setup in contents.setups
        ],
        "releases": [
            {
                "m": machine[one.machine],
                "c": order[one.commit],
                "e": [environment[name] for name in one.environments],
            }
            for one in contents.findings.releases
        ],
        "published": list(published),
        "problems": [
            {"path": one.path, "message": one.message} for one in contents.history.problems
        ],
        "figures": list(figures),
    }
    return index | _changes(contents, project) | _series(contents, benchmark, machine, environment)


def series_in_a_file(contents: Contents) -> int:
    """How many series of a benchmark stand in one file."""
    return max(1, VALUES // max(1, len(contents.history.commits)))


def _series(
    contents: Contents,
    benchmark: Mapping[str, int],
    machine: Mapping[str, int],
    environment: Mapping[str, int],
) -> Json:
    reasons = [_reason(one) for one in contents.series]
    texts = sorted(
        {
            one.reason
            for one, reason in zip(contents.series, reasons, strict=True)
            if one.reason != reason
        }
    )
    place_of_text = {text: place for place, text in enumerate(texts)}
    rows = [
        {
            "id": one.id,
            "b": benchmark[one.benchmark.name],
            "m": machine[one.series.machine],
            "e": environment[one.series.environment],
            "labels": one.labels,
            "last": _last(one),
            "status": one.status,
            "behind": one.behind,
            "reason": reason,
            "text": place_of_text.get(one.reason),
            "at": one.at,
            "change": None if one.change is None else _size_of(one.change),
            "comparable_from": one.comparable_from,
            "noise": _shortened(one.noise, 3),
            "detectable": _shortened(detectable(one), 3),
            "spark": [_shortened(value, 4) for value in one.spark],
        }
        for one, reason in zip(contents.series, reasons, strict=True)
    ]
    return {"series": rows, "texts": texts}


def _changes(contents: Contents, project: Mapping[str, str]) -> Json:
    ranges: dict[tuple[int, int], int] = {}
    notes: dict[ChangeNote, int] = {}
    rows = []
    for change in contents.changes:
        evidence = change.evidence
        rows.append(
            {
                "id": change_id(contents, change),
                "p": change.previous,
                "s": change.series,
                **_size_of(change),
                "interval": None if evidence is None else list(map(shortened, evidence.interval)),
                "cause": change.cause,
                "range": ranges.setdefault((change.previous, change.commit), len(ranges)),
                "note": None if change.note is None else notes.setdefault(change.note, len(notes)),
            }
        )
    return {
        "changes": rows,
        "ranges": [_range(contents, project, *span) for span in ranges],
        "notes": [{"kind": note.kind, "text": note.text, "commit": note.commit} for note in notes],
    }


def _size_of(change: Change) -> Json:
    return {
        "c": change.commit,
        "before": shortened(change.before),
        "after": shortened(change.after),
        "ratio": _shortened(change.ratio),
        "verdict": change.verdict,
        "state": change.state.value,
        "runs": change.runs,
        "noise": _shortened(change.noise, 3),
        "multiple": _shortened(change.multiple, 3),
    }


def _range(contents: Contents, project: Mapping[str, str], previous: int, commit: int) -> Json:
    before, after = (contents.history.commits[place].hash for place in (previous, commit))
    inner = contents.ancestry.between(before, after)
    chosen = sorted(inner, key=lambda one: not one.touches)[:RANGE_COMMITS]
    listed = [one for one in inner if one in set(chosen)]
    return {
        "p": previous,
        "c": commit,
        "commits": [[one.hash, one.date, one.subject, one.touches] for one in listed],
        "more": len(inner) - len(listed),
        "command": log_command(contents, before, after),
        "diff": diff_address(project["commit_url"], before, after),
    }


def log_command(contents: Contents, before: str, after: str) -> str:
    """The command that lists, in a checkout, what a change may come from."""
    paths = " ".join(["", "--", *contents.ancestry.paths]) if contents.ancestry.paths else ""
    return f"git log --oneline {before[:12]}..{after[:12]}{paths}"


def diff_address(commit_url: str, before: str, after: str) -> str:
    """Where the differences of two commits are shown, for hosts that have it; else empty.

    Args:
        commit_url: The front of a commit's address, such as ``https://github.com/a/b/commit/``.
        before: Full hash.
        after: Full hash.
    """
    front = commit_url.removesuffix("commit/")
    return "" if front in {"", commit_url} else f"{front}compare/{before}...{after}"


def _reason(summary: SeriesSummary) -> str:
    """One line: of a failure that of its exception."""
    if summary.status in {"failed", "timed out"}:
        return exception_line(summary.reason)
    return summary.reason


def change_id(contents: Contents, change: Change) -> str:
    """Stable name of a change: its series and the commit it appeared at."""
    summary = contents.series[change.series]
    return names.digest(f"{summary.id}@{contents.history.commits[change.commit].hash}", 16)


def shortened(value: float, significant: int = 5) -> float:
    """A value to so many significant digits: what a median's spread is worth."""
    return float(f"{value:.{significant}g}")


def _shortened(value: float | None, significant: int = 5) -> float | None:
    return None if value is None else shortened(value, significant)


def published_value(point: Point) -> float:
    """A value as data files store it: exact where nothing says how exact it is."""
    return point.value if point.interval is None else shortened(point.value)


def _last(summary: SeriesSummary) -> Json | None:
    if summary.last is None:
        return None
    commit, point = summary.last
    low, high = point.interval or (None, None)
    return {
        "c": commit,
        "v": published_value(point),
        "lo": _shortened(low),
        "hi": _shortened(high),
    }
