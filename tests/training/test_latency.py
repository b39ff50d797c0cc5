from pathlib import Path

import pytest

from torchspeed.errors import TorchspeedError
from torchspeed.training.latency import FEWEST_REQUESTS, Latency, draw_latency, measure_latency


def measure(**options: object) -> list[Latency]:
    usual = {"device": "cpu", "modes": ["eager"], "batch_sizes": [1], "threads": [1]}
    return measure_latency("tpa_lstm", **{**usual, "seconds": 0.0, **options})  # type: ignore[arg-type]


def test_every_combination_has_ordered_percentiles_and_its_throughput(tmp_path: Path) -> None:
    results = measure(modes=["eager", "export"], batch_sizes=[1, 16])
    assert [(r.mode, r.batch_size) for r in results] == [
        ("eager", 1), ("eager", 16), ("export", 1), ("export", 16)
    ]  # fmt: skip
    for result in results:
        assert result.requests == FEWEST_REQUESTS
        assert 0 < result.p50_s <= result.p90_s <= result.p99_s
        # Half of the requests take the median or longer.
        assert result.items_per_s <= 2 * result.batch_size / result.p50_s
    file = tmp_path / "latency.svg"
    draw_latency(results, "tpa_lstm", file)
    assert "99th percentile" in file.read_text()


def test_measuring_lasts_as_long_as_asked() -> None:
    [result] = measure(seconds=0.3)
    assert result.requests * result.batch_size / result.items_per_s >= 0.3


def test_an_unknown_mode_is_named() -> None:
    with pytest.raises(TorchspeedError, match="no mode 'jit'; give eager, compile, export"):
        measure(modes=["jit"])
