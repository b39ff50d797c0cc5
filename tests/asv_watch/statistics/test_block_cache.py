"""Blocks of values are partitioned once, and never taken from other code or damage."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from asv_watch.statistics import block_cache as module
from asv_watch.statistics.block_cache import BlockCache
from asv_watch.statistics.change_points import find_steps
from asv_watch.statistics.partition import BLOCK, Block, BlockPartition, partition_blocks


def stepped(seed: int, count: int = 40) -> list[float]:
    values = np.random.default_rng(seed).lognormal(0.0, 0.01, count)
    values[count // 2 :] *= 1.2
    return [float(value) for value in values]


SERIES = [stepped(0), stepped(1), [1.0] * 30, []]


@pytest.fixture
def partitioned(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Lengths of the blocks that were partitioned."""
    lengths: list[int] = []

    def counting(blocks: Sequence[Block]) -> list[BlockPartition]:
        lengths.extend(len(y) for y, _, _ in blocks)
        return partition_blocks(blocks)

    monkeypatch.setattr(module, "partition_blocks", counting)
    return lengths


def test_only_the_last_block_of_series_with_new_values_is_partitioned(
    tmp_path: Path, partitioned: list[int]
) -> None:
    path = tmp_path / "blocks.json"
    series = [stepped(0, 2 * BLOCK), *SERIES]
    first = BlockCache()
    steps = first.find_all(series)
    assert steps == [find_steps(values) for values in series]
    first.write(path)
    partitioned.clear()
    longer = [*series[0], 1.2]
    assert BlockCache(path).find_all([longer, *SERIES]) == [find_steps(longer), *steps[1:]]
    assert len(partitioned) == 1
    assert partitioned[0] <= BLOCK


def test_what_is_not_used_any_more_is_dropped(tmp_path: Path, partitioned: list[int]) -> None:
    first, second = tmp_path / "first.json", tmp_path / "second.json"
    cache = BlockCache()
    cache.find_all(SERIES)
    cache.write(first)
    again = BlockCache(first)
    again.find_all(SERIES[:1])
    again.write(second)
    partitioned.clear()
    BlockCache(second).find_all(SERIES)
    assert 40 in partitioned
    assert partitioned.count(40) == 1


@given(st.data())
@settings(max_examples=25)
def test_after_any_edits_the_steps_are_those_without_a_cache(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("cache") / "blocks.json"
    series = [stepped(0, 12), stepped(1, 330), [5.0, 0.0, 5.0] * 5]
    for _ in range(3):
        values = data.draw(st.sampled_from(series))
        edit = data.draw(st.sampled_from(["append", "remove", "change"]))
        if edit == "append":
            values.append(data.draw(st.floats(0, 10)))
        elif edit == "remove" and values:
            del values[data.draw(st.integers(0, len(values) - 1))]
        elif values:
            values[data.draw(st.integers(0, len(values) - 1))] *= 1.3
        cache = BlockCache(path)
        assert cache.find_all(series) == [find_steps(values) for values in series]
        cache.write(path)


@pytest.mark.parametrize("content", [b"", b"{", b"[]", b'{"code": "other", "blocks": {}}'])
def test_a_damaged_file_or_one_of_other_code_is_ignored(tmp_path: Path, content: bytes) -> None:
    path = tmp_path / "blocks.json"
    path.write_bytes(content)
    assert BlockCache(path).find_all(SERIES[:1]) == [find_steps(SERIES[0])]


def test_several_processes_find_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    alone = BlockCache().find_all(SERIES)
    monkeypatch.setattr(module, "_WORTH_A_POOL", 0)
    assert BlockCache().find_all(SERIES) == alone
