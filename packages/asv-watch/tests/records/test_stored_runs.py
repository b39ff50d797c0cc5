"""Rows are read many values at once, and give what reading each by itself gives."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from asv_watch.comparison import Comparison, Outcome
from asv_watch.records.columns import columns_by_case
from asv_watch.records.labels import UNDECLARED
from asv_watch.records.records import NEVER_RUN, Benchmark, Run
from asv_watch.records.result_files import NAN_MARK, ResultFile
from asv_watch.records.stored_runs import SPREAD_COLUMNS, RunReader, runs_of_row

NAME = "suite.time_x"
CASES = 4
VALUES = st.sampled_from(
    [1.0, -2.5, 3, True, None, NAN_MARK, math.nan, math.inf, 10**400, "text", 1.7e308]
)
ENDS = st.sampled_from([0.5, 2.0, None, NAN_MARK, math.inf, 7])
RECORDS = st.sampled_from(
    [
        None,
        {"failed": {0: "why"}},
        {"skipped": {0: "why"}},
        {"rounds": ((4.0,),)},
        {"rounds": ((4.0,), (6.0,))},
    ]
)


def expected(run: Run | None, value: object) -> Run:
    return run or Run(Outcome.FAILED, None, f"it gave no finite number: {value!r}", 5)


@given(
    st.lists(st.tuples(VALUES, ENDS, ENDS, RECORDS), min_size=CASES, max_size=CASES)
    | st.lists(st.just((1.0, 0.5, 2.0, None)), min_size=CASES, max_size=CASES)
    | st.lists(st.just((1.0, None, None, None)), min_size=CASES, max_size=CASES)
)
def test_a_row_has_the_runs_of_its_entries(
    entries: list[tuple[object, object, object, dict[str, Any] | None]],
) -> None:
    params = tuple(map(str, range(CASES)))
    reader = RunReader(
        {NAME: Benchmark(NAME, "time", param_names=("n",), params=(params,))}, UNDECLARED
    )
    values, lows, highs, recorded = (list(column) for column in zip(*entries, strict=True))
    cases = [
        None if entry is None else Comparison(f"{NAME}({number})", at=9, **entry)
        for number, entry in enumerate(recorded)
    ]
    content = ResultFile(
        version=2,
        commit_hash="0" * 40,
        params={"machine": "m"},
        results={NAME: [values, [list(params)], "", 5000, lows, highs]},
        result_columns=["result", "params", "version", "started_at", *SPREAD_COLUMNS],
    )
    runs = reader.read(Path("file.json"), content, {case.case: case for case in cases if case})
    columns = columns_by_case({"0" * 40: runs}, CASES)
    one_by_one = runs_of_row([values, lows, highs], 5, cases, "")
    assert [runs.run(0) if runs else NEVER_RUN for runs in columns] == [
        expected(run, value) for run, value in zip(one_by_one, values, strict=True)
    ]
