"""What tools make of results: pages that say them, and what tuned models gain."""

from __future__ import annotations

from pathlib import Path

import msgspec
import pytest

from asv_watch.comparison import Comparison
from asv_watch.engine.rounds import Sampling
from asv_watch.site.declared_files import CasePair, read_case_comparisons
from tools.documented_results import marked_pages, written
from tools.plain_to_tuned import measure, store


@pytest.mark.parametrize("path", marked_pages(), ids=lambda path: path.name)
def test_a_page_says_what_the_results_say(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert text == written(text), "run `python -m tools.documented_results`"


def test_a_number_that_was_changed_by_hand_is_found() -> None:
    marker = (
        "<!-- change: torch 2.8.0 on ci-2core: plain.PlainModels.time_forward('lenet5', 'cpu') -->"
    )
    page = written(f"It became {marker}−99.9 %<!-- end --> faster.")
    assert "−99.9 %" not in page
    assert "−10." in page
    table = written("<!-- changes: torch on ci-2core-xeon: 12 % on 1 day --><!-- end -->")
    assert "`plain.PlainModels.time_backward('tcn', 'cpu')` | +60." in table
    assert "sixteen" not in written("<!-- releases: torch on ci-2core -->sixteen<!-- end -->")
    with pytest.raises(ValueError, match="no releases of torch were compared on nothing"):
        written("<!-- releases: torch on nothing --><!-- end -->")
    with pytest.raises(ValueError, match="no change of nothing"):
        written("<!-- change: torch 2.8.0 on ci-2core: nothing --><!-- end -->")


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
