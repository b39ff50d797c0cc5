"""A long run shows something before its end."""

import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from asv_watch import bench
from asv_watch.engine.cases import MeasurableCase
from asv_watch.engine.runs import Outcomes, newest_first
from tests.conftest import commit


def test_a_run_publishes_before_its_end(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    now, published = [0.0], list[float]()

    def measure(*_: object, after_each: Callable[[], None], **__: object) -> Outcomes:
        for seconds in (200, 301, 400, 900):
            now[0] = seconds
            after_each()
        return {}

    configuration = SimpleNamespace(repository=tmp_path)
    workplace = SimpleNamespace(configuration=configuration, environments=[None])
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(bench, "open_workplace", lambda *_, **__: nullcontext(workplace))
    monkeypatch.setattr(bench, "measure_commit", measure)
    monkeypatch.setattr(bench, "publish", lambda: published.append(now[0]))
    assert bench.bench() == 0
    assert published == [301, 900]


def test_suites_that_changed_last_come_first(make_repository: Callable[..., Path]) -> None:
    files = ("a.py", "b.py", "c/d.py")
    root = make_repository({f"benchmarks/{file}": "" for file in files})
    for file in ("c/d.py", "b.py"):
        commit(root, {f"benchmarks/{file}": "# Changed."}, f"Change {file}")
    (root / "benchmarks/e.py").touch()
    names = ("a.time_x", "b.time_x", "c.d.time_x", "b.time_y", "e.time_x")
    cases = [MeasurableCase(name, name, 30.0) for name in names]
    ordered = [case.name for case in newest_first(root / "benchmarks", cases)]
    assert ordered == ["e.time_x", "b.time_x", "b.time_y", "c.d.time_x", "a.time_x"]
