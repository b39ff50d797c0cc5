"""Orders the cases that a diff touches: those first that spend their time in what it changed.

Every case is called once under a profile (`asv_watch.probes.executed`), the first parameters of
each benchmark before further ones, for a part of the gate's time. Cases come in the order of the
share of their time that passes in changed functions, one case of each benchmark before a second
one of any. Where the profile knows nothing, such as for code that was compiled, benchmarks come
first whose text names what the diff changed.
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
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from asv_watch import probes
from asv_watch.interleave.processes import TimedCase
from asv_watch.interleave.sides import Side
from asv_watch.records.git import ask_git, run_git

_HUNK = re.compile(r"^@@ -\S+ \+(\d+)(?:,(\d+))? @@ ?(.*)$", re.M)
_WORD = re.compile(r"[A-Za-z_]\w{2,}")
_LAST_LINE = 10**9
_SECONDS_A_CASE = 10


@dataclass(frozen=True, slots=True)
class Changed:
    """What a diff changed."""

    functions: tuple[tuple[str, int, int], ...]
    """Path, first and last line; the whole file where a change lies outside functions."""
    names: frozenset[str]
    """Names of the functions, in any language."""
    is_traceable: bool
    """Whether a profile of Python functions sees every change."""


def read_changes(repository: Path, before: str, after: str, paths: Sequence[str]) -> Changed:
    """Read which functions differ between two commits."""
    functions: dict[tuple[str, int, int], None] = {}
    names: set[str] = set()
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
    cases: Sequence[TimedCase],
    shares: Mapping[str, float | None],
    texts: Mapping[str, str],
    changed: Changed,
) -> list[TimedCase]:
    """Order cases; leave out those that run nothing of what was changed.

    Args:
        cases: those that the changed files touch.
        shares: share of a case's time in changed functions, by its identity; ``None`` where the
            case could not be profiled.
        texts: source of each benchmark, by its name.
        changed: what was changed.
    """
    words = {name: set(_WORD.findall(text)) & changed.names for name, text in texts.items()}
    frequency = Counter(word for of_benchmark in words.values() for word in of_benchmark)

    def nearness(case: TimedCase) -> tuple[float, float]:
        named = sum(1 / frequency[word] for word in words.get(benchmark_of(case), ()))
        return -(shares.get(case.identity) or 0.0), -named

    ordered = sorted(
        (case for case in cases if not (changed.is_traceable and shares.get(case.identity) == 0)),
        key=nearness,
    )
    return one_of_each_first(ordered)


def one_of_each_first(cases: Sequence[TimedCase]) -> list[TimedCase]:
    """Put the first case of every benchmark before the second one of any; keep the order else."""
    seen: Counter[str] = Counter()
    occurrences = []
    for case in cases:
        occurrences.append(seen[benchmark_of(case)])
        seen[benchmark_of(case)] += 1
    return [
        case for _, case in sorted(zip(occurrences, cases, strict=True), key=lambda pair: pair[0])
    ]


def benchmark_of(case: TimedCase) -> str:
    """Return the name of a case's benchmark."""
    return case.name.partition("(")[0]


def profile(
    side: Side, suites: Path, cases: Sequence[TimedCase], changed: Changed, limit_s: float
) -> dict[str, float | None]:
    """Call every case once, as far as the time suffices.

    Args:
        side: what they run, in the version after the change.
        suites: folder of the suites.
        cases: in this order; those of CUDA, which cannot run in a fork, are left out.
        changed: what was changed.
        limit_s: seconds for all of them.

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
            [str(side.python), "-P", str(probes.EXECUTED), str(suites), str(side.source)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            cwd=folder,
            env=os.environ | dict(side.environment.variables) | {"PYTHONPATH": str(side.source)},
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
