"""Orders the cases of a gate: those first that spend their time in what its diff changed.

Every case is called once under a profile (`asv_watch.probes.executed`), the first parameters of
each benchmark before further ones, for a part of the gate's time. Cases come in the order of the
share of their time that passes in changed functions, one case of each benchmark before a second
one of any. Where the profile knows nothing, such as for code that was compiled, benchmarks come
first whose text or parameters name what the diff changed.
"""

from __future__ import annotations

import ast
import json
import os
import re
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path, PurePosixPath

from asv_watch import probes
from asv_watch.asv.settings import Configuration
from asv_watch.interleave.cases import MeasurableCase
from asv_watch.interleave.sides import Side
from asv_watch.records.git import ask_git, run_git

_NEVER_MEASURED = re.compile(r"(^|/)(docs?|tests?|\.github)/|\.(md|rst)$")
"""Documentation and tests, of projects that do not list what is measured."""
_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@ ?(.*)$", re.M)
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_LAST_LINE = 10**9
_SECONDS_A_CASE = 10
_SHORTEST_PART = 5
"""Letters that a name has at least where it counts as a part of another."""


@dataclass(frozen=True, slots=True)
class Changed:
    """What a diff changed."""

    functions: tuple[tuple[str, int, int], ...]
    """Path, first and last line; the whole file where a change lies outside functions."""
    names: frozenset[str]
    """Names of the functions, in any language, of the files, and of the folders of those that are
    not Python."""
    is_traceable: bool
    """Whether a profile of Python functions sees every change."""


def measured_files(root: Path, configuration: Configuration, before: str, after: str) -> list[str]:
    """List the files that differ between two commits and can change a measured value.

    These are the files below ``"measured_paths"`` of asv.conf.json. In a project without that
    list, or with its suites in a repository of their own, they are all files but documentation
    and tests. A file that was renamed is listed with both names.

    Raises:
        WatchError: git fails, such as where an object is missing.
    """
    repository = configuration.repository
    listed = run_git(repository, "diff", "--name-only", "--no-renames", "-z", before, after)
    changed = [path for path in listed.split("\0") if path]
    measured_paths = configuration.declared.measured_paths
    if not measured_paths or repository != root:
        return [path for path in changed if not _NEVER_MEASURED.search(path)]
    top = Path(run_git(root, "rev-parse", "--show-toplevel").rstrip("\n")).resolve()
    measured = [root.resolve().relative_to(top) / path for path in measured_paths]
    return [path for path in changed if any(map(PurePosixPath(path).is_relative_to, measured))]


def read_changes(repository: Path, before: str, after: str, paths: Sequence[str]) -> Changed:
    """Read which functions of some files differ between two commits."""
    functions: dict[tuple[str, int, int], None] = {}
    names = {PurePosixPath(path).stem for path in paths}
    is_traceable = True
    for path in paths:
        where = f":(top,literal){path}"
        diff = run_git(
            repository, "diff", "-U0", "--no-renames", "--no-ext-diff", before, after, "--", where
        )
        file = f"{after}:{path}"
        text = (
            run_git(repository, "show", file)
            if ask_git(repository, "cat-file", "-t", file)
            else ""
        )
        known = _functions(text) if path.endswith(".py") else None
        if known is None:
            names.update(PurePosixPath(path).parts[:-1])
        for first, count, context in _HUNK.findall(diff):
            if known is None:
                names.update(_WORD.findall(context))
                is_traceable = False
                continue
            for line in _lines(text, int(first), int(count or 1)):
                inside = [function for function in known if function[1] <= line <= function[2]]
                name, start, end = max(
                    inside, key=lambda function: function[1], default=("", 1, _LAST_LINE)
                )
                functions[path, start, end] = None
                names.update(filter(None, [name]))
                is_traceable &= bool(name)
    return Changed(tuple(functions), frozenset(names), is_traceable)


