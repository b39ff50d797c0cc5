"""The tuned models compute what the plain ones do, with the same parameters, compiled too."""

import json
from pathlib import Path
from typing import Any, get_args

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from tests.models.sizes import batch_for, configurations, small
from torchspeed.measure import formulations
from torchspeed.models import (
    Implementation,
    create_model,
    fastest,
    list_implementations,
    list_models,
)
from torchspeed.models.fastest import Fastest
from torchspeed.training.config import RunConfig, complete
from torchspeed.training.prepare import prepare
from torchspeed.workloads import get_workload, list_workloads

TUNED = [name for name in list_models() if "tuned" in list_implementations(name)]
OVER_SIZES = settings(max_examples=8)


def pair(name: str, sizes: dict[str, Any]) -> tuple[nn.Module, nn.Module]:
    """A plain model, and the tuned one with its parameters."""
    plain, tuned = create_model(name, "plain", **sizes), create_model(name, "tuned", **sizes)
    tuned.load_state_dict(plain.state_dict())
    return plain, tuned


def results(model: nn.Module, x: Tensor) -> dict[str, Tensor]:
    """Output and gradients, of numbers near 1 whatever the batch."""
    out = model(x)
    leaves = {"x": x, **dict(model.named_parameters())}
    gradients = torch.autograd.grad(out.square().mean(), list(leaves.values()))
    return {"output": out, **dict(zip(leaves, gradients, strict=True))}


@pytest.mark.parametrize("name", TUNED)
@pytest.mark.parametrize("training", [False, True])
@OVER_SIZES
@given(data=st.data(), batch=st.integers(1, 5))
def test_outputs_and_gradients_agree(
    name: str, training: bool, data: st.DataObject, batch: int
) -> None:
    sizes = data.draw(configurations(name))
    if name in {"dsanet", "lstnet"} and training:
        sizes = sizes | {"dropout": 0.0}  # two models draw two sets of zeros
    plain, tuned = (model.train(training) for model in pair(name, sizes))
    x = batch_for(name, plain, batch)
    for dtype, of_output, of_gradient in (
        (torch.float32, 1e-5, 1e-4),
        (torch.float64, 1e-12, 1e-10),
    ):
        x = x.to(dtype).detach().requires_grad_()
        expected, actual = (results(model.to(dtype), x) for model in (plain, tuned))
        for key, value in expected.items():
            close = of_output if key == "output" else of_gradient
            torch.testing.assert_close(actual[key], value, rtol=close, atol=close, msg=key)


@pytest.mark.parametrize("name", TUNED)
def test_parameters_load_both_ways_and_start_the_same(name: str) -> None:
    models = []
    for implementation in get_args(Implementation):
        torch.manual_seed(1)
        models.append(create_model(name, implementation))
    plain, tuned = (model.state_dict() for model in models)
    assert list(plain) == list(tuned)
    assert all(torch.equal(plain[key], tuned[key]) for key in plain)
    for source, target in (models, models[::-1]):
        target.load_state_dict(source.state_dict())


@pytest.mark.parametrize("name", ["dsanet", "lstnet"])
def test_dropout_leaves_the_same_mean(name: str) -> None:
    """Of many draws: the parts that dropout acts on are linear, or close to it, for a small x."""
    means = []
    for implementation in get_args(Implementation):
        torch.manual_seed(2)
        model: Any = create_model(name, implementation, dropout=0.4)
        x = batch_for(name, model, 1).expand(1000, -1, -1)
        with torch.no_grad():  # which keeps dropout, and not 1,000 items for a backward pass
            out = model(x)
        means.append((out.mean(0), out.std(0) / len(out) ** 0.5))
    (plain, error), (tuned, _) = means
    assert ((plain - tuned).abs() < 6 * error + 1e-6).all()


def test_models_are_what_was_measured_to_be_the_fastest_for_their_device_batch_and_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    one: fastest.Choices = {
        "dsanet": {"forward": {"1": "plain", "32": "tuned"}, "backward": {"1": "plain"}},
        "lenet5": {"forward": {"1": "plain"}, "backward": {"1": "tuned"}},
    }
    other: fastest.Choices = {"lenet5": {"forward": {"1": "plain"}, "backward": {"1": "plain"}}}
    gpu: fastest.Choices = {
        "dsanet": {"forward": {"1": "tuned"}, "backward": {"1": "plain", "8": "tuned"}}
    }
    made_up = {"cpu": {"one": one, "other": other}, "cuda": {"a GPU": gpu}}
    monkeypatch.setattr(fastest, "measured", lambda: made_up)
    plain, tuned = (type(create_model("dsanet", name)) for name in list_implementations("dsanet"))
    for batch, expected in ((1, plain), (31, plain), (32, tuned), (1000, tuned), (None, tuned)):
        assert type(create_model("dsanet", Fastest(batch=batch))) is expected
        assert type(create_model("dsanet", Fastest("cpu", batch, "backward"))) is plain
    assert type(create_model("dsanet", Fastest("cuda:1", 1000))) is tuned
    assert type(create_model("dsanet", Fastest("cuda", 8, "backward"))) is tuned
    assert type(create_model("dsanet", Fastest("mps", 8))) is plain  # not measured there
    assert type(create_model("dsanet")) is type(get_workload("dsanet").create_model()) is tuned
    assert type(create_model("lenet5")) is type(create_model("lenet5", "plain"))
    assert Fastest("cpu", 1, "backward").implementation_of("lenet5") == "plain"  # they disagree
    assert Fastest().implementation_of("resnet18") == "plain"  # nobody reformulated it

    def trained(workload: str, batch: int, *, trains: bool) -> type[nn.Module]:
        config = complete(RunConfig(model=workload, batch_size=batch))
        return type(prepare(config, trains=trains)[0])

    assert trained("dsanet", 31, trains=False) is plain
    assert trained("dsanet", 32, trains=False) is tuned
    assert trained("dsanet", 32, trains=True) is plain


