"""The benchmarks of today's suites, as each machine listed them, and their union.

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
import json
import math
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import msgspec

from asv_watch.errors import WatchError
from asv_watch.files import make_folder, read_regular, write_whole
from asv_watch.records.records import Benchmark, Problem
from asv_watch.text.quantities import more_is_better

FILE_NAME = "benchmarks.json"
API_VERSION = 2
"""Format version of asv's lists of benchmarks."""
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
        entries = _read(folder / FILE_NAME)
        if entries is not None:
            return {name: entry for name, entry in entries.items() if _is_measurable(name, entry)}
    return {}


def store_list(results: Path, machine: str, entries: Mapping[str, Any], suites_at: int) -> None:
    """Store the list of a machine's suites, and the union of all machines' lists.

    A file that would not change is not written.

    Args:
        results: Folder of all machines' results.
        machine: Name of its folder there.
        entries: What asv found in the suites.
        suites_at: When the suites were committed, seconds since the epoch.

    Raises:
        OSError: A list cannot be written; the old one stays.
    """
    own = results / machine / FILE_NAME
    known = [_read(path) or {} for path in (own, results / FILE_NAME)]
    listed: Entries = {}
    for name, entry in entries.items():
        new = {key: value for key, value in entry.items() if key != _RUN_ONLY_KEY}
        before = [stored[name] for stored in known if name in stored]
        same = [old for old in before if old == new | {_SUITES_AT: old.get(_SUITES_AT)}]
        listed[name] = same[0] if same else new | {_SUITES_AT: suites_at}
    _write(own, listed)
    lists = {path: _read(path) for path in sorted(results.glob(f"*/{FILE_NAME}"))}
    if None in lists.values():  # the union still has what a damaged list held
        lists[results / FILE_NAME] = _read(results / FILE_NAME)
    _write(results / FILE_NAME, merge_lists(filter(None, lists.values())))


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


_REMEDY = "recreate it with `asv run --bench just-discover`"

MOST_CASES = 100_000
"""Largest number of cases of a benchmark: more are taken for damage, and would fill the memory."""


def read_benchmarks(results_dir: Path) -> tuple[dict[str, Benchmark], list[Problem]]:
    """Read the union of the lists of a results folder: asv's own, and each machine's.

    Returns:
        The benchmarks in the order of their names, and one problem for each machine's list that is
        damaged, and for each entry that does not have the shape of a benchmark.

    Raises:
        WatchError: There is no list, or asv's own is unreadable or not a list of benchmarks.
    """
    path = results_dir / FILE_NAME
    problems: list[Problem] = []
    lists = [_read(own, problems) for own in sorted(results_dir.glob(f"*/{FILE_NAME}"))]
    try:
        lists.append(parse_list(read_regular(path)))
    except FileNotFoundError as error:
        if not any(lists):
            raise WatchError(f"{path} is missing: {_REMEDY}") from error
    except OSError as error:
        raise WatchError(
            f"{path} cannot be read ({error.strerror}): correct that, or {_REMEDY}"
        ) from error
    except ValueError as error:
        raise WatchError(f"{path} is damaged ({error}): {_REMEDY}") from error
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
    named = {"unit": "unit", **entry, "name": name}
    benchmark = msgspec.convert(named | {"higher_is_better": is_higher_better(entry)}, Benchmark)
    if len(benchmark.params) != len(benchmark.param_names):
        raise ValueError("params and param_names differ in length")
    if math.prod(map(len, benchmark.params)) > MOST_CASES:
        raise ValueError(f"its params make more than {MOST_CASES:,} cases")
    return benchmark
