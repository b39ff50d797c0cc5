"""The flux-literal models have what the originals have, and their faults."""

import re
from typing import Any

import pytest
import torch

from torchspeed.models import create_model
from torchspeed.models.lstnet_flux_literal import along_samples, step
from torchspeed.workloads import list_workloads

NAMES = list_workloads("flux_literal")
EVERY_MODEL = pytest.mark.parametrize("name", NAMES)


def batch_for(model: Any, batch: int = 5) -> torch.Tensor:
    return torch.randn(batch, model.window, model.features, dtype=torch.float64)


def model_of(name: str) -> Any:
    wide: dict[str, Any] = {"channels": 16, "skip": 2} if name.startswith("lstnet") else {}
    return create_model(name, **wide).double().eval()


@EVERY_MODEL
def test_what_gets_a_gradient(name: str) -> None:
    model: Any = create_model(name).double().eval()
    x = batch_for(model).requires_grad_()
    model(x).square().sum().backward()
    without = [key for key, p in model.named_parameters() if p.grad is None]
    count = sum(model.get_parameter(key).numel() for key in without)
    assert count == (168 if name == "dsanet_flux_literal" else 0)
    assert all(re.search(r"\.(value|first_norm)\.", key) for key in without)
    assert x.grad is not None
    assert x.grad.isfinite().all()


@EVERY_MODEL
def test_a_sample_changes_the_forecasts_of_others(name: str) -> None:
    model: Any = model_of(name)
    x = batch_for(model)
    out = model(x)
    changed = x.clone()
    changed[0] = torch.randn_like(changed[0])
    assert (model(changed)[1:] != out[1:]).any(1).all()


@pytest.mark.parametrize("skip", [1, 2, 3, 60])
def test_the_skip_gru_starts_each_sample_from_one_skip_before(skip: int) -> None:
    gru: Any = model_of("lstnet_flux_literal").skip_gru
    x = torch.randn(9, 16, dtype=torch.float64)
    expected = [step(gru, x[:1], x.new_zeros(1, 3))]
    for sample in range(1, 9):
        expected.append(step(gru, x[sample : sample + 1], expected[max(0, sample - skip)]))
    torch.testing.assert_close(along_samples(gru, x, skip), torch.cat(expected))


def test_dsanet_attends_over_the_samples_alike_in_any_order() -> None:
    model: Any = model_of("dsanet_flux_literal")
    x = batch_for(model)
    order = [4, 2, 0, 3, 1]
    torch.testing.assert_close(model(x[order]), model(x)[order])


def test_tpa_lstms_recurrence_runs_over_samples_before_steps() -> None:
    model: Any = model_of("tpa_lstm_flux_literal")
    x = batch_for(model)
    changed = x.clone()
    changed[-1, -1] += 1  # the last sample of the last step comes last of all
    torch.testing.assert_close(model(changed)[:-1], model(x)[:-1], rtol=0, atol=0)
    changed = x.clone()
    changed[-1, -2] += 1  # of the step before, it comes before every sample's last
    assert (model(changed) != model(x)).all()


def test_darnns_encoder_scores_are_read_in_the_other_order() -> None:
    # With a single sample there is nothing to mix: the paper's model and this agree.
    literal: Any = model_of("darnn_flux_literal")
    x = batch_for(literal, 1)
    paper: Any = create_model("darnn", "plain").double().eval()
    with torch.no_grad():
        for part in ("encoder_lstm", "decoder_lstm"):
            weights, cell = getattr(literal, part), getattr(paper, part)
            cell.weight_ih.copy_(weights.weight_ih)
            cell.weight_hh.copy_(weights.weight_hh)
            cell.bias_ih.copy_(weights.bias)
            cell.bias_hh.zero_()
        for attention, inner, outer, score, size in (
            (literal.encoder_attention, paper.W_e, paper.U_e, paper.v_e, 10),
            (literal.decoder_attention, paper.W_d, paper.U_d, paper.v_d, 10),
        ):
            inner.weight.copy_(attention[0].weight[:, :size])
            inner.bias.copy_(attention[0].bias)
            outer.weight.copy_(attention[0].weight[:, size:])
            score.load_state_dict(attention[2].state_dict())
        paper.w_tilde.weight.copy_(literal.combine.weight.roll(1, 1))  # [y; c], not [c; y]
        paper.w_tilde.bias.copy_(literal.combine.bias)
        paper.output.load_state_dict(literal.output.state_dict())
    torch.testing.assert_close(literal(x), paper(x))
    two = batch_for(literal, 2)
    assert not torch.allclose(literal(two)[:1], paper(two)[:1])
