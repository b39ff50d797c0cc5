"""The runs of one case over all commits of a machine and an environment, in columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise

import numpy as np
import numpy.typing as npt

from asv_watch.records.packed_runs import ROW, PackedRuns, Rows, pack, unpack
from asv_watch.records.records import NEVER_RUN, Outcome, Run

Floats = npt.NDArray[np.float64]
Places = npt.NDArray[np.intp]


@dataclass(frozen=True, eq=False, repr=False)
class RunColumns:
    """The runs of a case: a row for each that is more than `NEVER_RUN`, oldest first."""

    commits: tuple[str, ...]
    """Hashes of all measured commits; the cases of one machine and environment share them."""
    rows: Rows
    """The field ``place`` is an index in ``commits``."""
    sample_starts: Places
    """For each row where its samples start in ``samples``."""
    samples: Floats
    """Those of other cases among them."""
    texts: Sequence[str]
    """Reasons and recipes, which the rows refer to."""

    @classmethod
    def of(cls, runs: Mapping[str, Run]) -> RunColumns:
        """Return the columns of runs by commit hash, oldest first."""
        packed = pack(
            {
                place: run
                for place, run in enumerate(runs.values())
                if run.outcome is not Outcome.NEVER_RUN
            }
        )
        rows = np.frombuffer(packed.rows, dtype=ROW)
        samples = np.frombuffer(packed.samples)
        return cls(tuple(runs), rows, _before(rows["samples"]), samples, packed.texts)

    def __eq__(self, other: object) -> bool:
        """Compare the runs."""
        return isinstance(other, RunColumns) and self.runs() == other.runs()

    __hash__ = None  # type: ignore[assignment]

    def __repr__(self) -> str:
        return repr(self.runs())

    def run(self, row: int) -> Run:
        """Return the run of a row."""
        start, count = int(self.sample_starts[row]), int(self.rows["samples"][row])
        samples: list[float] = self.samples[start : start + count].tolist()
        return unpack(self.rows[row].item(), self.texts, tuple(samples))

    def runs(self) -> dict[str, Run]:
        """Return the run of each commit, `NEVER_RUN` where there is no row."""
        runs = dict.fromkeys(self.commits, NEVER_RUN)
        for row, place in enumerate(self.places.tolist()):
            runs[self.commits[place]] = self.run(row)
        return runs

    def where(self, chosen: npt.NDArray[np.bool_]) -> RunColumns:
        """Return the columns with some of the rows.

        Args:
            chosen: For each row whether it is among them.
        """
        if chosen.all():
            return self
        places = np.flatnonzero(chosen)
        rows = np.take(self.rows, places)
        return replace(self, rows=rows, sample_starts=self.sample_starts[places])

    @property
    def places(self) -> Places:
        """Index in ``commits`` of each row."""
        return self.rows["place"].astype(np.intp)

    @property
    def values(self) -> Floats:
        """Value of each row, in the unit of the benchmark; NaN of a run without one."""
        return np.ascontiguousarray(self.rows["value"])

    @property
    def interval(self) -> Floats:
        """Lower and upper end of the interval of each row, or NaN; (rows, 2)."""
        return np.stack([self.rows["low"], self.rows["high"]], axis=1)

    @cached_property
    def valued(self) -> RunColumns:
        """The columns of the runs that have a value."""
        return self.where(~np.isnan(self.rows["value"]))


def columns_of_cases(
    files: Mapping[str, PackedRuns], cases: int, texts: dict[str, int]
) -> list[RunColumns]:
    """Return the columns of each case from what result files hold.

    Args:
        files: Commit hash, oldest first, to the runs by index of the case.
        cases: Number of cases.
        texts: Reasons and recipes so far, to their places; new ones are added.
    """
    commits = tuple(files)
    rows = np.frombuffer(bytearray().join(packed.rows for packed in files.values()), dtype=ROW)
    samples = np.frombuffer(b"".join(packed.samples for packed in files.values()))
    starts = _before(rows["samples"])
    # Texts are numbered in each file alone.
    numbers = [texts.setdefault(text, len(texts)) for of in files.values() for text in of.texts]
    lengths = [len(packed.rows) // ROW.itemsize for packed in files.values()]
    first = np.repeat(_before([len(of.texts) for of in files.values()]), lengths)
    for field in ("reason", "recipe"):
        rows[field] = np.array(numbers, dtype=np.intp)[rows[field] + first]
    case = rows["place"].copy()
    rows["place"] = np.repeat(np.arange(len(files)), lengths)
    order = np.argsort(case, kind="stable")
    rows, starts = np.take(rows, order), starts[order]  # indexing takes seven times as long
    ends = np.searchsorted(case[order], np.arange(cases + 1))
    all_texts = list(texts)
    return [
        RunColumns(commits, rows[start:end], starts[start:end], samples, all_texts)
        for start, end in pairwise(ends.tolist())
    ]


def _before(counts: npt.ArrayLike) -> Places:
    """Return for each count the sum of those before it."""
    return np.cumsum(counts, dtype=np.intp) - np.asarray(counts, dtype=np.intp)
