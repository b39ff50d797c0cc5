"""What ``make compare`` measures, and what that comes to: two sides, case by case."""

from __future__ import annotations

import itertools
import re
import statistics
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import asv.util

from torchspeed.errors import TorchspeedError
from torchspeed.watch.asv.cases import cannot_run, case_name, cases_of
from torchspeed.watch.asv.scratch import ScratchProject
from torchspeed.watch.asv.settings import Pair
from torchspeed.watch.turns.processes import Case
from torchspeed.watch.turns.ratio import Ratio, compare_sides
from torchspeed.watch.turns.rounds import Measured

_TIMEOUT = 300.0  # s: asv.conf.json's default, of suites that name none


@dataclass(frozen=True, slots=True)
class Compared:
    """One case on two sides."""

    case: str
    before: float
    """Median of all samples, seconds a call."""
    after: float
    ratio: Ratio


def list_cases(
    root: Path, pairs: Sequence[Pair], machine: str, patterns: Sequence[str], commit: str
) -> list[Case]:
    """Make the environments where they are missing; list the cases that may run here.

    Args:
        root: the checkout, whose suites are asked.
        pairs: environments that will measure.
        machine: name under which this machine is registered with asv.
        patterns: cases, as asv matches them.
        commit: hash of any commit that can be installed.

    Raises:
        TorchspeedError: no case matches that times something and can run here, or asv failed.
    """
    project = ScratchProject(root / ".asv" / "side-by-side" / "suites", root)
    for pair in {pair.environment: pair for pair in pairs}.values():
        project.discover(commit, pair, machine)
    listed = asv.util.load_json(str(project.results / "benchmarks.json"), api_version=2)
    found = [
        Case(
            name=case_name(benchmark, params),
            identity=f"{name}-{place}" if benchmark["params"] else name,
            timeout=float(benchmark.get("timeout") or _TIMEOUT),
        )
        for name, benchmark in sorted(listed.items())
        if benchmark["type"] == "time"
        for place, params in enumerate(cases_of(benchmark))
        if any(re.search(pattern, case_name(benchmark, params)) for pattern in patterns)
        and not cannot_run(benchmark, params)
    ]
    if not found:
        raise TorchspeedError(
            f"no case that times something here matches {', '.join(patterns)}; "
            "`asv show` names those that were measured"
        )
    return found


def suites(root: Path) -> Path:
    """The folder of suites, whichever commit a side is: as asv has it."""
    conf = asv.util.load_json(str(root / "asv.conf.json"), js_comments=True)
    return root / str(conf.get("benchmark_dir", "benchmarks"))


def judge(measured: Measured) -> tuple[Compared, ...]:
    """What the two sides come to in every case, as it was listed.

    Raises:
        TorchspeedError: no case ran on both sides.
    """
    kept = list(measured.rounds)
    if not kept:
        said = next(iter((measured.failed | measured.skipped).values()), "none was measured")
        raise TorchspeedError(f"no case ran on both sides ({said}); try `make bench`")
    ratios = compare_sides([measured.ratios(case) for case in kept])
    return tuple(
        Compared(case.name, _median(measured, case, 0), _median(measured, case, 1), ratio)
        for case, ratio in zip(kept, ratios, strict=True)
    )


def _median(measured: Measured, case: Case, side: int) -> float:
    rounds = measured.rounds[case]
    return statistics.median(itertools.chain.from_iterable(one[side] for one in rounds))
