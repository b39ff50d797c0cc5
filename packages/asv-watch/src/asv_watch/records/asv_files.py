"""asv's own files: the list of benchmarks, and results, one file a commit and environment.

asv keeps one list for all machines, ``results/benchmarks.json``, which every run replaces with its
own. Here each machine has a list of its own, ``results/<machine>/benchmarks.json``, and readers
take the union of them, so that machines whose suites differ do not remove each other's benchmarks.
asv's list is written as that union for asv's own commands, such as `asv show`. A repository need
not track it.

Lists are in asv's format, sorted, with one benchmark a line and ``"version"`` last. Lists that git
merged by keeping the lines of both sides are therefore still JSON, which asv reads; where a
benchmark has several lines, they are read as one entry.
"""

import contextlib
import itertools
import json
import math
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import msgspec
from asv.results import Results
from asv.util import UserError

from asv_watch.comparison import Outcome, Run
from asv_watch.errors import WatchError
from asv_watch.files import make_folder, read_regular, write_whole
from asv_watch.records.records import Benchmark, Environment, Problem, recipe_of
from asv_watch.text.quantities import more_is_better

SUITE_LIST = "benchmarks.json"
API_VERSION = 2
_SUITES_AT = "suites_at"
"""Key of an entry: when its suites were committed, seconds since the epoch."""
_RUN_ONLY_KEY = "setup_cache_key"
"""Key that asv needs only during a run: a line number, which every edit of a suite moves."""

Entries = dict[str, dict[str, Any]]
"""Maps the name of a benchmark to its entry."""


def parse_list(content: bytes) -> Entries:
    """Read a list, or one that git merged.

    Raises:
        ValueError: It is not a list of benchmarks in asv's format.
    """
    try:
        listed = json.loads(content, object_pairs_hook=_merged)
    except RecursionError as error:
        raise ValueError("it is nested too deeply") from error
    if not isinstance(listed, dict) or listed.pop("version", None) != API_VERSION:
        raise ValueError(f"it is not a list of benchmarks in asv's format {API_VERSION}")
    return listed


def read_machine_list(results: Path, machine: str) -> Entries:
    """Read the list of a machine, or asv's list if the machine has none that can be read.

    Entries that do not have the shape of a benchmark are left out.
    """
    for folder in (results / machine, results):
        entries = _read(folder / SUITE_LIST)
        if entries is not None:
            return {name: entry for name, entry in entries.items() if _is_measurable(name, entry)}
    return {}


def store_list(results: Path, machine: str, entries: Mapping[str, Any], suites_at: int) -> None:
    """Store the list of a machine's suites, and the union of all machines' lists.

    ``entries`` is what asv found in the suites; ``suites_at`` is when these were committed, in
    seconds since the epoch. A file that would not change is not written.

    Raises:
        OSError: A list cannot be written; the old one stays.
    """
    own = results / machine / SUITE_LIST
    known = [_read(path) or {} for path in (own, results / SUITE_LIST)]
    listed: Entries = {}
    for name, entry in entries.items():
        new = {key: value for key, value in entry.items() if key != _RUN_ONLY_KEY}
        before = [stored[name] for stored in known if name in stored]
        same = [old for old in before if old == new | {_SUITES_AT: old.get(_SUITES_AT)}]
        listed[name] = same[0] if same else new | {_SUITES_AT: suites_at}
    _write(own, listed)
    lists = {path: _read(path) for path in sorted(results.glob(f"*/{SUITE_LIST}"))}
    if None in lists.values():  # the union still has what a damaged list held
        lists[results / SUITE_LIST] = _read(results / SUITE_LIST)
    _write(results / SUITE_LIST, merge_lists(filter(None, lists.values())))


def merge_lists(lists: Iterable[Entries]) -> Entries:
    """Return the union of lists; the order in which they are given does not matter."""
    return _merged(entry for entries in lists for entry in entries.items())


