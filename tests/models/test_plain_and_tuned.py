"""The tuned models compute what the plain ones do, with the same parameters, compiled too.

Their parts compute what torch's own do: attention, dropout and pooling.
"""

import json
from pathlib import Path
from typing import Any, get_args

import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats
from torch import Tensor, nn
from torch._dynamo.testing import CompileCounterWithBackend
from torch.nn.functional import max_pool2d, scaled_dot_product_attention

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
from torchspeed.models.tuned.dsanet import attend, attention_weights, dropout
from torchspeed.models.tuned.pooling import relu_max_pool
from torchspeed.training.config import Mode, RunConfig, complete
from torchspeed.training.prepare import prepare
from torchspeed.workloads import get_workload, list_workloads

TUNED = [name for name in list_models() if "tuned" in list_implementations(name)]


def results(model: nn.Module, x: Tensor) -> dict[str, Tensor]:
    """Output and gradients, of numbers near 1 whatever the batch."""
    out = model(x)
    leaves = {"x": x, **dict(model.named_parameters())}
    gradients = torch.autograd.grad(out.square().mean(), list(leaves.values()))
    return {"output": out, **dict(zip(leaves, gradients, strict=True))}


@pytest.mark.parametrize("name", TUNED)
@pytest.mark.parametrize("training", [False, True])
@settings(max_examples=8)
@given(data=st.data(), batch=st.integers(1, 5))
def test_both_compute_alike(name: str, training: bool, data: st.DataObject, batch: int) -> None:
    sizes = data.draw(configurations(name))
    if name in {"dsanet", "lstnet"} and training:
        sizes = sizes | {"dropout": 0.0}  # two models draw two sets of zeros
    plain = create_model(name, "plain", **sizes).train(training)
    tuned = create_model(name, "tuned", **sizes).train(training)
    tuned.load_state_dict(plain.state_dict())
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


def test_models_are_what_was_measured_to_be_the_fastest(monkeypatch: pytest.MonkeyPatch) -> None:
    one = {
        "dsanet": {
            "forward": {"1": "plain", "32": "tuned"},
            "backward": {"1": "plain"},
            "forward, compiled": {"1": "tuned, compiled"},
            "backward, compiled": {"1": "plain", "32": "plain, compiled"},
        },
        "lenet5": {"forward": {"1": "plain"}, "backward": {"1": "tuned"}},
    }
    other = {"lenet5": {"forward": {"1": "plain"}, "backward": {"1": "plain"}}}
    gpu = {"dsanet": {"forward": {"1": "tuned"}, "backward": {"1": "plain", "8": "tuned"}}}
    made_up = {"cpu": {"one": one, "other": other}, "cuda": {"a GPU": gpu}}
    monkeypatch.setattr(fastest, "measured", lambda: made_up)
    for asked, expected in {
        Fastest(batch=31): "plain",
        Fastest(batch=32): "tuned",
        Fastest(batch=None): "tuned",
        Fastest("cpu", 1000, "backward"): "plain",
        Fastest("cuda:1", 1000, compiled=True): "tuned",
        Fastest("cuda", 8, "backward"): "tuned",
        Fastest("mps", 8): "plain",  # not measured there
    }.items():
        assert asked.formulation_of("dsanet") == (expected, False)
    assert Fastest("cpu", 1, "backward").formulation_of("lenet5")[0] == "plain"  # they disagree
    assert Fastest().formulation_of("resnet18") == ("plain", False)  # nobody reformulated it
    plain, tuned = (type(create_model("dsanet", name)) for name in list_implementations("dsanet"))
    assert type(create_model("dsanet")) is type(get_workload("dsanet").create_model()) is tuned

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


