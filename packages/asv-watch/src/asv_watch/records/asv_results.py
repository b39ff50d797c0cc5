"""Results as asv stores them: one file for a commit in an environment, read by asv's own code.

What the engine measures is exported to such files (`asv_watch.asv.export`), but read from the
record. So they count for what plain `asv run` has stored in them.
"""

import itertools
import math
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeGuard

from asv.results import Results
from asv.util import UserError

from asv_watch.comparison import Outcome
from asv_watch.records.records import NEVER_RUN, Environment, Point, Run, recipe_of
from asv_watch.records.suite_lists import MOST_CASES

_LARGEST = sys.float_info.max


class DamagedError(Exception):
    """A file, or a part of it, does not have the shape that asv writes."""


def is_finite_number(value: Any) -> TypeGuard[float]:
    """Tell whether a stored value can be shown: ``True`` and ``10**400`` cannot."""
    return type(value) in {float, int} and -_LARGEST <= value <= _LARGEST


def is_missing(value: Any) -> bool:
    """Tell whether a stored value says that there is none: ``null`` or ``NaN``."""
    return value is None or value != value  # noqa: PLR0124 - NaN


def read_results(path: Path, machine: str = "") -> Results:
    """Read a result file of asv's format 2.

    Args:
        path: the file.
        machine: the machine that it should name; any if empty.

    Raises:
        DamagedError: it cannot be read, is not JSON, does not have asv's shape, or is of another
            machine.
    """
    if not path.is_file():  # reading a fifo would never end
        raise DamagedError("it cannot be read: it is not a regular file")
    try:
        stored = Results.load(str(path.absolute()))
        if not isinstance(stored.commit_hash, str) or not stored.commit_hash:
            raise TypeError("it names no commit")
        named = stored.params["machine"]
        environment_of(stored, "")
    except OSError as error:
        raise DamagedError(f"it cannot be read: {error.strerror}") from error
    except UserError as error:
        reason = (
            str(error).replace(f"'{path.absolute()}'", "it").replace(str(path.absolute()), "it")
        )
        raise DamagedError(f"asv cannot read it: {reason}") from error
    except (AttributeError, LookupError, TypeError, ValueError, RecursionError) as error:
        message = f"it does not have the shape that asv writes ({type(error).__name__}: {error})"
        raise DamagedError(message) from error
    if machine not in ("", named):
        raise DamagedError(f"it names machine {named!r}, not {machine!r}")
    return stored


def environment_of(stored: Results, name: str) -> Environment:
    """Return the environment of results, under this name."""
    python, requirements = stored._python, stored._requirements  # asv has no properties of them
    return Environment(name, _text(python), _texts(requirements), _texts(stored.env_vars))


def facts_of(stored: Results) -> dict[str, str]:
    """Return the facts of the machine, and of the environment as `Environment.facts` has them."""
    environment = environment_of(stored, "")
    named = {"machine", "python", *environment.requirements}
    facts = {name: value for name, value in _texts(stored.params).items() if name not in named}
    return facts | environment.facts


def runs_of(stored: Results, benchmark: str) -> Iterator[tuple[tuple[str, ...], Any, Run]]:
    """Yield parameters, stored value and run of each case of a benchmark.

    A number is a value, ``NaN`` a case that was not run. What is ``null`` or not a finite number
    failed.

    Raises:
        DamagedError: its row does not have the shape that asv writes.
    """
    params = stored.get_result_params(benchmark) or []
    values, spreads = stored._results[benchmark], stored._stats[benchmark]
    version = stored.benchmark_version[benchmark]
    try:
        count = math.prod(map(len, params))
    except TypeError as error:
        raise DamagedError("its params are not lists of texts") from error
    if count > MOST_CASES:
        raise DamagedError(f"its params make {count} cases")
    values = [None] * count if values is None else values
    spreads = [{}] * count if spreads is None else spreads
    if not isinstance(values, list) or not len(values) == len(spreads) == count:
        raise DamagedError(f"result must have one entry for each of the {count} cases")
    recipe = sys.intern(recipe_of(version)) if isinstance(version, str) else ""
    for case, value, spread in zip(itertools.product(*params), values, spreads, strict=True):
        if is_finite_number(value):
            point = Point(float(value), _interval(spread.get("ci_99_a"), spread.get("ci_99_b")))
            yield case, value, Run(Outcome.OK, point, "", recipe)
        elif value is None:
            yield case, value, Run(Outcome.FAILED, None, "no value was stored, and no reason")
        elif is_missing(value):
            yield case, value, NEVER_RUN
        else:
            yield case, value, Run(Outcome.FAILED, None, f"it gave no finite number: {value!r}")


def _interval(low: Any, high: Any) -> tuple[float, float] | None:
    if is_finite_number(low) and is_finite_number(high) and low <= high:
        return float(low), float(high)
    return None


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _texts(stored: dict[str, Any] | None) -> dict[str, str]:
    return {name: _text(value) for name, value in (stored or {}).items()}
