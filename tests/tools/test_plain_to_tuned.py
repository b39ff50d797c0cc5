"""What tuned models gain: each round is a process, and the site reads what is stored."""

from __future__ import annotations

from pathlib import Path

from asv_watch.site.declared_files import read_case_comparisons
from tools.plain_to_tuned import measure_all


def test_the_rounds_of_a_model_are_stored_beside_those_of_others(tmp_path: Path) -> None:
    data = tmp_path / "gains.json"
    measure_all("here", ["lstnet"], data, rounds=2)
    measure_all("here", ["tpa_lstm"], data, rounds=2)
    [stored] = read_case_comparisons((data,))
    assert stored.machine == "here"
    assert stored.conditions.startswith("torch 2.")
    assert [(pair.before, pair.after.case) for pair in stored.pairs] == [
        (f"plain.PlainModels.time_{name}('{model}', 'cpu')",
         f"time_series.TimeSeries.time_{name}('{model}', 'cpu')")
        for model in ("lstnet", "tpa_lstm")
        for name in ("forward", "backward")
    ]  # fmt: skip
    for pair in stored.pairs:
        rounds = pair.after.numbers(0, 1)
        assert len(rounds) == 2
        assert all(0 < tuned < 2 * plain < 1 for plain, tuned in rounds)
    measure_all("elsewhere", ["tpa_lstm"], data, rounds=2)
    [stored] = read_case_comparisons((data,))
    assert len(stored.pairs) == 2, "one machine's ratios are no other's"
