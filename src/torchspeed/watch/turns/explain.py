"""Explains a difference between two sides operator by operator.

Both sides are profiled in alternation, each time by a new process (`measure/probes/operators.py`).
An operator *accounts for* the difference where all of its times on one side are above all on the
other; its contribution is the difference of the least times, because interference only adds time.
"""

from __future__ import annotations

import json
import os
import statistics
import subprocess
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from torchspeed.errors import TorchspeedError
from torchspeed.watch import probes
from torchspeed.watch.turns.processes import TimedCase
from torchspeed.watch.turns.sides import Side

ROUNDS = 4
"""Profiles of each side: by chance all of one side are above all of the other in 3 % of cases."""
Profile = dict[str, Any]
"""As `torchspeed.measure.probes.operators` prints it."""


@dataclass(frozen=True, slots=True)
class OperatorDifference:
    """One operator with one set of input shapes, on both sides, in one call of the case."""

    name: str
    shapes: str
    calls: tuple[float, float]
    """Before and after."""
    seconds: tuple[float, float]
    """Least self time before and after."""
    clear: bool
    """All times of one side are above all times of the other."""

    @property
    def difference(self) -> float:
        """Seconds after less seconds before."""
        return self.seconds[1] - self.seconds[0]


@dataclass(frozen=True, slots=True)
class KernelChange:
    """A problem for which oneDNN chose different kernels."""

    primitive: str
    problem: str
    before: tuple[str, ...]
    """Implementations; empty where the problem did not occur."""
    after: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Explanation:
    """What differs between two sides."""

    operators: tuple[OperatorDifference, ...]
    """Those that contribute most to the difference first."""
    kernels: tuple[KernelChange, ...]
    seconds: tuple[float, float]
    """Sum of all operators' self times before and after, in one call of the case."""


def explain(
    sides: tuple[Side, Side], suites: Path, case: TimedCase, rounds: int = ROUNDS
) -> Explanation:
    """Profile a case on two sides and compare its operators.

    Args:
        sides: before and after.
        suites: folder of the suites.
        case: what to profile, on the CPU.
        rounds: profiles of each side.

    Raises:
        TorchspeedError: the case needs CUDA, or it cannot be profiled on a side.
    """
    if not case.can_fork:
        raise TorchspeedError(f"{case.name} runs on CUDA; only cases on the CPU are explained")
    profiles: tuple[list[Profile], list[Profile]] = ([], [])
    for number in range(rounds):
        for place in (number % 2, 1 - number % 2):
            profiles[place].append(_profile(sides[place], suites, case))
    return compare_profiles(*profiles)


def compare_profiles(before: Sequence[Profile], after: Sequence[Profile]) -> Explanation:
    """Compare the operators and kernels of two sides.

    Args:
        before: one or more profiles.
        after: the same.
    """
    times = [_times(side) for side in (before, after)]
    operators = [
        _difference(key, times[0].get(key, _absent(before)), times[1].get(key, _absent(after)))
        for key in dict.fromkeys((*times[0], *times[1]))
    ]
    total = (
        sum(operator.seconds[0] for operator in operators),
        sum(operator.seconds[1] for operator in operators),
    )
    sign = 1 if total[1] >= total[0] else -1
    operators.sort(key=lambda operator: (not operator.clear, -sign * operator.difference))
    return Explanation(tuple(operators), _kernel_changes(before[0], after[0]), total)


_Times = list[tuple[float, float]]
"""Calls and seconds in each profile."""


def _absent(profiles: Sequence[Profile]) -> _Times:
    return [(0.0, 0.0)] * len(profiles)


def _times(profiles: Sequence[Profile]) -> dict[tuple[str, str], _Times]:
    times: dict[tuple[str, str], _Times] = {}
    for number, profile in enumerate(profiles):
        for operator in profile["operators"]:
            key = operator["name"], operator["shapes"]
            of_key = times.setdefault(key, _absent(profiles))
            of_key[number] = (operator["calls"], operator["seconds"])
    return times


def _difference(key: tuple[str, str], before: _Times, after: _Times) -> OperatorDifference:
    old, new = [seconds for _, seconds in before], [seconds for _, seconds in after]
    return OperatorDifference(
        *key,
        calls=(statistics.median(n for n, _ in before), statistics.median(n for n, _ in after)),
        seconds=(min(old), min(new)),
        clear=max(old) < min(new) or max(new) < min(old),
    )


def _kernel_changes(before: Profile, after: Profile) -> tuple[KernelChange, ...]:
    chosen: list[dict[tuple[str, str], set[str]]] = [{}, {}]
    for place, profile in enumerate((before, after)):
        for kernel in profile["kernels"]:
            problem = kernel["primitive"], kernel["problem"]
            chosen[place].setdefault(problem, set()).add(kernel["implementation"])
    return tuple(
        KernelChange(
            *problem,
            tuple(sorted(chosen[0].get(problem, ()))),
            tuple(sorted(chosen[1].get(problem, ()))),
        )
        for problem in dict.fromkeys((*chosen[0], *chosen[1]))
        if chosen[0].get(problem) != chosen[1].get(problem)
    )


def _profile(side: Side, suites: Path, case: TimedCase) -> Profile:
    environment = os.environ | dict(side.pair.variables) | {"PYTHONPATH": str(side.source)}
    try:
        done = subprocess.run(
            [str(side.python), "-P", str(probes.OPERATORS), str(suites), case.identity],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
            env=environment,
            timeout=case.timeout,
        )
    except subprocess.TimeoutExpired as error:
        raise TorchspeedError(
            f"{case.name} on {side.name} was not profiled in {case.timeout:g} s"
        ) from error
    lines = done.stderr.strip().splitlines()
    if done.returncode:
        reason = lines[-1] if lines else f"exit status {done.returncode}"
        raise TorchspeedError(f"{case.name} cannot be profiled on {side.name}: {reason}")
    profile: Profile = json.loads(done.stdout)
    if "skipped" in profile:
        raise TorchspeedError(f"{case.name} is skipped on {side.name}")
    return profile
