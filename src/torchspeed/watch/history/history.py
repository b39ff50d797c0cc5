"""All that a results folder says about the commits of a branch."""

from __future__ import annotations

from dataclasses import dataclass, field

from torchspeed.watch.history.calibrations import Calibration
from torchspeed.watch.history.comparisons import StoredComparison
from torchspeed.watch.history.explanations import StoredExplanation
from torchspeed.watch.history.notes import Notes
from torchspeed.watch.history.records import (
    Benchmark,
    Commit,
    Environment,
    LeftOut,
    Machine,
    Problem,
    Record,
    Series,
)
from torchspeed.watch.history.release_values import ReleaseValue
from torchspeed.watch.history.releases import TriedRelease
from torchspeed.watch.history.verifications import Verification


@dataclass(frozen=True, slots=True)
class History:
    """Everything that the tracked results say."""

    commits: tuple[Commit, ...]
    """Oldest first, along the tracked branch: those with results, those that were compared with a
    reference, and the tagged ones."""
    machines: dict[str, Machine]
    environments: dict[str, Environment]
    benchmarks: dict[str, Benchmark]
    series: tuple[Series, ...]
    problems: tuple[Problem, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
    facts: dict[tuple[str, str], dict[str, dict[str, str]]] = field(default_factory=dict)
    """(machine, environment) to commit hash, oldest first, to where and with what that
    commit's results were measured: machine facts, ``requirement <name>``, ``variable <name>``."""
    recorded: dict[tuple[str, str], dict[str, tuple[Record, ...]]] = field(default_factory=dict)
    """(machine, environment) to commit hash, oldest first, to what the runs of that commit
    recorded of where they ran, oldest first; commits from before this was recorded are missing."""
    calibrations: dict[str, Calibration] = field(default_factory=dict)
    """Machine to its newest calibration."""
    verifications: dict[str, Verification] = field(default_factory=dict)
    """Machine to its newest verification."""
    notes: Notes | None = None
    """What people wrote about changes and recipes."""
    positions: dict[str, int] = field(default_factory=dict)
    """Commit hash to the number of commits before it, for all commits of the branch."""
    comparisons: dict[str, tuple[StoredComparison, ...]] = field(default_factory=dict)
    """Machine to its interleaved comparisons, oldest first."""
    explanations: dict[str, tuple[StoredExplanation, ...]] = field(default_factory=dict)
    """Machine to its explanations of differences, oldest first."""
    releases: dict[str, dict[str, TriedRelease]] = field(default_factory=dict)
    """Machine to each torch release that it tried, by its version."""
    release_values: dict[str, tuple[ReleaseValue, ...]] = field(default_factory=dict)
    """Machine to peak memory and exact counts with torch releases, oldest first."""

    @property
    def unverified(self) -> tuple[str, ...]:
        """Machines whose results were not verified, where those of any machine were."""
        if not self.verifications:
            return ()
        passed = {name for name, newest in self.verifications.items() if newest.passed}
        return tuple(sorted(self.machines.keys() - passed))
