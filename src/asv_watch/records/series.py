"""A series: all runs of one case on one machine in one environment."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from asv_watch.records.records import NEVER_RUN, Case, Run
from asv_watch.records.run_columns import RunColumns


@dataclass(frozen=True)
class Series:
    """All runs of one case on one machine in one environment, by commit."""

    machine: str
    environment: str
    case: Case
    unit: str
    higher_is_better: bool
    columns: RunColumns
    """Its runs, for each commit of which this machine and environment hold any result."""

    @cached_property
    def runs(self) -> dict[str, Run]:
        """Commit hash to run, oldest commit first: ``NEVER_RUN`` where this case has none."""
        return self.columns.runs()

    @property
    def values(self) -> dict[str, float]:
        """Commit hash to value, oldest first, of the runs that have one."""
        valued = self.columns.valued
        commits = map(valued.commits.__getitem__, valued.places.tolist())
        return dict(zip(commits, valued.values.tolist(), strict=True))

    @property
    def last(self) -> Run:
        """The newest run that is more than ``NEVER_RUN``, or ``NEVER_RUN`` if there is none."""
        return self.columns.run(-1) if len(self.columns.rows) else NEVER_RUN
