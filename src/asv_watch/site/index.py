"""The index of the data files: everything but the values (``docs/site-data.md``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from msgspec import structs

from asv_watch import quantities
from asv_watch.judge.causes import in_words
from asv_watch.judge.changes import Change
from asv_watch.records.notes import ChangeNote
from asv_watch.records.run_columns import Floats
from asv_watch.site import names
from asv_watch.site.contents import Contents, SeriesSummary, baseline
from asv_watch.site.failures import exception_line
from asv_watch.statistics.change_points import values_to_confirm
from asv_watch.statistics.rule import MINIMUM_EFFECT, NOISE_FACTOR

Json = dict[str, Any]

FORMAT = 1
BLOCK = 32
"""Commits in a block of revisions: Changes loads two of them."""
VALUES = 60_000
"""Values in a file of series, about a megabyte: more are divided over several files, so that
the timeline of one series of a long history does not wait for all the others."""
_EXACT_POWERS = 22
"""Powers of ten up to this one are exact as floating-point numbers."""
RANGE_COMMITS = 50
"""Commits of a range that are listed at most."""

RULES = {
    "min_effect": MINIMUM_EFFECT,
    "noise_factor": NOISE_FACTOR,
    "confirmed": values_to_confirm(),
    "news": 30,
}
"""What the script decides with, as `asv_watch.statistics.rule` does. A change point needs
`confirmed` values to be confirmed; a change is coloured while fewer than `news` commits are
newer."""


def index_data(
    contents: Contents,
    *,
    generated: int,
    project: dict[str, str],
    published: Sequence[Json],
) -> Json:
    """Everything about a history but the values themselves."""
    history = contents.history
    environments = [history.environments[name] for name in sorted(history.environments)]
    labels = names.environment_labels(environments)
    benchmarks = [history.benchmarks[name] for name in sorted(history.benchmarks)]
    place_of_metric = {metric: place for place, metric in enumerate(contents.metrics)}
    metric_of = {row.benchmark.name: place_of_metric[row.metric] for row in contents.series}
    place_of_machine = _places(sorted(history.machines))
    place_of_environment = _places(labels)
    place_of_commit = _places(commit.hash for commit in history.commits)
    where = {
        setup.key: {"m": place_of_machine[setup.key[0]], "e": place_of_environment[setup.key[1]]}
        for setup in contents.setups
    }
    measured = sorted({commit for setup in contents.setups for commit in setup.commits})
    layout = contents.layout
    groups = map(layout.group, sorted(benchmarks, key=layout.group_order))
    index: Json = {
        "format": FORMAT,
        "generated": generated,
        "project": project,
        "block": BLOCK,
        "share": series_in_a_file(contents),
        "baseline": baseline(history, measured) if measured else None,
        "rules": RULES,
        "commits": [
            [commit.hash, commit.date, commit.subject, commit.tags, commit.position]
            for commit in history.commits
        ],
        "machines": [history.machines[name] for name in place_of_machine],
        "environments": [
            {
                "id": names.environment_id(environment),
                "name": environment.name,
                "label": labels[environment.name],
                "torch": environment.requirements.get("torch", ""),
                "python": environment.python,
                "requirements": environment.requirements,
                "variables": environment.variables,
            }
            for environment in environments
        ],
        "metrics": contents.metrics,
        "layout": {"subject": layout.subject, "columns": layout.columns},
        "groups": list(dict.fromkeys(groups)),
        "models": contents.models,
        "benchmarks": [
            {
                "name": benchmark.name,
                "slug": names.slug(benchmark.name),
                "metric": metric_of.get(benchmark.name),
                "group": layout.group(benchmark),
                "param_names": benchmark.param_names,
            }
            for benchmark in benchmarks
        ],
        "events": [
            {
                "c": place_of_commit[event.commit],
                "m": place_of_machine[event.machine],
                "e": place_of_environment.get(event.environment),
                "kind": event.fact,
                "text": names.event_text(event, labels),
            }
            for event in contents.findings.events
        ],
        "detectable": [
            {
                "m": place_of_machine[machine],
                "median": shortened(of_machine.middle, 3),
                "p90": shortened(of_machine.ninth_decile, 3),
                "cases": len(of_machine.of_case),
            }
            for machine, of_machine in contents.findings.detectable.items()
            if machine in place_of_machine
        ],
        "records": [
            {**where[setup.key], "c": setup.record[0], **structs.asdict(setup.record[1])}
            for setup in contents.setups
            if setup.record is not None
        ],
        "newest_runs": [
            {**where[setup.key], "c": setup.newest, "at": setup.at, "counts": setup.counts}
            for setup in contents.setups
        ],
        "published": published,
        "problems": [structs.asdict(problem) for problem in history.problems],
    }
    place_of_benchmark = _places(benchmark.name for benchmark in benchmarks)
    places = (place_of_benchmark, place_of_machine, place_of_environment)
    return index | _changes(contents, project) | _series(contents, *places)


def _places(of_names: Iterable[str]) -> dict[str, int]:
    return {name: place for place, name in enumerate(of_names)}


def series_in_a_file(contents: Contents) -> int:
    """Return how many series of a benchmark one file holds."""
    return max(1, VALUES // max(1, len(contents.history.commits)))


def _series(
    contents: Contents,
    benchmark: Mapping[str, int],
    machine: Mapping[str, int],
    environment: Mapping[str, int],
) -> Json:
    reasons = [_reason(row) for row in contents.series]
    shown_of = list(zip(contents.series, reasons, strict=True))
    texts = sorted({row.reason for row, reason in shown_of if row.reason != reason})
    place_of_text = _places(texts)
    place_of_change = {id(change): place for place, change in enumerate(contents.changes)}
    rows = [
        {
            "id": row.id,
            "b": benchmark[row.benchmark.name],
            "m": machine[row.series.machine],
            "e": environment[row.series.environment],
            "labels": row.labels,
            "last": _last(row),
            "status": row.status,
            "behind": row.behind,
            "reason": reason,
            "text": place_of_text.get(row.reason),
            "at": row.at,
            "change": None if row.change is None else place_of_change.get(id(row.change)),
            "segments": row.segments,
            "noise": _shortened(row.noise, 3),
            "detectable": _shortened(_detectable(contents, row), 3),
            "spark": [_shortened(value, 4) for value in row.spark],
            "cuts": row.cuts,
        }
        for row, reason in shown_of
    ]
    return {"series": rows, "texts": texts}


def _changes(contents: Contents, project: Mapping[str, str]) -> Json:
    ranges: dict[tuple[int, int], int] = {}
    notes: dict[ChangeNote, int] = {}

    def row(change: Change) -> Json:
        span, note = (change.previous, change.commit), change.note
        return {
            "id": change_id(contents, change),
            "s": change.series,
            "p": change.previous,
            "c": change.commit,
            **_size_of(contents, change),
            "before": _version(contents, change, change.previous),
            "after": _version(contents, change, change.commit),
            "cause": change.cause,
            "made_by": change.made_by,
            "explanation": ""
            if change.explanation is None
            else in_words(change.explanation, change.ratio),
            "range": ranges.setdefault(span, len(ranges)),
            "note": None if note is None else notes.setdefault(note, len(notes)),
        }

    return {
        "changes": [row(change) for change in contents.changes],
        "exact_changes": [row(change) for change in contents.exact_changes],
        "ranges": [_range(contents, project, *span) for span in ranges],
        "notes": [{"kind": note.kind, "text": note.text, "commit": note.commit} for note in notes],
    }


def _size_of(contents: Contents, change: Change) -> Json:
    """Return how large a change is; a guessed size has a key of its own."""
    unit = contents.series[change.series].metric.unit
    measured, ratio = change.is_measured, _shortened(change.ratio)
    words = quantities.change if measured else quantities.about
    interval = change.interval
    return {
        "kind": change.kind,
        "state": change.state.value,
        "verdict": change.verdict,
        "ratio": ratio if measured else None,
        "interval": None if interval is None else [shortened(end) for end in interval],
        "about": None if measured else ratio,
        "text": words(change.ratio, change.kind),
        "interval_text": "" if interval is None else quantities.interval(interval),
        "values": [quantities.quantity(value, unit) for value in change.values]
        if measured
        else None,
        "through": change.through,
    }


def _version(contents: Contents, change: Change, commit: int) -> Json:
    environment = contents.series[change.series].environment
    return {
        "commit": contents.history.commits[commit].hash,
        "requirements": environment.requirements,
    }


def _range(contents: Contents, project: Mapping[str, str], previous: int, commit: int) -> Json:
    before, after = (contents.history.commits[place].hash for place in (previous, commit))
    inner = contents.ancestry.between(before, after)
    chosen = set(sorted(inner, key=lambda commit: not commit.touches)[:RANGE_COMMITS])
    listed = [commit for commit in inner if commit in chosen]
    return {
        "p": previous,
        "c": commit,
        "commits": [
            [within.hash, within.date, within.subject, within.touches] for within in listed
        ],
        "more": len(inner) - len(listed),
        "command": log_command(contents, before, after),
        "diff": diff_address(project["commit_url"], before, after),
    }


def log_command(contents: Contents, before: str, after: str) -> str:
    """Return the command that lists, in a checkout, what a change may come from."""
    paths = " ".join(["", "--", *contents.ancestry.paths]) if contents.ancestry.paths else ""
    return f"git log --oneline {before[:12]}..{after[:12]}{paths}"


def diff_address(commit_url: str, before: str, after: str) -> str:
    """Return where the differences of two commits are shown, for hosts that have it; else empty.

    Args:
        commit_url: The front of a commit's address, such as ``https://github.com/a/b/commit/``.
        before: Full hash.
        after: Full hash.
    """
    front = commit_url.removesuffix("commit/")
    return "" if front in {"", commit_url} else f"{front}compare/{before}...{after}"


def _detectable(contents: Contents, row: SeriesSummary) -> float | None:
    of_machine = contents.findings.detectable.get(row.series.machine)
    return None if of_machine is None else of_machine.of_case.get(row.series.case.name)


def _reason(summary: SeriesSummary) -> str:
    """Return one line: of a failure that of its exception."""
    if summary.status in {"failed", "timed out"}:
        return exception_line(summary.reason)
    return summary.reason


def change_id(contents: Contents, change: Change) -> str:
    """Stable name of a change: its series and the commit it appeared at."""
    summary = contents.series[change.series]
    return names.digest(f"{summary.id}@{contents.history.commits[change.commit].hash}", 16)


def shortened(value: float, significant: int = 5) -> float:
    """Round a value to so many significant digits; further digits would only show noise."""
    return float(f"{value:.{significant}g}")


def _shortened(value: float | None, significant: int = 5) -> float | None:
    return None if value is None else shortened(value, significant)


def published_values(values: Floats, is_exact: npt.NDArray[np.bool_]) -> Floats:
    """Return values as data files store them.

    Args:
        values: Of one series.
        is_exact: For each value whether it has no interval; such a value is stored unrounded.
    """
    return np.where(is_exact, values, _all_shortened(values))


def _all_shortened(values: Floats) -> Floats:
    """Give values to five significant digits at once, a tenth of the time of one by one."""
    with np.errstate(divide="ignore"):
        decimals = 4 - np.floor(np.log10(np.abs(values)))
    is_usual = np.abs(decimals) <= _EXACT_POWERS
    scale = 10.0 ** np.abs(np.where(is_usual, decimals, 0))
    rounded = np.where(
        decimals > 0, np.rint(values * scale) / scale, np.rint(values / scale) * scale
    )
    rounded[~is_usual] = [shortened(value) for value in values[~is_usual].tolist()]
    return rounded


def _last(summary: SeriesSummary) -> Json | None:
    if summary.last is None:
        return None
    commit, point = summary.last
    low, high = point.interval or (None, None)
    [value] = published_values(np.array([point.value]), np.array([low is None])).tolist()
    return {
        "c": commit,
        "v": value,
        "lo": _shortened(low),
        "hi": _shortened(high),
    }