def test_what_was_measured_names_models_with_several_implementations_and_both_passes() -> None:
    measured = fastest.measured()
    assert set(measured) == {"cpu", "cuda"}
    for models in (part for parts in measured.values() for part in parts.values()):
        for name, passes in models.items():
            assert set(passes) == {"forward", "backward"}
            for batches in passes.values():
                assert min(map(int, batches)) == 1, "else smaller batches have no entry"
                assert set(batches.values()) <= set(list_implementations(name))
    for models in measured["cpu"].values():
        assert set(models) == set(TUNED)


def test_a_processor_is_measured_without_loss_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "fastest.json"
    other = {"dsanet": {"forward": {"1": "plain"}, "backward": {"1": "tuned"}}}
    file.write_text(json.dumps({"cpu": {"an older one": other, "this one": {}}, "cuda": {}}))
    monkeypatch.setattr(formulations, "processor", lambda device: "this one")

    def measure(
        workload: str, _device: str, _pass: str, batch: int
    ) -> dict[Implementation, np.ndarray]:
        seconds = {"plain": 1.0, "tuned": 2.0 if batch <= 8 else 0.5}
        implementations = list_implementations(get_workload(workload).model)
        return {name: np.full(5, seconds[name]) for name in implementations}

    monkeypatch.setattr(formulations, "measure", measure)
    formulations.main("cpu", file)
    measured = fastest.measured(file)
    assert measured["cpu"]["an older one"] == other
    assert set(measured["cpu"]["this one"]) == set(TUNED)
    assert measured["cpu"]["this one"]["dsanet"]["forward"] == {"1": "plain", "32": "tuned"}
    assert measured["cuda"] == {}


@pytest.mark.parametrize(
    ("speeds", "chosen"),
    [
        ({1: 0.6, 8: 0.97, 32: 1.17}, {"1": "plain", "32": "tuned"}),
        ({1: 1.4, 8: 1.3, 32: 1.01}, {"1": "tuned"}),
        ({1: 0.995, 8: 1.2, 32: 1.1}, {"1": "tuned"}),
        ({1: 0.6, 8: 0.9, 32: 0.995}, {"1": "plain"}),
    ],
)
def test_the_fastest_is_chosen_by_batch_and_kept_where_another_is_hardly_faster(
    speeds: dict[int, float], chosen: dict[str, str]
) -> None:
    found: dict[int, formulations.Speeds] = {
        batch: {"plain": 1.0, "tuned": tuned} for batch, tuned in speeds.items()
    }
    assert formulations.choices(found) == chosen


@pytest.mark.parametrize("name", TUNED)
def test_it_compiles_to_one_graph_once_and_computes_the_same(name: str) -> None:
    torch._dynamo.reset()
    graphs = []

    def count(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Any:
        graphs.append(graph)
        return torch._dynamo.lookup_backend("aot_eager")(graph, inputs)

    model: Any = create_model(name).eval()
    compiled: Any = torch.compile(model, fullgraph=True, backend=count)
    for _ in range(3):
        x = batch_for(name, model, 4).requires_grad_()
        out, expected = compiled(x), model(x)
        torch.testing.assert_close(out, expected)
        ours, eager = (
            torch.autograd.grad(result.square().sum(), [x, *model.parameters()])
            for result in (out, expected)
        )
        torch.testing.assert_close(ours, eager)
    assert len(graphs) == 1


@pytest.mark.parametrize("name", [*list_workloads("time_series"), *list_workloads("forecaster")])
def test_a_plain_model_is_exported_with_a_dynamic_batch(name: str) -> None:
    model = small(name, "plain")
    batch = torch.export.Dim("batch")
    with torch.no_grad():
        exported = torch.export.export(
            model, (batch_for(name, model, 4),), dynamic_shapes=({0: batch},)
        )
        for size in (1, 7):
            x = batch_for(name, model, size)
            torch.testing.assert_close(exported.module()(x), model(x))
