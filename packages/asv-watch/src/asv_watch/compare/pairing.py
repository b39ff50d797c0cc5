"""Compares cases of one version with each other: each pattern of cases is a side."""

import dataclasses
from collections.abc import Sequence

from asv_watch.asv.declared import Declared
from asv_watch.asv.patterns import case_pattern
from asv_watch.asv.selection import Selection
from asv_watch.engine.cases import Benchmarks, MeasurableCase, choose_cases
from asv_watch.engine.sides import Side
from asv_watch.errors import WatchError

_Key = tuple[str, str, tuple[str | None, ...]]


def pair_cases(
    version: Side, benchmarks: Benchmarks, patterns: Sequence[str], declared: Declared
) -> tuple[list[Side], list[MeasurableCase]]:
    """Return a side for each pattern, and the cases that at least two of them have.

    Cases belong together if they measure the same kind of value, and if the groups of their
    patterns (what is in parentheses) match the same text.

    Raises:
        WatchError: a pattern matches no case, or several that belong together, or no two patterns
            have cases that do.
    """
    columns = [_by_groups(benchmarks, pattern, declared) for pattern in patterns]
    others: list[dict[str, str]] = [{} for _ in patterns]
    chosen: list[MeasurableCase] = []
    for key in {key: None for column in columns for key in column}:
        row = [column.get(key) for column in columns]
        cases = [case for case in row if case]
        if len(cases) > 1:
            for case, other_cases in zip(row, others, strict=True):
                other_cases[cases[0].identity] = case.identity if case else ""
            chosen.append(
                dataclasses.replace(
                    cases[0],
                    timeout=max(case.timeout for case in cases),
                    cache_timeout=max(case.cache_timeout for case in cases),
                    can_fork=all(case.can_fork for case in cases),
                    process=next((case.process for case in cases if case.process), ""),
                    sides=tuple(case.name if case else "" for case in row),
                )
            )
    if not chosen:
        raise WatchError(
            f"no case of {patterns[0]} belongs to one of {' or '.join(patterns[1:])}: groups "
            "such as (time_.*) have to match the same text"
        )
    names = chosen[0].sides if len(chosen) == 1 else patterns
    sides = [
        dataclasses.replace(version, name=name or pattern, other_cases=other_cases)
        for name, pattern, other_cases in zip(names, patterns, others, strict=True)
    ]
    return sides, chosen


def _by_groups(
    benchmarks: Benchmarks, pattern: str, declared: Declared
) -> dict[_Key, MeasurableCase]:
    found: dict[_Key, MeasurableCase] = {}
    for case in choose_cases(benchmarks, Selection(pattern), declared):
        match = case_pattern(pattern).search(case.name)
        assert match is not None  # noqa: S101 - it is selected
        key = case.measures, case.unit, match.groups()
        if key in found:
            raise WatchError(
                f"{pattern} matches {found[key].name} and {case.name}; put what tells its cases "
                "apart in a group, such as (time_.*)"
            )
        found[key] = case
    return found
