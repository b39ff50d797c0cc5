"""Change points are found once for the same values, and never taken from other code or damage."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest

from torchspeed.watch.analysis import step_cache as module
from torchspeed.watch.analysis.change_points import Step, find_steps
from torchspeed.watch.analysis.step_cache import StepCache


def stepped(seed: int, count: int = 40) -> list[float]:
    values = np.random.default_rng(seed).lognormal(0.0, 0.01, count)
    values[count // 2 :] *= 1.2
    return [float(value) for value in values]


SERIES = [stepped(0), stepped(1), [1.0] * 30, []]


@pytest.fixture
def searched(monkeypatch: pytest.MonkeyPatch) -> list[list[float]]:
    """The series that were looked at."""
    seen: list[list[float]] = []

    def counting(values: Sequence[float]) -> list[Step]:
        seen.append(list(values))
        return find_steps(values)

    monkeypatch.setattr(module, "find_steps", counting)
    return seen


def test_only_series_with_new_values_are_searched(
    tmp_path: Path, searched: list[list[float]]
) -> None:
    path = tmp_path / "steps.json"
    first = StepCache()
    found = first.find_all(SERIES)
    first.write(path)
    assert found == [find_steps(values) for values in SERIES]
    searched.clear()
    longer = [*SERIES[0], 1.2]
    assert StepCache(path).find_all([longer, *SERIES[1:]]) == [find_steps(longer), *found[1:]]
    assert searched == [longer]


def test_what_is_not_asked_for_any_more_is_dropped(
    tmp_path: Path, searched: list[list[float]]
) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    cache = StepCache()
    cache.find_all(SERIES)
    cache.write(first)
    again = StepCache(first)
    again.find_all(SERIES[:1])
    again.write(second)
    searched.clear()
    StepCache(second).find_all(SERIES)
    assert searched == SERIES[1:]


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"code": "other", "steps": {}}'])
def test_a_damaged_file_or_one_of_other_code_is_ignored(
    tmp_path: Path, content: bytes, searched: list[list[float]]
) -> None:
    path = tmp_path / "steps.json"
    path.write_bytes(content)
    StepCache(path).find_all(SERIES[:1])
    assert searched == SERIES[:1]


def test_several_processes_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = StepCache().find_all(SERIES)
    monkeypatch.setattr(module, "_WORTH_A_POOL", 0)
    assert StepCache().find_all(SERIES) == alone
