"""Orders the cases of a gate: those first that spend their time in what it changed.

Every case is called once under a profile (`asv_watch.probes.executed`), the first parameters of
each benchmark before further ones, for a part of the gate's time. Cases come in the order of the
share of their time that passes in changed functions, one case of each benchmark before a second
one of any. Where the profile knows nothing, such as for code that was compiled, benchmarks come
first whose text or parameters name what the diff changed.
"""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from collections import Counter
from collections.abc import Collection, Mapping, Sequence

from asv_watch import probes
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.sides import Side
from asv_watch.gate.changes import Changed, words

_SECONDS_A_CASE = 10
_SHORTEST_PART = 5
"""Letters that a name has at least where it counts as a part of another."""


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
    in_text = {_letters(word) for word in words(text)}
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
    """Call every case once, as far as the time suffices.

    Args:
        side: what they run, in the version after the change.
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
