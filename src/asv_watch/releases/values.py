"""Measures peak memory and exact counts with a torch release, which need no interleaving."""

from __future__ import annotations

import json
import os
import tempfile
import time
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

from asv_watch.asv.processes import CASES
from asv_watch.errors import WatchError
from asv_watch.interleave.cases import ValueCase
from asv_watch.interleave.commands import run_command
from asv_watch.interleave.sides import Side
from asv_watch.probes import paths as probes
from asv_watch.records.release_values import ReleaseValue

_LONGEST_REASON = 2000
"""Characters: a C++ compiler that fails prints its whole command, and the code."""


def missing_values(
    stored: Iterable[ReleaseValue],
    release: str,
    other: str,
    commit: str,
    cases: Sequence[ValueCase],
) -> list[ValueCase]:
    """List the cases that a release needs in order to be compared with another one.

    Args:
        stored: what is stored of this machine's releases.
        release: of torch.
        other: the same.
        commit: of the package, at which they would be measured.
        cases: those that are wanted.
    """
    commits: dict[tuple[str, str], set[str]] = defaultdict(set)
    for value in stored:
        commits[value.torch, value.case].add(value.commit)
    return [
        case
        for case in cases
        if commit not in commits[release, case.name]
        and not commits[release, case.name] & commits[other, case.name]
    ]


def measure_values(side: Side, suites: Path, cases: Sequence[ValueCase]) -> Iterator[ReleaseValue]:
    """Measure cases that time nothing.

    Args:
        side: the release, and the commit of this package.
        suites: folder of the suites.
        cases: what to measure.

    Yields:
        Each case with its values, or with the reason why it has none.
    """
    by_process: dict[str, list[ValueCase]] = defaultdict(list)
    for case in cases:
        by_process[case.process].append(case)
    for together in by_process.values():
        for case, answer in zip(together, _ask(side, suites, together), strict=True):
            yield _value(side, case, answer)


def _value(side: Side, case: ValueCase, answer: dict[str, Any]) -> ReleaseValue:
    version = side.version
    assert version is not None  # noqa: S101 - releases are measured at a commit
    reasons = {
        name: str(reason)
        .replace(str(side.pair.folder), "the environment")
        .replace(str(side.source), "the package")[:_LONGEST_REASON]
        for name, reason in answer.items()
        if name != "value"
    }
    return ReleaseValue(
        torch=version.torch,
        torchvision=version.torchvision,
        commit=version.commit,
        case=case.name,
        at=int(time.time()),
        unit=case.unit,
        exact=case.exact,
        value=answer.get("value"),
        skipped=reasons.get("skipped", ""),
        failed=reasons.get("failed", ""),
    )


def _ask(side: Side, suites: Path, cases: Sequence[ValueCase]) -> list[dict[str, Any]]:
    """Measure cases in one process; all of them failed where it crashed or took too long."""
    environment = os.environ | dict(side.pair.variables) | {"PYTHONPATH": str(side.source)}
    command = [str(side.python), "-P", str(probes.VALUES), str(suites)]
    timeout = max(case.timeout for case in cases)
    selected: dict[str, list[tuple[str, ...]]] = defaultdict(list)
    for case in cases:
        if case.parameters not in selected[case.suite]:
            selected[case.suite].append(case.parameters)
    with tempfile.TemporaryDirectory(prefix="asv-watch-") as folder:  # for a `setup_cache`
        Path(folder, CASES).write_text(json.dumps(selected), encoding="utf-8")
        try:
            printed = run_command(
                [*command, *(case.identity for case in cases)],
                timeout,
                cwd=folder,
                env=environment,
            )
        except WatchError as error:
            return [{"failed": str(error)}] * len(cases)
    return [json.loads(line) for line in printed.splitlines()]
