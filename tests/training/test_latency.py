from pathlib import Path

import pytest

from torchspeed.errors import TorchspeedError
from torchspeed.training.config import RunConfig
from torchspeed.training.figures import draw_latency
from torchspeed.training.latency import FEWEST_REQUESTS, Latency, measure_latency
from torchspeed.training.train import train


def measure(**options: object) -> list[Latency]:
    usual = {"device": "cpu", "modes": ["eager"], "batch_sizes": [1], "threads": [1]}
    return measure_latency("tpa_lstm", **{**usual, "seconds": 0.0, **options})  # type: ignore[arg-type]


def test_every_combination_has_ordered_percentiles_and_its_throughput(tmp_path: Path) -> None:
    results = measure(threads=[1, 2], batch_sizes=[1, 16])
    assert [(r.threads, r.batch_size) for r in results] == [(1, 1), (1, 16), (2, 1), (2, 16)]
    for result in results:
        assert result.requests == FEWEST_REQUESTS
        assert 0 < result.p50_s <= result.p90_s <= result.p99_s
        # Half of the requests take the median or longer.
        assert result.items_per_s <= 2 * result.batch_size / result.p50_s
    file = tmp_path / "latency.svg"
    draw_latency(results, "tpa_lstm", file)
    assert "99th percentile" in file.read_text()


def test_without_a_compiler_what_needs_it_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(TorchspeedError, match=r"no C\+\+ compiler .* give --modes eager"):
        measure(modes=["compile"])
    with pytest.raises(TorchspeedError, match="or leave out --compile"):
        train(RunConfig(compile=True))
