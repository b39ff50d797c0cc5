"""Tells from a result file how asv took its samples: one call in each, or several."""

from __future__ import annotations

from collections.abc import Mapping

from asv_watch.records.records import recipe_of
from asv_watch.records.reported_value import is_finite_number
from asv_watch.records.result_files import DamagedError, ResultFile

_SAMPLING = "calls in a sample"
_SHORT_S = 0.005
"""Half the time that asv gives a sample by default: it times shorter calls several at a time."""
_FEWEST_SHORT = 5
"""So many short cases of a file show how all of its samples were taken."""


def sampling_facts(content: ResultFile) -> dict[str, str]:
    """Tell whether short calls were timed one by one, or several in a sample.

    A lone call pays for cold caches and for reading the clock, so that the two are not comparable.
    Rows with a recipe in their version are left out, and nothing is known of a few short cases.
    """
    numbers = []
    for name in content.results:
        try:
            row = content.row(name)
            if "stats_number" not in row.cells or recipe_of(row.version):
                continue
            cells = zip(row.column("result"), row.column("stats_number"), strict=True)
        except DamagedError:
            continue  # reading its values names the damage
        numbers += [
            number
            for value, number in cells
            if number and is_finite_number(value) and 0 < value < _SHORT_S
        ]
        if len(numbers) >= _FEWEST_SHORT and set(numbers) != {1}:
            break  # whatever follows, some samples were of several calls
    if len(numbers) < _FEWEST_SHORT:
        return {}
    return {_SAMPLING: "one" if set(numbers) == {1} else "several"}


def lasting_sampling(facts_by_commit: Mapping[str, dict[str, str]]) -> dict[str, dict[str, str]]:
    """Correct the `sampling_facts` of a single commit, so that no series is split there."""
    recorded = [commit for commit, facts in facts_by_commit.items() if _SAMPLING in facts]
    corrected = dict(facts_by_commit)
    for before, commit, after in zip(recorded, recorded[1:], recorded[2:], strict=False):
        around = {facts_by_commit[before][_SAMPLING], facts_by_commit[after][_SAMPLING]}
        if len(around) == 1:
            corrected[commit] = {**facts_by_commit[commit], _SAMPLING: around.pop()}
    return corrected
