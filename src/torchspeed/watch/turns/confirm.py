"""Measures suspected changes again, interleaved with the commit before them.

A change that only a few separate runs show may be interference. The interleaved comparison of its
two commits is stored with kind ``confirm``; `torchspeed.watch.analysis.changes` then calls the
change confirmed or refuted, or leaves it unconfirmed where the interval allows both.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from torchspeed.errors import TorchspeedError
from torchspeed.watch.analysis.changes import Change, State
from torchspeed.watch.analysis.findings import analyse
from torchspeed.watch.asv.selection import EVERYTHING
from torchspeed.watch.asv.settings import Configuration
from torchspeed.watch.history.history import History
from torchspeed.watch.turns.cases import list_cases
from torchspeed.watch.turns.compare import Compared, compare
from torchspeed.watch.turns.processes import Case
from torchspeed.watch.turns.rounds import PRECISE
from torchspeed.watch.turns.sides import PACKAGES, side


@dataclass(frozen=True, slots=True)
class Suspect:
    """A change that no interleaved comparison of its two commits has judged yet."""

    case: str
    torch: str
    before: str
    """Hash of the last commit measured before it."""
    after: str
    """Hash of the first commit measured after it."""


def find_suspects(history: History, machine: str) -> list[Suspect]:
    """The unconfirmed changes of times on a machine, without those of the machine itself."""
    return [
        _suspect(history, change)
        for change in analyse(history).changes
        if change.state is State.UNCONFIRMED
        and (change.evidence is None or change.evidence.through_reference)
        and change.cause != "machine"
        and history.series[change.series].unit == "seconds"
        and history.series[change.series].machine == machine
    ]


def _suspect(history: History, change: Change) -> Suspect:
    series = history.series[change.series]
    return Suspect(
        series.case.name,
        history.environments[series.environment].torch,
        history.commits[change.previous].hash,
        history.commits[change.commit].hash,
    )


def confirm(
    root: Path, configuration: Configuration, machine: str, suspects: Sequence[Suspect]
) -> list[Compared]:
    """Measure suspects; those of the same two commits and torch release together.

    A comparison in which no case runs is reported and left out, so that it does not stop the
    others. An interrupt keeps the finished cases.

    Args:
        root: the checkout.
        configuration: of the checkout.
        machine: name under which results are stored.
        suspects: what to measure.

    Raises:
        TorchspeedError: asv cannot list the cases.
    """
    together: dict[tuple[str, str, str], set[str]] = {}
    for suspect in suspects:
        key = suspect.before, suspect.after, suspect.torch
        together.setdefault(key, set()).add(suspect.case)
    compared = []
    for (before, after, torch), names in together.items():
        try:
            old = side(root, configuration, before, torch or "newest", root / PACKAGES)
            new = side(root, configuration, after, torch or "newest", root / PACKAGES)
            cases = _cases(root, configuration, machine, before, names, torch)
            print(f"{new.name}\n  against {old.name}: {len(cases)} suspected changes", flush=True)
            compared.append(compare(configuration, (old, new), machine, cases, "confirm", PRECISE))
        except TorchspeedError as error:
            print(f"  not measured: {error}", flush=True)
    return compared


def _cases(
    root: Path,
    configuration: Configuration,
    machine: str,
    commit: str,
    names: set[str],
    torch: str,
) -> list[Case]:
    pairs = [pair for pair in configuration.pairs if pair.torch == torch]
    listed = list_cases(root, pairs, machine, EVERYTHING.only_times(), commit)
    cases = [case for case in listed if case.name in names]
    if not cases:
        raise TorchspeedError(f"no suite has {', '.join(sorted(names))} any more")
    return cases