def _functions(text: str) -> list[tuple[str, int, int]]:
    """List the functions of a file: name, first and last line, decorators included."""
    try:
        tree = ast.parse(text)
    except (SyntaxError, ValueError):
        return []
    return [
        (
            node.name,
            min([node.lineno, *(decorator.lineno for decorator in node.decorator_list)]),
            node.end_lineno or node.lineno,
        )
        for node in ast.walk(tree)
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def _lines(text: str, first: int, count: int) -> Iterator[int]:
    """Yield the lines of a hunk that hold code; where lines were removed, the one before them."""
    if not count:
        yield max(first, 1)
    for number, line in enumerate(text.splitlines()[first - 1 : first - 1 + count], start=first):
        if line.strip() and not line.lstrip().startswith("#"):
            yield number


def rank(
    cases: Sequence[MeasurableCase],
    shares: Mapping[str, float | None],
    texts: Mapping[str, str],
    changed: Changed,
) -> list[MeasurableCase]:
    """Order cases; leave out those that run nothing of what was changed.

    Args:
        cases: those to choose from.
        shares: share of a case's time in changed functions, by its identity; ``None`` where the
            case could not be profiled.
        texts: source of each benchmark, by its name.
        changed: what was changed.
    """
    named = {
        case: _named_in(f"{case.name} {texts.get(case.benchmark, '')}", changed.names)
        for case in cases
    }
    frequency = Counter(word for of_case in named.values() for word in of_case)

    def nearness(case: MeasurableCase) -> tuple[float, float]:
        rarity = sum(1 / frequency[word] for word in named[case])
        return -(shares.get(case.identity) or 0.0), -rarity

    ordered = sorted(
        (case for case in cases if not (changed.is_traceable and shares.get(case.identity) == 0)),
        key=nearness,
    )
    return one_of_each_first(ordered)


def _named_in(text: str, names: Collection[str]) -> set[str]:
    """Return the names that a text has, also within others and without regard to underscores.

    A function of Python may have other names in C: ``all_distinct``, ``PyIU_AllDistinct`` and
    ``alldistinct.c`` are alike.
    """
    in_text = {_letters(word) for word in _WORD.findall(text)}
    return {name for name in names if any(_are_alike(_letters(name), word) for word in in_text)}


def _letters(name: str) -> str:
    return name.replace("_", "").lower()


def _are_alike(name: str, other: str) -> bool:
    shorter, longer = sorted((name, other), key=len)
    return name == other or (len(shorter) >= _SHORTEST_PART and shorter in longer)


def one_of_each_first(cases: Sequence[MeasurableCase]) -> list[MeasurableCase]:
    """Put the first case of every benchmark before the second one of any; keep the order else."""
    seen: Counter[str] = Counter()
    occurrences = []
    for case in cases:
        occurrences.append(seen[case.benchmark])
        seen[case.benchmark] += 1
    return [
        case for _, case in sorted(zip(occurrences, cases, strict=True), key=lambda pair: pair[0])
    ]


def profile(
    side: Side, cases: Sequence[MeasurableCase], changed: Changed, limit_s: float
) -> dict[str, float | None]:
    """Call every case once, as far as the time suffices; those of CUDA cannot run in a fork.

    Returns:
        The share of its time that a case spends in changed functions, by its identity.
    """
    request = {
        "changed": changed.functions,
        "cases": [case.identity for case in cases if case.can_fork],
        "seconds": _SECONDS_A_CASE,
    }
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as folder:
        process = subprocess.Popen(
            side.command(probes.EXECUTED, side.source),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=folder,
            env=side.variables,
            start_new_session=True,  # so that it can be killed together with its child
        )
        try:
            printed, _ = process.communicate(json.dumps(request), timeout=limit_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            printed, _ = process.communicate()
        except BaseException:
            os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
    shares: dict[str, float | None] = {}
    for line in printed.splitlines():
        try:
            answer = json.loads(line)
            shares[str(answer["case"])] = answer["share"]
        except (ValueError, KeyError, TypeError):  # cut off, or written by a suite
            continue
    return shares
