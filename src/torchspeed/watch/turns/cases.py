"""Lists the cases that time something and may run here."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path

from torchspeed.errors import TorchspeedError
from torchspeed.watch.asv.cases import cannot_run, case_name, cases_of
from torchspeed.watch.asv.scratch import ScratchProject
from torchspeed.watch.asv.selection import Selection
from torchspeed.watch.asv.settings import Pair
from torchspeed.watch.turns.processes import Case

_TIMEOUT = 300.0  # s: asv.conf.json's default, of suites that name none


def list_cases(
    root: Path, pairs: Sequence[Pair], machine: str, selection: Selection, commit: str
) -> list[Case]:
    """Make the environments where they are missing; list the cases that may run here.

    Args:
        root: the checkout, whose suites are asked.
        pairs: environments that will measure.
        machine: name under which this machine is registered with asv.
        selection: cases; of them, those that time something are listed.
        commit: hash of any commit that can be installed.

    Raises:
        TorchspeedError: no case matches that times something and can run here, or asv failed.
    """
    project = ScratchProject(root / ".asv" / "interleaved" / "suites", root)
    for pair in {pair.environment: pair for pair in pairs}.values():
        project.discover(commit, pair, machine)
    listed = json.loads((project.results / "benchmarks.json").read_text(encoding="utf-8"))
    cases = [
        Case(
            name=case_name(benchmark, params),
            identity=f"{name}-{place}" if benchmark["params"] else name,
            timeout=float(benchmark.get("timeout") or _TIMEOUT),
        )
        for name, benchmark in sorted(listed.items())
        if name != "version" and benchmark["type"] == "time"
        for place, params in enumerate(cases_of(benchmark))
        if selection.includes(benchmark, params) and not cannot_run(benchmark, params)
    ]
    if not cases:
        raise TorchspeedError(
            f"no case that times something here matches {selection}; "
            "`asv show` names those that were measured"
        )
    return cases