def test_a_new_processor_keeps_the_others(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "fastest.json"
    other = {"dsanet": {"forward": {"1": "plain"}, "backward": {"1": "tuned"}}}
    file.write_text(json.dumps({"cpu": {"an older one": other, "this one": {}}, "cuda": {}}))
    monkeypatch.setattr(formulations, "processor", lambda device: "this one")

    def measure(workload: str, _device: str, _pass: str, batch: int) -> dict[str, list[float]]:
        ratios = {"tuned": [0.5 if batch <= 8 else 2.0]}
        if workload == "dsanet":
            ratios["plain, compiled"] = [2.08 if batch == 32 else 1.4]  # 4 % are not worth it
        return ratios

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
        inputs = (batch_for(name, model, 4),)
        exported = torch.export.export(model, inputs, dynamic_shapes=({0: batch},))
        for size in (1, 7):
            x = batch_for(name, model, size)
            torch.testing.assert_close(exported.module()(x), model(x))


@settings(max_examples=15)
@given(
    batch=st.integers(1, 8),
    size=st.integers(1, 10),
    positions=st.sampled_from([1, 5, 300, 400, 800]),  # the last three in parts of a batch
    scale=st.sampled_from([1.0, 100.0]),
    seed=st.integers(0, 2**16),
)
def test_values_and_gradients_are_those_of_scaled_dot_product_attention(
    batch: int, size: int, positions: int, scale: float, seed: int
) -> None:
    generator = torch.Generator().manual_seed(seed)

    def draw() -> Tensor:
        return torch.randn(batch, size, positions, generator=generator, dtype=torch.float64)

    query, key, value = ((draw() * scale).requires_grad_() for _ in range(3))
    fused = scaled_dot_product_attention(query.mT, key.mT, value.mT).mT  # torch has the size last
    objective = draw()
    expected = torch.autograd.grad((fused * objective).sum(), [query, key, value])
    mixed = attend(query, key, value, lambda weights: weights)
    torch.testing.assert_close(mixed, fused)
    gradients = torch.autograd.grad((mixed * objective).sum(), [query, key, value])
    torch.testing.assert_close(gradients, expected)
    weights = attention_weights(query, key)
    torch.testing.assert_close(value @ weights, fused)
    torch.testing.assert_close(weights.sum(1), torch.ones_like(weights[:, 0]))
    # Dropped weights mix nothing, and the others are not normalised again.
    factors = 2.0 * torch.randint(2, (positions, 1), generator=generator)
    mixed = attend(query, key, value, lambda weights: weights * factors)
    torch.testing.assert_close(mixed, value @ (weights * factors))


N = 400_000


def gone(p: float, seed: int = 0) -> torch.Tensor:
    torch.manual_seed(seed)
    return dropout(torch.ones(N), p, training=True) == 0


@pytest.mark.parametrize("p", [0.001, 0.25, 0.9])
def test_each_number_goes_with_probability_p(p: float) -> None:
    zeros = int(gone(p).sum())
    assert stats.binomtest(zeros, N, p).pvalue > 1e-4


@pytest.mark.parametrize("distance", [1, 3, 4])
def test_neighbours_that_share_a_draw_go_independently(distance: int) -> None:
    first = gone(0.3)
    both = int((first[:-distance] & first[distance:]).sum())
    assert stats.binomtest(both, N - distance, 0.09).pvalue > 1e-4


@given(
    shape=st.lists(st.integers(0, 7), max_size=3),
    p=st.floats(0, 1, exclude_max=True),
    dtype=st.sampled_from([torch.float32, torch.float64, torch.bfloat16]),
)
def test_what_stays_is_scaled_by_one_factor_and_has_its_gradient(
    shape: tuple[int, ...], p: float, dtype: torch.dtype
) -> None:
    x = (torch.rand(shape, dtype=dtype) + 1).requires_grad_()
    out = dropout(x, p, training=True)
    assert out.shape == x.shape
    assert out.dtype == dtype
    (gradient,) = torch.autograd.grad(out.sum(), x)
    torch.testing.assert_close(out, x * gradient)
    assert gradient.unique().numel() <= 2
    factors = gradient[gradient != 0]
    if 0.001 < p < 0.999:
        expected = torch.full_like(factors, 1 / (1 - p))
        torch.testing.assert_close(factors, expected, rtol=0.02, atol=0)


@given(
    shape=st.tuples(*[st.integers(1, 3)] * 2, *[st.integers(2, 7)] * 2),
    last=st.booleans(),
    seed=st.integers(0, 100),
)
@settings(max_examples=40)
def test_it_is_the_largest_of_each_square_with_torchs_gradient(
    shape: tuple[int, int, int, int], last: bool, seed: int
) -> None:
    # Few different numbers: many squares have equal ones.
    x = torch.randint(-2, 3, shape, generator=torch.Generator().manual_seed(seed)).float()
    x = x.contiguous(memory_format=torch.channels_last) if last else x
    assert torch.equal(relu_max_pool(x), max_pool2d(x.relu(), 2))
    x.requires_grad_()
    pooled, expected = relu_max_pool(x), max_pool2d(x.relu(), 2)
    assert torch.equal(pooled, expected)
    gradients = [torch.autograd.grad(pool.sum(), x)[0] for pool in (pooled, expected)]
    assert torch.equal(*gradients)


def test_what_is_not_a_number_stays_visible() -> None:
    x = torch.zeros(1, 1, 4, 4)
    x[0, 0, 1, 1] = torch.nan
    assert relu_max_pool(x).isnan().tolist() == [[[[True, False], [False, False]]]]
