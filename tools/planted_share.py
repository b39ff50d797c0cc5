"""How much extra work is so many per cent of a pass: a process of `tools.planted_slowdown`.

Runs inside the environment that measures, from a checkout's root, a process for each case,
as asv has it. Standard input holds a `Question` as JSON, standard output gets a list of
`Answer`. The case is made by its own suite. With and without the extra work it is timed in
turn by the suite's own clock, so that the share is known, not assumed.
"""

from __future__ import annotations

import ast
import importlib
import json
import statistics
import sys
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypedDict

from torch import nn

from tools.planted_work import ExtraWork
from torchspeed.workloads import Workload

_BLOCK = 0.05  # s that a block of calls lasts at least
_PAIRS = 15
_PAIRS_OF_A_TRIAL = 5
_MOST = 8.0  # s for all pairs of blocks of one case and share; three pairs at least
_TRIALS = 3
_CLOSE = 0.002  # of the pass: a share so near to the one asked for is not trimmed again


class Question(TypedDict):
    """Which case, and how much."""

    case: str
    shares: list[float]
    operations: dict[str, list[int]]
    """(workload, whether in training mode) as ``"darnn True"`` to the operations of each
    share, where another case of the same model has settled them."""


class Answer(TypedDict):
    """What a number of operations comes to."""

    workload: str
    training: bool
    operations: int
    real: float
    """Median of what they add, as a share of the pass without them."""
    low: float
    """First quartile."""
    high: float
    """Third quartile."""


@dataclass
class _Case:
    """One case of a suite, ready to be called, and the models that it made."""

    name: str
    call: Callable[[], object]
    clock: Callable[[], float]
    models: list[tuple[str, nn.Module]]

    def seconds(self, calls: int) -> float:
        start = self.clock()
        for _ in range(calls):
            self.call()
        return (self.clock() - start) / calls


def _load(name: str) -> _Case:
    """Make a case from its name, such as ``suite.Class.time_x('darnn', 'cpu')``."""
    function, _, rest = name.partition("(")
    module, suite_name, method = function.split(".")
    parameters = ast.literal_eval(f"({rest.removesuffix(')')},)") if rest else ()
    models: list[tuple[str, nn.Module]] = []
    make = Workload.create_model

    def create_model(self: Workload, seed: int = 0) -> nn.Module:
        models.append((self.name, make(self, seed)))
        return models[-1][1]

    Workload.create_model = create_model  # type: ignore[method-assign]
    try:
        suite: Any = getattr(importlib.import_module(f"benchmarks.{module}"), suite_name)()
        suite.setup(*parameters)
        getattr(suite, method)(*parameters)
    finally:
        Workload.create_model = make  # type: ignore[method-assign]
    return _Case(name, lambda: getattr(suite, method)(*parameters), suite.timer, models)


def _share(case: _Case, work: ExtraWork, pairs: int) -> tuple[float, float, float]:
    """Median and quartiles of what the work adds, as shares of the pass without it."""
    [(_, model)] = case.models
    calls = max(1, round(_BLOCK / case.seconds(1)))
    ratios: list[float] = []
    took = 0.0
    while len(ratios) < pairs and (took < _MOST or len(ratios) < 3):
        plain = case.seconds(calls)
        hook = model.register_forward_pre_hook(work)
        planted = case.seconds(calls)
        hook.remove()
        again = case.seconds(calls)
        ratios.append(2 * planted / (plain + again) - 1)
        took += calls * (plain + planted + again)
    low, middle, high = statistics.quantiles(ratios, n=4, method="inclusive")
    return middle, low, high


def _operations(case: _Case, share: float, training: bool) -> int:
    """How many operations make up a share of the case's pass."""
    pass_seconds = statistics.median(
        case.seconds(max(1, round(0.02 / case.seconds(1)))) for _ in range(5)
    )
    count = 1000
    per_operation = _share_seconds(case, count) / count
    count = max(1, round(share * pass_seconds / per_operation))
    for _ in range(_TRIALS):
        real, _, _ = _share(case, _work(count, training), _PAIRS_OF_A_TRIAL)
        if abs(real - share) <= _CLOSE or real <= 0:
            break
        count = max(1, round(count * share / real))
    return count


def _work(count: int, training: bool) -> ExtraWork:
    return ExtraWork(0, count) if training else ExtraWork(count, 0)


def _share_seconds(case: _Case, count: int) -> float:
    """Seconds of so many operations by themselves."""
    work, model = ExtraWork(count, count), nn.Identity()
    work(model, ())
    times = []
    for _ in range(5):
        start = case.clock()
        work(model, ())
        times.append(case.clock() - start)
    return statistics.median(times)


def answer(question: Question) -> list[Answer]:
    """Settle the operations of each share, and time what they really add.

    Raises:
        ValueError: the case makes no model, or several.
    """
    case = _load(question["case"])
    if len(case.models) != 1:
        raise ValueError(f"{case.name} makes {len(case.models)} models, not one")
    [(workload, model)] = case.models
    training = model.training
    known = question["operations"].get(f"{workload} {training}")
    answers: list[Answer] = []
    for place, share in enumerate(question["shares"]):
        count = known[place] if known else _operations(case, share, training)
        middle, low, high = _share(case, _work(count, training), _PAIRS)
        answers.append(
            {
                "workload": workload,
                "training": training,
                "operations": count,
                "real": middle,
                "low": low,
                "high": high,
            }
        )
    return answers


if __name__ == "__main__":
    print(json.dumps(answer(json.load(sys.stdin))))
