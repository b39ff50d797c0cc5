"""Lists the cases that time something and may run here."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from torchspeed.errors import TorchspeedError
from torchspeed.watch.asv.cases import cannot_run, case_name, cases_of
from torchspeed.watch.asv.processes import listing_command
from torchspeed.watch.asv.scratch import ScratchProject
from torchspeed.watch.asv.selection import Selection, in_short_set
from torchspeed.watch.asv.settings import Pair
from torchspeed.watch.history.git import ask_git
from torchspeed.watch.history.suite_lists import read_machine_list
from torchspeed.watch.turns.commands import run_command
from torchspeed.watch.turns.processes import TimedCase
from torchspeed.watch.turns.sides import Side
from torchspeed.watch.turns.workplace import Workplace

_TIMEOUT = 300.0  # s: asv.conf.json's default, of suites that name none


def list_cases(
    place: Workplace, pairs: Sequence[Pair], selection: Selection, commit: str = "HEAD"
) -> list[TimedCase]:
    """Make the environments where they are missing; list the cases that may run here.

    Args:
        place: the checkout, whose suites are asked.
        pairs: environments that will measure.
        selection: cases; of them, those that time something are listed.
        commit: any commit that can be installed.

    Raises:
        TorchspeedError: no case matches that times something and can run here, or asv failed.
    """
    project = ScratchProject(place.root / ".asv" / "interleaved" / "suites", place.root)
    commit_hash = ask_git(place.root, "rev-parse", commit)
    for pair in {pair.environment: pair for pair in pairs}.values():
        project.discover(commit_hash, pair, place.machine)
    listed = read_machine_list(project.results, place.machine)
    return timed_cases(listed.values(), selection)


def list_cases_in(environment: Side, suites: Path, selection: Selection) -> list[TimedCase]:
    """List the cases that may run here, by an environment that asv does not manage.

    Args:
        environment: whose interpreter and package import the suites.
        suites: their folder.
        selection: cases; of them, those that time something are listed.

    Raises:
        TorchspeedError: no case matches that times something and can run here, or the suites
            cannot be imported.
    """
    variables = dict(environment.pair.variables) | {"PYTHONPATH": str(environment.source)}
    with tempfile.TemporaryDirectory(prefix="torchspeed-") as folder:
        listed = Path(folder) / "benchmarks.json"
        command = listing_command(environment.python, suites, listed)
        run_command(command, _TIMEOUT, cwd=folder, env=os.environ | variables)
        return timed_cases(json.loads(listed.read_text(encoding="utf-8")), selection)


def timed_cases(benchmarks: Iterable[dict[str, Any]], selection: Selection) -> list[TimedCase]:
    """List the selected cases that time something and may run here.

    Args:
        benchmarks: entries of asv's list of benchmarks.
        selection: cases; of them, those that time something are listed.

    Raises:
        TorchspeedError: there is none.
    """
    cases = [
        TimedCase(
            name=case_name(benchmark, params),
            identity=f"{benchmark['name']}-{place}" if benchmark["params"] else benchmark["name"],
            timeout=float(benchmark.get("timeout") or _TIMEOUT),
            short=in_short_set(benchmark, params),
        )
        for benchmark in sorted(benchmarks, key=lambda benchmark: str(benchmark["name"]))
        if benchmark["type"] == "time"
        for place, params in enumerate(cases_of(benchmark))
        if selection.includes(benchmark, params) and not cannot_run(benchmark, params)
    ]
    if not cases:
        raise TorchspeedError(
            f"no case that times something here matches {selection}; "
            "`asv show` names those that were measured"
        )
    return cases


def find_case(place: Workplace, pairs: Sequence[Pair], selection: Selection) -> TimedCase:
    """Return the only case that a selection matches.

    Args:
        place: the checkout, whose suites are asked.
        pairs: environments that will measure.
        selection: has to match one case that times something.

    Raises:
        TorchspeedError: no case matches, or several do.
    """
    cases = list_cases(place, pairs, selection)
    if len(cases) > 1:
        raise TorchspeedError(
            f"{selection} matches {len(cases)} cases, such as {cases[0].name} and "
            f"{cases[1].name}; name one"
        )
    return cases[0]
