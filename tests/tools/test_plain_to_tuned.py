"""What tuned models gain is measured by the engine, and the site reads what is stored."""

from __future__ import annotations

from pathlib import Path

import msgspec

from asv_watch.comparison import Comparison
from asv_watch.engine.rounds import Sampling
from asv_watch.site.declared_files import CasePair, read_case_comparisons
from tools.plain_to_tuned import measure, store


def test_both_implementations_of_a_model_are_compared(tmp_path: Path) -> None:
    data = tmp_path / "gains.json"
    other = CasePair("plain.a", Comparison("tuned.a", 1, rounds=((2.0, 1.0), (2.2, 1.0))))
    store(data, "here", "torch 2.15.0", other)
    measure("here", ["lstnet"], data, Sampling(most_rounds=5))
    [stored] = read_case_comparisons((data,))
    assert stored.machine == "here"
    assert stored.conditions.startswith("torch 2.")
    assert stored.pairs[0] == other
    assert {(pair.before, pair.after.case) for pair in stored.pairs[1:]} == {
        (f"plain.PlainModels.time_{name}('lstnet', 'cpu')",
         f"time_series.TimeSeries.time_{name}('lstnet', 'cpu')")
        for name in ("forward", "backward")
    }  # fmt: skip
    for pair in stored.pairs[1:]:
        assert len(pair.after.rounds) >= 5
        assert pair.ratio.ratio < 0.9


def test_a_case_is_replaced_and_one_machines_ratios_are_no_others(tmp_path: Path) -> None:
    data = tmp_path / "gains.json"
    pair = CasePair("plain.a", Comparison("tuned.a", 1, rounds=((2.0, 1.0), (2.2, 1.0))))
    again = msgspec.structs.replace(pair, after=msgspec.structs.replace(pair.after, at=2))
    for machine, stored_pair in (("here", pair), ("here", again), ("elsewhere", pair)):
        store(data, machine, "torch 2.15.0", stored_pair)
        [stored] = read_case_comparisons((data,))
        assert (stored.machine, stored.pairs) == (machine, (stored_pair,))
