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
from torch._dynamo.testing import CompileCounterWithBackend

from tests.models.sizes import batch_for, configurations, small
from torchspeed.measure import formulations
from torchspeed.models import (
    Implementation,
    create_model,
    fastest,
    list_implementations,
    list_models,
)
from torchspeed.models.fastest import COMPILED, Fastest
from torchspeed.training.config import Mode, RunConfig, complete
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
        "dsanet": {
            "forward": {"1": "plain", "32": "tuned"},
            "backward": {"1": "plain"},
            "forward, compiled": {"1": "tuned, compiled"},
            "backward, compiled": {"1": "plain", "32": "plain, compiled"},
        },
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
    assert Fastest("cpu", 1, "backward").formulation_of("lenet5")[0] == "plain"  # they disagree
    assert Fastest().formulation_of("resnet18") == ("plain", False)  # nobody reformulated it

    def trained(batch: int, *, trains: bool, mode: Mode = "tuned") -> tuple[type, bool]:
        config = complete(RunConfig(model="dsanet", batch_size=batch, mode=mode))
        model = prepare(config, trains=trains)[0]
        return type(model), model._compiled_call_impl is not None

    assert trained(31, trains=False) == (plain, False)
    assert trained(32, trains=False) == (tuned, False)
    assert trained(32, trains=True) == (plain, False)

    monkeypatch.setattr("torchspeed.training.prepare.cannot_compile", lambda _device: None)
    assert trained(1, trains=False, mode="fastest") == (tuned, True)
    assert trained(31, trains=True, mode="fastest") == (plain, False)
    assert trained(32, trains=True, mode="fastest") == (plain, True)
    assert Fastest("cuda", 1000, compiled=True).formulation_of("dsanet") == ("tuned", False)
    monkeypatch.setattr("torchspeed.training.prepare.cannot_compile", lambda _device: "no g++")
    assert trained(1, trains=False, mode="fastest") == (plain, False)


def test_what_was_measured_names_models_with_several_implementations_and_both_passes() -> None:
    measured = fastest.measured()
    assert set(measured) == {"cpu", "cuda"}
    for models in (part for parts in measured.values() for part in parts.values()):
        for name, passes in models.items():
            assert set(get_args(fastest.Pass)) <= set(passes)
            for pass_name, batches in passes.items():
                assert min(map(int, batches)) == 1, "else smaller batches have no entry"
                suffixes = ("", COMPILED) if pass_name.endswith(COMPILED) else ("",)
                known = {one + end for one in list_implementations(name) for end in suffixes}
                assert set(batches.values()) <= known
    for models in measured["cpu"].values():
        assert set(models) == set(TUNED)


def test_a_processor_is_measured_without_loss_of_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "fastest.json"
    other = {"dsanet": {"forward": {"1": "plain"}, "backward": {"1": "tuned"}}}
    file.write_text(json.dumps({"cpu": {"an older one": other, "this one": {}}, "cuda": {}}))
    monkeypatch.setattr(formulations, "processor", lambda device: "this one")

    def measure(workload: str, _device: str, _pass: str, batch: int) -> dict[str, np.ndarray]:
        seconds = {"plain": 1.0, "tuned": 2.0 if batch <= 8 else 0.5}
        if workload == "dsanet":
            seconds["plain, compiled"] = 0.48 if batch == 32 else 0.7  # 4 % are not worth it
        return {name: np.full(5, took) for name, took in seconds.items()}

    monkeypatch.setattr(formulations, "measure", measure)
    formulations.main("cpu", file)
    measured = fastest.measured(file)
    assert measured["cpu"]["an older one"] == other
    assert set(measured["cpu"]["this one"]) == set(TUNED)
    found = measured["cpu"]["this one"]
    assert found["dsanet"]["forward"] == {"1": "plain", "32": "tuned"}
    assert found["dsanet"]["forward, compiled"] == {"1": "plain, compiled", "32": "tuned"}
    assert set(found["lenet5"]) == {"forward", "backward"}  # as where nothing compiles
    assert measured["cuda"] == {}


@pytest.mark.parametrize("name", TUNED)
def test_it_compiles_to_one_graph_once_and_computes_the_same(name: str) -> None:
    torch._dynamo.reset()
    counter = CompileCounterWithBackend("aot_eager")
    model: Any = create_model(name).eval()
    compiled: Any = torch.compile(model, fullgraph=True, backend=counter)
    for _ in range(3):
        x = batch_for(name, model, 4).requires_grad_()
        out, expected = compiled(x), model(x)
        torch.testing.assert_close(out, expected)
        ours, eager = (
            torch.autograd.grad(result.square().sum(), [x, *model.parameters()])
            for result in (out, expected)
        )
        torch.testing.assert_close(ours, eager)
    assert counter.frame_count == 1


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
