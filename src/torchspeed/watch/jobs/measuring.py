"""Measures commits in environments, one ``asv run`` for each of their products."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from torchspeed.watch.asv.commands import run_asv
from torchspeed.watch.asv.selection import asv_patterns
from torchspeed.watch.asv.settings import Configuration, Pair
from torchspeed.watch.history.git import ask_git
from torchspeed.watch.progress import Progress, human_time, remembered_seconds


@dataclass
class Tally:
    """What became of the cases of a whole run."""

    counts: dict[str, int] = field(default_factory=dict)
    """Outcome to number of cases."""
    failures: list[str] = field(default_factory=list)
    """A line for each case that failed or timed out."""

    def add(self, outcomes: dict[str, tuple[str, str]]) -> None:
        """Count the outcomes of one ``asv run``."""
        for case, (outcome, reason) in outcomes.items():
            self.counts[outcome] = self.counts.get(outcome, 0) + 1
            if outcome in {"failed", "timed out"}:
                last = reason.splitlines()[-1] if reason else "no message"
                self.failures.append(f"{case} {outcome}: {last}")

    def __str__(self) -> str:
        if not self.counts:
            return "nothing was missing"
        return ", ".join(f"{count} {outcome}" for outcome, count in sorted(self.counts.items()))


def measure(
    root: Path,
    configuration: Configuration,
    commits: Sequence[str],
    pairs: Sequence[Pair],
    machine: str,
    *,
    patterns: tuple[str, ...] = (),
    retry_failed: bool = True,
) -> Tally:
    """Measure what is missing of each commit in each pair's environment.

    Raises:
        TorchspeedError: asv failed as a whole; what was measured before stays.
    """
    tally = Tally()
    for commit in commits:
        for pair in pairs:
            subject = ask_git(root, "log", "-1", "--format=%h %s", commit)
            print(f"{subject}\n  with {pair}, on {machine}", flush=True)
            started = time.monotonic()
            progress = Progress(remembered_seconds(configuration.results / machine))
            run_asv(
                root,
                [
                    "run",
                    "--machine",
                    machine,
                    "--environment",
                    pair.environment,
                    *asv_patterns(patterns),
                    f"{commit}^!",
                ],
                progress,
                resume="missing" if retry_failed else "never-run",
            )
            done = Tally()
            done.add(progress.outcomes)
            tally.add(progress.outcomes)
            progress.say(f"  {done} in {human_time(time.monotonic() - started)}")
    return tally
