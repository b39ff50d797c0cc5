"""The table of plain and tuned models: what a cell says, and where the table is kept."""

from __future__ import annotations

from pathlib import Path

import pytest

from asv_watch.site.declared_files import read_tables
from tools import implementation_table
from tools.implementation_table import BEGIN, END, Row, Timed, measure_all, page_with, read, write

LENET = Row(
    model="lenet5",
    pass_name="forward",  # noqa: S106 - of a network
    floor_seconds=2e-4,
    variants={
        "plain eager": Timed(5.58e-3, (27.1, 27.9, 28.3)),
        "tuned eager": Timed(2.25e-3, (11.0, 11.25, 11.4)),
    },
    measured_at="2026-11-23 18:00",
    torch="2.15.0",
    cpu="AMD EPYC, family 26",
    load=0.3,
)


def test_a_new_table_replaces_the_old_one_and_nothing_else() -> None:
    page = f"before\n{BEGIN}an old table\n{END}after\n"
    new = page_with(page, [LENET])
    assert "Measured from 2026-11-23 18:00" in new
    assert "| `lenet5` | forward | 0.2 ms | 5.58 ms, 27.9x [27.1,\N{NO-BREAK SPACE}28.3] |" in new
    assert new.startswith(f"before\n{BEGIN}")
    assert new.endswith(f"| as plain | as plain |\n{END}after\n")
    assert page_with(new, [LENET]) == new


@pytest.mark.needs("g++")
def test_a_model_is_measured_in_every_variant_and_kept_beside_the_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data, page = tmp_path / "data.json", tmp_path / "page.md"
    page.write_text(f"{BEGIN}{END}")
    write([LENET], data, page)
    monkeypatch.setattr(implementation_table, "VARIANTS", ("plain eager", "tuned eager"))
    measure_all(["tpa_lstm"], data, page)
    rows = read(data)
    assert [(row.model, row.pass_name) for row in rows] == [
        ("tpa_lstm", "forward"),
        ("tpa_lstm", "backward"),
        ("lenet5", "forward"),
    ]
    for row in rows[:2]:
        assert set(row.variants) == {"plain eager", "tuned eager"}
        for timed in row.variants.values():
            low, middle, high = timed.times_floor
            assert 1 < low <= middle <= high
            assert timed.seconds > row.floor_seconds
    assert "| `tpa_lstm` | backward |" in page.read_text()
    [shown] = read_tables((data,))
    assert [row[:2] for row in shown["rows"]] == [
        ("tpa_lstm", "forward"),
        ("tpa_lstm", "backward"),
        ("lenet5", "forward"),
    ]