def _merged(pairs: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Return one entry a benchmark: that of the newest suites, with the parameter values of all.

    If its code or its parameters' names differ, the values of older entries are dropped.
    """

    def age(pair: tuple[str, Any]) -> tuple[float, str]:
        _, entry = pair
        stored = entry.get(_SUITES_AT) if isinstance(entry, dict) else None
        seconds = stored if isinstance(stored, int | float) else 0.0
        return seconds, json.dumps(entry, sort_keys=True)

    merged: dict[str, Any] = {}
    for name, entry in sorted(pairs, key=age):
        older = merged.get(name)
        merged[name] = entry
        if not (isinstance(older, dict) and isinstance(entry, dict)) or any(
            older.get(key) != entry.get(key) for key in ("version", "param_names")
        ):
            continue
        with contextlib.suppress(LookupError, TypeError, ValueError):  # their shapes differ
            union = [
                after + [value for value in before if value not in after]
                for before, after in zip(older["params"], entry["params"], strict=True)
            ]
            merged[name] = entry | {"params": union}
    return merged


def _read(path: Path, problems: list[Problem] | None = None) -> Entries | None:
    """Read a list; ``None``, and a problem, if it is missing or damaged."""
    try:
        listed = parse_list(read_regular(path))
    except (OSError, ValueError) as error:
        reason = f"it is damaged ({error}); the machine's next run replaces it"
        if isinstance(error, OSError):
            reason = f"it cannot be read: {error.strerror}"
        if problems is not None:
            problems.append(Problem(str(path), reason))
        return None
    return {name: entry for name, entry in listed.items() if isinstance(entry, dict)}


def _write(path: Path, entries: Entries) -> None:
    if _read(path) == entries:
        return
    lines = [
        f"{json.dumps(name)}: {json.dumps(entry, sort_keys=True)},\n"
        for name, entry in sorted(entries.items())
    ]
    make_folder(path.parent)
    write_whole(path, f'{{\n{"".join(lines)}"version": {API_VERSION}\n}}\n'.encode())


_REMEDY = "measure with `asv-watch bench` or `asv run`, which write it"

MOST_CASES = 100_000
"""Largest number of cases of a benchmark: more are taken for damage, and would fill the memory."""


def read_benchmarks(results_dir: Path) -> tuple[dict[str, Benchmark], list[Problem]]:
    """Read the union of the lists of a results folder: asv's own, and each machine's.

    Returns:
        The benchmarks in the order of their names, and one problem for each list that is damaged,
        and for each entry that does not have the shape of a benchmark.

    Raises:
        WatchError: There is no list that can be read.
    """
    path = results_dir / SUITE_LIST
    problems: list[Problem] = []
    found = [*results_dir.glob(f"*/{SUITE_LIST}"), *results_dir.glob(SUITE_LIST)]
    lists = [_read(each, problems) for each in sorted(found)]
    if all(entries is None for entries in lists):
        problem = problems[0] if problems else Problem(str(path), "it is missing")
        raise WatchError(f"{problem.path}: {problem.message}; {_REMEDY}")
    benchmarks: dict[str, Benchmark] = {}
    for name, entry in sorted(merge_lists(filter(None, lists)).items()):
        try:
            benchmarks[name] = _convert(name, entry)
        except (TypeError, ValueError) as error:
            message = f"entry {name!r} is left out: {error}; {_REMEDY}"
            problems.append(Problem(str(path), message))
    return benchmarks, problems


def is_higher_better(entry: Mapping[str, Any]) -> bool:
    """Tell whether more of a benchmark's value is better: by its suite, or else by its unit."""
    declared = entry.get("higher_is_better")
    return more_is_better(str(entry.get("unit"))) if declared is None else bool(declared)


def _is_measurable(name: str, entry: dict[str, Any]) -> bool:
    """Tell whether cases can be chosen from an entry."""
    try:
        _convert(name, entry)
    except (TypeError, ValueError):
        return False
    return entry.get("name") == name and {"type", "unit", "param_names", "params"} <= entry.keys()


def _convert(name: str, entry: dict[str, Any]) -> Benchmark:
    """Return the benchmark of an entry.

    Raises:
        TypeError: The entry is not an object.
        ValueError: It does not have the shape of a benchmark.
    """
    declared = {**entry, "name": name, "higher_is_better": is_higher_better(entry)}
    benchmark = msgspec.convert(declared, Benchmark)
    if len(benchmark.params) != len(benchmark.param_names):
        raise ValueError("params and param_names differ in length")
    if math.prod(map(len, benchmark.params)) > MOST_CASES:
        raise ValueError(f"its params make more than {MOST_CASES:,} cases")
    return benchmark


_LARGEST = sys.float_info.max
NO_NUMBER = "it gave no finite number"
"""Begins the reason of a run whose stored value is none that can be shown."""


class DamagedError(Exception):
    """A file, or a part of it, does not have the shape that asv writes."""


def read_results(path: Path, machine: str = "") -> Results:
    """Read a result file of asv's format 2, of this machine, or of any if it is empty.

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


def machine_facts_of(stored: Results) -> dict[str, str]:
    """Return the facts of the machine, which asv's file holds beside those of the environment."""
    others = {"machine", "python", *environment_of(stored, "").requirements}
    return {name: value for name, value in _texts(stored.params).items() if name not in others}


def runs_of(stored: Results, benchmark: str) -> Iterator[tuple[tuple[str, ...], Run]]:
    """Yield parameters and run of each case of a benchmark that was run.

    A number is a value, ``NaN`` a case that was not run. What is ``null`` or not a finite number
    failed.

    Raises:
        DamagedError: its row does not have the shape that asv writes.
    """
    params = stored.get_result_params(benchmark) or []
    values, version = stored._results[benchmark], stored.benchmark_version[benchmark]
    try:
        count = math.prod(map(len, params))
    except TypeError as error:
        raise DamagedError("its params are not lists of texts") from error
    if count > MOST_CASES:
        raise DamagedError(f"its params make {count} cases")
    values = [None] * count if values is None else values
    if not isinstance(values, list) or len(values) != count:
        raise DamagedError(f"result must have one entry for each of the {count} cases")
    recipe = sys.intern(recipe_of(version)) if isinstance(version, str) else ""
    for case, value in zip(itertools.product(*params), values, strict=True):
        if type(value) in {float, int} and -_LARGEST <= value <= _LARGEST:  # `True` is no number
            yield case, Run(Outcome.OK, float(value), recipe=recipe)
        elif value is None:
            yield case, Run(Outcome.FAILED, reason="no value was stored, and no reason")
        elif value == value:  # noqa: PLR0124 - not NaN
            yield case, Run(Outcome.FAILED, reason=f"{NO_NUMBER}: {value!r}")


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _texts(stored: dict[str, Any] | None) -> dict[str, str]:
    return {name: _text(value) for name, value in (stored or {}).items()}
