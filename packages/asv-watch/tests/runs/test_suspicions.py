"""Suspicions: what asv's step detection finds in separate runs that nobody compared."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from asv import step_detect

from asv_watch.asv.steps import Levels, kept_levels
from asv_watch.judge.findings import analyse
from asv_watch.runs.suspicions import NEWEST, WINDOW
from tests.making import make_history, make_series


def noisy(changes: dict[int, float], count: int = 40, noise: float = 0.01) -> Any:
    """Values that are multiplied by a factor from an index on."""
    values = np.random.default_rng(3).lognormal(0.0, noise, count)
    for index, factor in changes.items():
        values[index:] *= factor
    return values


def suspected(values: Any, levels: Levels | None = None) -> list[int]:
    """Index of the first value after each suspected change."""
    history = make_history([make_series([float(value) for value in values])])
    return sorted(change.commit for change in analyse(history, levels).changes)


@pytest.fixture
def looks(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The number of values of each call of asv's step detection."""
    lengths: list[int] = []
    detect_steps = step_detect.detect_steps

    def counted(values: list[float]) -> Any:
        lengths.append(len(values))
        return detect_steps(values)

    monkeypatch.setattr(step_detect, "detect_steps", counted)
    return lengths


@pytest.mark.parametrize(("factor", "count"), [(1.02, 1), (1.01, 0)])
def test_a_suspicion_is_as_large_as_a_change_must_be(factor: float, count: int) -> None:
    assert len(suspected(noisy({20: factor}, noise=0.0005))) == count


@pytest.mark.parametrize("values", [[0.0] * 20 + [5.0] * 20, [1e307] * 20 + [1e306] * 20])
def test_levels_without_a_ratio_and_values_that_no_measurement_has(values: list[float]) -> None:
    assert suspected(values) == []


def test_a_single_value_is_suspected_only_while_it_is_the_newest() -> None:
    values = noisy({39: 1.5})
    assert suspected(values) == [39]
    assert suspected([*values, 1.0, 1.01]) == []


def test_steps_of_a_long_history_are_found_wherever_they_are() -> None:
    places = [20, 160, 175, 330, 480, 640, 790]
    values = noisy({at: 1.2 if number % 2 else 0.8 for number, at in enumerate(places)}, 800)
    assert suspected(values) == places


def test_a_new_run_is_looked_at_while_it_or_a_neighbour_is_out_of_range(looks: list[int]) -> None:
    values = [1.0 + number % 7 / 1000 for number in range(300)] + [1.2] * 10
    levels = Levels()
    assert suspected(values[:300], levels) == []
    assert suspected(values[:301], levels) == [300]
    assert max(looks) <= WINDOW
    looks.clear()
    for count in range(302, 311):
        assert suspected(values[:count], levels) == [300]
    assert len(looks) == NEWEST - 1


def test_levels_are_kept_in_a_file_with_the_same_answer(looks: list[int], tmp_path: Path) -> None:
    values = noisy({200: 1.3}, 400)

    def publish() -> list[int]:
        with kept_levels(tmp_path / "new" / "folder") as levels:
            return suspected(values, levels)

    expected = suspected(values)
    found = len(looks)
    assert [publish() for _ in range(3)] == [expected] * 3
    assert len(looks) == 2 * found
    [path] = tmp_path.rglob("*.msgpack")
    content = path.read_bytes()
    for spoilt in (bytes(16) + content[16:], content[:-10], b""):
        looks.clear()
        path.write_bytes(spoilt)
        assert publish() == expected
        assert len(looks) == found


def test_levels_that_cannot_be_kept_are_found_again(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    with kept_levels(tmp_path / "file" / "folder") as levels:
        assert suspected(noisy({20: 1.3}), levels) == [20]
