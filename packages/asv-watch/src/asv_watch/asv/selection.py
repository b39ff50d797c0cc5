"""The cases of a benchmark, and the selection of those that a run measures."""

import functools
import itertools
import re
from dataclasses import dataclass
from typing import Any

from asv_watch.errors import WatchError
from asv_watch.records.records import case_name


def pattern_of(case: str) -> str:
    """Return a pattern for ``--cases``, with a dot for each special character."""
    return re.sub(r"[^\w ,=-]", ".", case)


@functools.lru_cache(maxsize=64)
def case_pattern(text: str, origin: str = "cases") -> re.Pattern[str]:
    """Compile an expression of the command line or of asv.conf.json; messages name its origin.

    Raises:
        WatchError: it is not a regular expression, or is nested too deeply.
    """
    try:
        return re.compile(text)
    except (re.error, OverflowError, RecursionError, MemoryError) as error:
        raise WatchError(
            f"{origin} {text[:100]!r} is not a regular expression that can be used "
            f"({error or 'it nests too much'}); try a part of a name"
        ) from error


def cases_of(benchmark: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return the product of a benchmark's parameters, in asv's order."""
    return list(itertools.product(*benchmark["params"])) if benchmark["params"] else [()]


@dataclass(frozen=True, slots=True)
class Selection:
    """Conditions on a case; it is measured if all of them hold."""

    pattern: str = ""
    """Regular expression that its name contains, as asv matches it."""
    short: bool = False
    """It belongs to the short set, as asv.conf.json declares (`SuiteEntry.short`)."""
    also: str = ""
    """Regular expression of cases that are measured besides, whatever the other conditions say."""

    def includes(self, benchmark: dict[str, Any], params: tuple[str, ...]) -> bool:
        """Tell whether a case is selected."""
        case = case_name(benchmark["name"], params)
        if self._is_also_selected(case):
            return True
        return (not self.short or in_short_set(benchmark, params)) and self.matches(case)

    def matches(self, case: str) -> bool:
        """Tell whether a pattern selects a case by its name; without one, all are selected."""
        return self._is_also_selected(case) or bool(case_pattern(self.pattern).search(case))

    def _is_also_selected(self, case: str) -> bool:
        return bool(self.also and case_pattern(self.also).search(case))

    def __str__(self) -> str:
        text = ", ".join(["the short set"] * self.short + [self.pattern] * bool(self.pattern))
        return f"{text} and {self.also}" if self.also else text


EVERYTHING = Selection()
SHORT = Selection(short=True)
"""What ``make bench`` measures."""


def in_short_set(benchmark: dict[str, Any], params: tuple[str, ...]) -> bool:
    """Tell whether a case belongs to the short set: all cases of a suite that declares none do.

    Raises:
        WatchError: The declaration names a parameter that the benchmark does not have.
    """
    short = benchmark.get("short", True)
    if not isinstance(short, dict):
        return bool(short)
    values = dict(zip(benchmark["param_names"], params, strict=True))
    for name in short:
        if name not in values:
            raise WatchError(
                f'"short" of {benchmark["name"]} names {name!r}, which is not one of its '
                f"parameters ({', '.join(values) or 'it has none'})"
            )
    return all(values[name] in map(repr, wanted) for name, wanted in short.items())


def matching(pattern: str, *, otherwise: Selection) -> Selection:
    """Return the selection by a typed pattern, or ``otherwise`` if the pattern is empty.

    Raises:
        WatchError: It is not a regular expression that can be used.
    """
    if not pattern:
        return otherwise
    case_pattern(pattern)
    return Selection(pattern)
