"""Files that this package keeps for its next start, or that a project names, damaged."""

from __future__ import annotations

import contextlib
import fcntl
import json
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from asv_watch.asv.settings import EnvironmentSpec
from asv_watch.asv.steps import kept_levels
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.processes import Number
from asv_watch.engine.rounds import RoundsOfCases, Sampling
from asv_watch.engine.sides import Side
from asv_watch.engine.unfinished import Unfinished
from asv_watch.errors import WatchError
from asv_watch.machine.lock import FILE_NAME, exclusive_run
from asv_watch.records.measurements import MeasuredCase
from asv_watch.site.declared_files import (
    read_case_comparisons,
    read_published,
)
from tests.fuzz.damage import damaged, fuzz, no_hang

ENVIRONMENT = EnvironmentSpec({"numpy": "2.4.0"}, "virtualenv-py3.11", Path("e"))
CASE = MeasurableCase(name="s.time_it", identity="s.time_it", timeout=1.0)


@contextlib.contextmanager
def new_folder() -> Iterator[Path]:
    """A folder for one example."""
    with tempfile.TemporaryDirectory(prefix="fuzz-") as name:
        yield Path(name)


def _rounds(root: Path, sides: int) -> Unfinished:
    """The rounds that a measurement of some versions kept."""
    suites = root / "suites"
    suites.mkdir(exist_ok=True)
    return Unfinished(
        root, [Side(f"{side}", root, ENVIRONMENT, suites) for side in range(sides)], "m"
    )


@fuzz
@given(data=st.data(), sides=st.integers(1, 3))
def test_unfinished_rounds(data: Any, sides: int) -> None:
    with new_folder() as folder:
        _try_rounds(folder, data, sides)


def _try_rounds(folder: Path, data: Any, sides: int) -> None:
    kept = _rounds(folder, sides)
    kept.store_in(folder / "stored.jsonl")
    for number in range(6):
        kept.keep(CASE.name, tuple(Number(0.1 + number / 100, 0.1) for _ in range(sides)))
    [path] = folder.rglob("*.jsonl")
    path.write_bytes(data.draw(damaged(path.read_bytes())))
    finished: list[MeasuredCase] = []
    with no_hang():
        rounds = _rounds(folder, sides)
        assert rounds.path in (None, folder / "stored.jsonl")
        open_cases = RoundsOfCases([CASE], sides, Sampling(), finished.append, rounds.rounds)
        open_cases.close_known(all_of_them=True)
        assert len(open_cases.open) + len(finished) == 1
        open_cases.rounds_left()
        for case in finished:
            msgspec.json.decode(msgspec.json.encode(case), type=MeasuredCase)
            case.value(0)
            if sides > 1:
                case.between(0, sides - 1)
        rounds.forget()


def test_a_kept_name_that_no_file_can_have_is_no_file(tmp_path: Path) -> None:
    kept = _rounds(tmp_path, 2)
    kept.store_in(tmp_path / ("x" * 5000))
    kept.keep(CASE.name, (Number(0.1), Number(0.1)))
    again = _rounds(tmp_path, 2)
    assert again.rounds
    assert again.path is None


def test_a_kept_round_that_no_measurement_can_have_is_measured_again(tmp_path: Path) -> None:
    _rounds(tmp_path, 1).keep(CASE.name, (Number(0.1, wall=1e308),))
    assert not _rounds(tmp_path, 1).rounds


SERIES = [np.random.default_rng(seed).lognormal(0.0, 0.02, 30) for seed in range(3)]


@fuzz
@given(data=st.data())
def test_kept_levels(data: Any) -> None:
    with new_folder() as folder:
        with kept_levels(folder) as levels:
            sound = [levels.find(values) for values in SERIES]
        [path] = folder.iterdir()
        path.write_bytes(data.draw(damaged(path.read_bytes())))
        with no_hang(), kept_levels(folder) as levels:
            assert [levels.find(values) for values in SERIES] == sound


HOLDER = {"job": "bench", "host": "h", "pid": 7, "started": "2026", "folder": "asv-watch-0"}


@fuzz
@given(content=damaged(json.dumps(HOLDER).encode()), held=st.booleans())
def test_the_lock(content: bytes, held: bool) -> None:
    with new_folder() as folder, no_hang():
        path = folder / FILE_NAME
        path.write_bytes(content)
        if not held:
            with exclusive_run(folder, "bench"):
                return
        with path.open() as other:
            fcntl.flock(other, fcntl.LOCK_EX)
            with pytest.raises(WatchError) as refused, exclusive_run(folder, "bench"):
                pass
        assert str(refused.value).isprintable()


PUBLISHED = [{"case": "s.time_it", "value": 1.0, "unit": "s", "source": "a", "note": "b"}]
COMPARED_CASES = {
    "machine": "desk",
    "conditions": "numpy 2.4.0",
    "pairs": [{"before": "s.a", "after": {"case": "s.b", "at": 1, "rounds": [[2, 1], [3, 1.5]]}}],
}


@fuzz
@given(
    published=damaged(json.dumps(PUBLISHED).encode()),
    compared=damaged(json.dumps(COMPARED_CASES).encode()),
)
def test_files_that_a_project_names(published: bytes, compared: bytes) -> None:
    readers = (
        (published, read_published),
        (compared, lambda file: read_case_comparisons((file,))),
    )
    with new_folder() as folder, no_hang():
        for content, read in readers:
            file = folder / "file.json"
            file.write_bytes(content)
            try:
                read(file)
            except WatchError as error:
                assert "\n" not in str(error)  # noqa: PT017 - whatever it is
