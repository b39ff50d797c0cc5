"""Changes grouped by the commit that made them, on each machine, with a summary of each group."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from statistics import geometric_mean

from asv_watch.judge.changes import Change
from asv_watch.site.change_data import made_between
from asv_watch.site.contents import Contents
from asv_watch.site.scripts import Json
from asv_watch.text import quantities
from asv_watch.text.quantities import counted

_WORDS = {
    ("time", "worse"): "slower",
    ("time", "better"): "faster",
    ("memory", "worse"): "with more memory",
    ("memory", "better"): "with less memory",
}


def commit_groups(contents: Contents, machine_index: dict[str, int]) -> list[Json]:
    """Return a group for each commit and machine with measured changes, the newest first."""
    groups: dict[tuple[str, str], list[tuple[int, Change]]] = defaultdict(list)
    for index, change in enumerate(contents.findings.changes):
        if change.is_measured:
            _, after, suspects = made_between(change, contents)
            commit = suspects[0] if len(suspects) == 1 else after
            groups[commit, contents.history.series[change.series].machine].append((index, change))
    positions = contents.history.positions
    newest_first = sorted(groups.items(), key=lambda group: (-positions[group[0][0]], group[0][1]))
    return [
        _group(contents, commit, members) | {"m": machine_index[machine]}
        for (commit, machine), members in newest_first
    ]


def _group(contents: Contents, commit: str, members: Sequence[tuple[int, Change]]) -> Json:

    def order(member: tuple[int, Change]) -> tuple[bool, bool, float]:
        change, ratio = member[1], member[1].ratio or 1.0
        return (change.kind != "time", change.verdict != "worse", -max(ratio, 1 / ratio))

    largest_first = sorted(members, key=order)
    before, after, suspects = made_between(largest_first[0][1], contents)
    within = contents.ancestry.between(before, after)
    culprit = next(candidate for candidate in within if candidate.hash == commit)
    others = len(suspects) - 1
    return {
        "hash": commit,
        "date": culprit.date,
        "subject": culprit.subject,
        "of": f"or {counted(others, 'commit')} before it" if others else "",
        "changes": [index for index, _ in largest_first],
        "summary": _summary([change for _, change in largest_first]),
    }


def _summary(changes: Sequence[Change]) -> list[Json]:
    """Say how many cases became slower or faster: the largest change of them, and their mean."""
    parts = []
    for (kind, verdict), words in _WORDS.items():
        ratios = [c.ratio for c in changes if c.kind == kind and c.verdict == verdict and c.ratio]
        if ratios:
            text = f"{len(ratios)} {words}: {quantities.change(ratios[0], kind)}"
            if len(ratios) > 1:
                text += f" at most, mean {quantities.change(geometric_mean(ratios), kind)}"
            parts.append({"verdict": verdict, "text": text})
    return parts
