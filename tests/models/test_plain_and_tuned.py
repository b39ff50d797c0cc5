"""The tuned models compute what the plain ones do, with the same parameters."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from torch import Tensor, nn

from tests.models.test_promises import batch_for, configurations
from torchspeed.measure import formulations
from torchspeed.measure.passes import Passes
from torchspeed.models import create_model, fastest, has_tuned, list_models
from torchspeed.models.fastest import Fastest
from torchspeed.training.cases import AdamSteps, Training
from torchspeed.training.config import RunConfig, complete
from torchspeed.training.prepare import prepare
from torchspeed.workloads import get_workload, list_workloads

TUNED = [name for name in list_models() if has_tuned(name)]
OVER_SIZES = settings(
    max_examples=8, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)


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
    for implementation in ("plain", "tuned"):
        torch.manual_seed(1)
        models.append(create_model(name, implementation))
    plain, tuned = (model.state_dict() for model in models)
    assert list(plain) == list(tuned)
    assert all(torch.equal(plain[key], tuned[key]) for key in plain)
    for source, target in (models, models[::-1]):
        target.load_state_dict(source.state_dict())


@pytest.mark.parametrize(("name", "p"), [("dsanet", 0.4), ("lstnet", 0.4)])
def test_dropout_leaves_the_same_mean(name: str, p: float) -> None:
    """Of many draws: the parts that dropout acts on are linear, or close to it, for a small x."""
    means = []
    for implementation in ("plain", "tuned"):
        torch.manual_seed(2)
        model: Any = create_model(name, implementation, dropout=p)
        x = batch_for(name, model, 1).expand(4000, -1, -1)
        with torch.no_grad():  # which keeps dropout, and not 4,000 items for a backward pass
            out = model(x)
        means.append((out.mean(0), out.std(0) / len(out) ** 0.5))
    (plain, error), (tuned, _) = means
    assert ((plain - tuned).abs() < 6 * error + 1e-6).all()


def test_models_that_nobody_has_tuned_are_plain_in_either_implementation() -> None:
    assert set(TUNED) < set(list_workloads("time_series") + list_workloads("small_cnn"))
    plain, tuned = create_model("resnet18_mnist", "plain"), create_model("resnet18_mnist")
    assert type(plain) is type(tuned)
    assert type(create_model("darnn", "plain")) is not type(create_model("darnn"))


def test_models_are_what_was_measured_to_be_faster_for_their_device_batch_and_pass(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    made_up: fastest.Thresholds = {
        "cpu": {"dsanet": {"forward": 32, "backward": None}, "lenet5": {"forward": None}}
    }
    monkeypatch.setattr(fastest, "thresholds", lambda: made_up)
    plain, tuned = (type(create_model("dsanet", name)) for name in ("plain", "tuned"))
    for batch, expected in ((1, plain), (31, plain), (32, tuned), (1000, tuned), (None, tuned)):
        assert type(create_model("dsanet", Fastest(batch=batch))) is expected
        assert type(create_model("dsanet", Fastest("cpu", batch, "backward"))) is plain
    assert type(create_model("dsanet", Fastest("cuda:1", 1000))) is plain  # not measured there
    assert type(create_model("dsanet")) is type(get_workload("dsanet").create_model()) is tuned
    assert type(create_model("lenet5")) is type(create_model("lenet5", "plain"))
    assert Fastest().implementation_of("resnet18") == "plain"  # nobody tuned it

    def trained(workload: str, batch: int, *, trains: bool) -> type[nn.Module]:
        config = complete(RunConfig(model=workload, batch_size=batch))
        return type(prepare(config, trains=trains)[0].model)

    assert trained("dsanet", 31, trains=False) is plain
    assert trained("dsanet", 32, trains=False) is tuned
    assert trained("dsanet", 32, trains=True) is plain


def test_what_was_measured_names_every_tuned_model_and_both_passes_on_each_device() -> None:
    measured = fastest.measured()
    assert set(measured) == {"cpu", "cuda"}
    for models_of_processor in (part for parts in measured.values() for part in parts.values()):
        assert {name for name in TUNED if name in models_of_processor} == set(models_of_processor)
        assert all(set(own) == {"forward", "backward"} for own in models_of_processor.values())
    for models_of_cpu in measured["cpu"].values():
        assert set(models_of_cpu) == {get_workload(name).model for name in TUNED}


def test_a_processor_is_measured_without_loss_of_others_and_tuned_models_are_slower_on_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "fastest.json"
    other = {name: {"forward": 8, "backward": None} for name in TUNED}
    file.write_text(json.dumps({"cpu": {"an older one": other, "this one": {}}, "cuda": {}}))
    monkeypatch.setattr(fastest, "FILE", file)
    monkeypatch.setattr(formulations, "FILE", file)
    monkeypatch.setattr(formulations, "processor", lambda device: "this one")
    slower_at = {"dsanet": 8, "lstnet": 0}

    def measure(workload: str, _device: str, _pass: str, batch: int, _rounds: int) -> np.ndarray:
        plain = 0.9 if batch <= slower_at.get(workload, 1) else 1.5
        return np.tile((plain, 1.0), (5, 1))

    monkeypatch.setattr(formulations, "measure", measure)
    formulations.main()
    assert fastest.measured()["cpu"]["an older one"] == other
    assert fastest.measured()["cpu"]["this one"]["dsanet"] == {"forward": 32, "backward": 32}
    assert fastest.measured()["cuda"] == {}
    fastest.thresholds.cache_clear()
    try:
        combined = fastest.thresholds()["cpu"]
    finally:
        monkeypatch.undo()
        fastest.thresholds.cache_clear()
    assert combined["dsanet"] == {"forward": 32, "backward": None}
    assert combined["lstnet"] == {"forward": 8, "backward": None}


@pytest.mark.parametrize(
    ("ratios", "smallest"),
    [
        ({1: 0.6, 8: 0.97, 32: 1.17, 1000: 1.2}, 32),
        ({1: 1.4, 8: 0.9, 32: 1.0}, 32),
        ({1: 1.4, 8: 1.3, 32: 0.995}, 1),
        ({1: 1.4, 8: 1.3, 32: 0.9}, None),
    ],
)
def test_a_threshold_is_the_smallest_batch_from_which_none_is_slower(
    ratios: dict[int, float], smallest: int | None
) -> None:
    assert formulations.threshold(ratios) == smallest


def test_what_is_measured_is_tuned_where_nothing_else_is_said_whatever_is_faster_there(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fastest, "thresholds", dict)
    tuned = type(create_model("lenet5", "tuned"))
    assert type(Passes("lenet5", "cpu", 2).model) is tuned
    assert type(Training("lenet5", "cpu")._model) is tuned
    assert type(AdamSteps("dsanet", "cpu")._model) is type(create_model("dsanet", "tuned"))
