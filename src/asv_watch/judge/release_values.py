"""Peak memory and exact counts of one torch release against those of another one.

Both values of a case are from the same commit of the package. An exact count differs where it is
another number. Peak memory is not judged: one process measured it, and it varies from process to
process by less than 0.1 % in some cases and by 12 % in others.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from asv_watch.records.release_values import ReleaseValue
from asv_watch.statistics.rule import Verdict


@dataclass(frozen=True, slots=True)
class ValueChange:
    """A case with two releases, at one commit of the package."""

    before: float
    after: float
    unit: str
    exact: bool
    """Whether every process gives the same value."""

    @property
    def ratio(self) -> float | None:
        """After over before; ``None`` from zero to anything else."""
        if self.after == self.before:
            return 1.0
        return self.after / self.before if self.before else None

    @property
    def verdict(self) -> Verdict:
        """Whether an exact count is more than before (`WORSE`), less (`BETTER`), or `SAME`."""
        if not self.exact or self.after == self.before:
            return Verdict.SAME
        return Verdict.WORSE if self.after > self.before else Verdict.BETTER


def value_changes(
    values: Iterable[ReleaseValue], before: str, after: str
) -> dict[str, ValueChange]:
    """Compare the values of two releases.

    Args:
        values: those of one machine, oldest first.
        before: a torch release.
        after: another one.

    Returns:
        Case to its values at the commit that was measured last with both releases.
    """
    of_release: dict[str, dict[tuple[str, str], float]] = {before: {}, after: {}}
    changes = {}
    for value in values:
        if value.torch not in of_release or value.value is None:
            continue
        of_release[value.torch][value.commit, value.case] = value.value
        old, new = (of_release[torch].get((value.commit, value.case)) for torch in (before, after))
        if old is not None and new is not None:
            changes[value.case] = ValueChange(old, new, value.unit, value.exact)
    return changes
