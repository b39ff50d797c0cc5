from pathlib import Path

import pytest
import torch
from torch import Tensor, nn
from torch._inductor import config

from torchspeed.errors import TorchspeedError
from torchspeed.training.config import RunConfig
from torchspeed.training.latency import (
    FEWEST_REQUESTS,
    Latency,
    draw_latency,
    measure_latency,
    serving,
)
from torchspeed.training.train import train


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


def test_a_library_of_aotinductor_answers_as_the_model_does() -> None:
    module, inputs = nn.Linear(3, 2).eval(), torch.randn(4, 3)
    quickly = {"aot_inductor.precompile_headers": False, "cpp_cache_precompile_headers": False}
    with torch.inference_mode(), config.patch(quickly):
        serve = serving(module, "aot", inputs)
        torch.testing.assert_close(serve(inputs), module(inputs))


def test_without_a_compiler_what_needs_it_is_refused(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    for mode in ("compile", "aot"):
        with pytest.raises(TorchspeedError, match=r"no C\+\+ compiler .* without compile and aot"):
            measure(modes=[mode])
    with pytest.raises(TorchspeedError, match="or leave out --compile"):
        train(RunConfig(compile=True))


def test_a_model_that_torch_cannot_export_is_refused() -> None:
    class Decides(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            return x if x.sum() > 0 else -x

    with pytest.raises(TorchspeedError, match="without export and aot") as caught:
        serving(Decides(), "export", torch.ones(2))
    assert "\n" not in str(caught.value)
