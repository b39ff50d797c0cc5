"""A long run shows something before its end."""

import time
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from types import SimpleNamespace

import pytest

from asv_watch import bench
from asv_watch.engine.runs import Outcomes


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
