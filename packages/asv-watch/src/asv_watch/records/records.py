"""What results are about: machines, environments, benchmarks, cases, and what could not be read.

They hold no logic beyond reading their own fields, and nothing here knows how asv stores results
or how the site shows them.

A benchmark's version is ``"<code version>; <recipe>"``. The part before the first semicolon
changes when what is measured changes: a stored result with a different one no longer belongs to
the benchmark. The rest is the recipe, such as ``rounds=3 repeat=3,20,2.5; asv_runner 0.3.2``:
results with another recipe stay in the series, but nothing is compared across the change.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Any

import msgspec

from asv_watch.versions.version import Release, main_release

PROCESSES = "processes"
"""The fact of the environment that says how the cases of a run were started."""
FORKED, NOT_FORKED = "forked where they time something", "each starts its own Python"
"""Values of `PROCESSES`; runs before it was recorded have the second one."""


def code_version(version: str) -> str:
    """Return the code version: the part of a version that changes with what is measured."""
    return version.partition(";")[0].strip()


def recipe_of(version: str) -> str:
    """Return the recipe: the rest of a version; empty if it was not recorded."""
    return version.partition(";")[2].strip()


@lru_cache(maxsize=1024)
def recipe_facts(recipe: str) -> dict[str, str]:
    """Return the facts of a recipe by name: ``{"rounds": "3", "asv_runner": "0.3.2"}``."""
    facts: dict[str, str] = {}
    for part in recipe.split(";"):
        words = part.split()
        if words and all("=" in word for word in words):
            facts |= {name: value for name, _, value in (word.partition("=") for word in words)}
        elif words:
            facts[words[0]] = " ".join(words[1:])
    return facts


class Machine(msgspec.Struct, frozen=True):
    """A machine, as its ``machine.json`` describes it."""

    name: str
    facts: dict[str, str] = {}


class Environment(msgspec.Struct, frozen=True):
    """Python, requirements and environment variables that results were measured with."""

    name: str
    """asv's name for it: the part of a result file's name after the commit."""
    python: str
    requirements: dict[str, str] = {}
    variables: dict[str, str] = {}

    @property
    def release(self) -> Release:
        """Its main release."""
        return main_release(self.requirements)

    @property
    def facts(self) -> dict[str, str]:
        """Its facts: ``python``, ``requirement <name>``, ``variable <name>``."""
        return {
            "python": self.python,
            **{f"requirement {name}": text for name, text in self.requirements.items()},
            **{f"variable {name}": text for name, text in self.variables.items()},
        }


class Benchmark(msgspec.Struct, frozen=True):
    """One function of a suite, as ``benchmarks.json`` describes it."""

    name: str
    """Dotted name, such as ``time_series.TimeSeries.time_forward``."""
    type: str = ""
    """``time``, ``peakmemory`` or ``track``."""
    unit: str = "unit"
    """``seconds``, ``bytes`` or the unit that a ``track_*`` declares."""
    param_names: tuple[str, ...] = ()
    params: tuple[tuple[str, ...], ...] = ()
    """The values of each parameter, as asv writes them (``repr`` of the value)."""
    version: str = ""
    """``"<version of its code>; <how it is sampled>"``; old ones have only the first part."""
    code: str = ""
    """Source of the function and its set-up, as asv stores it."""
    higher_is_better: bool = False
    exact: bool = False
    """Whether every run of one commit gives the same value, such as a count."""
    timeout: float | None = None
    """Seconds after which one of its cases is stopped."""
    setup_cache_timeout: float | None = None
    rounds: int = 1
    """Number of processes of a run without a comparison."""
    skip_params: list[list[Any]] = []
    threshold: str = ""
    ignore: str = ""
    position: int = 5
    """Sort position of its group, as its suite declares: 0 first, 9 last."""
    short: bool | dict[str, list[Any]] = True
    """Which of its cases belong to the short set: all, none (``False``), or by parameter."""


def case_name(benchmark: str, params: Sequence[object]) -> str:
    """Name a case as asv writes it: ``suite.Class.time_x('darnn', 'cpu')``."""
    return f"{benchmark}({', '.join(map(str, params))})" if params else benchmark


def benchmark_of(case: str) -> str:
    """Return the name of the benchmark in a name that `case_name` gave."""
    return case.partition("(")[0]


@dataclass(frozen=True)
class Case:
    """One benchmark with one value for each of its parameters."""

    benchmark: str
    params: tuple[str, ...] = ()
    """Values as asv writes them, one for each of the benchmark's parameters."""
    labels: dict[str, str] = field(default_factory=dict, hash=False, compare=False)
    """Maps a parameter name to its plain value (without the quotes of ``repr``), plus the labels
    that the project's layout adds and the ``metric``, such as ``peak memory``.

    A parameter of the same name takes precedence.
    """

    @cached_property
    def name(self) -> str:
        """The case as asv writes it: ``suite.Class.time_x('darnn', 'cpu')``."""
        return case_name(self.benchmark, self.params)


class Problem(msgspec.Struct, frozen=True):
    """A piece of the stored results that could not be read."""

    path: str
    message: str


class LeftOut(msgspec.Struct, frozen=True):
    """Valid results that are not shown, and why."""

    name: str
    """The benchmark, the case or the commit of the results."""
    reason: str
    count: int
    """Number of results (benchmarks in a result file, or whole files for a commit)."""
