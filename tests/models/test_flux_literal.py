"""The flux-literal models have the faults of the originals."""

import pytest
import torch

from tests.models.sizes import batch_for, small
from torchspeed.models.lstnet_flux_literal import along_samples, step


def test_168_parameters_of_dsanet_never_learn() -> None:
    model = small("dsanet_flux_literal")
    model(batch_for("dsanet_flux_literal", model, 5)).square().sum().backward()
    assert sum(p.numel() for p in model.parameters() if p.grad is None) == 168


@pytest.mark.parametrize("skip", [1, 2, 3, 60])
def test_the_skip_gru_starts_each_sample_from_one_skip_before(skip: int) -> None:
    gru = small("lstnet_flux_literal").skip_gru
    x = torch.randn(9, 16, dtype=torch.float64)
    expected = [step(gru, x[:1], x.new_zeros(1, 3))]
    for sample in range(1, 9):
        expected.append(step(gru, x[sample : sample + 1], expected[max(0, sample - skip)]))
    torch.testing.assert_close(along_samples(gru, x, skip), torch.cat(expected))


def test_dsanet_attends_over_the_samples_alike_in_any_order() -> None:
    model = small("dsanet_flux_literal")
    x = batch_for("dsanet_flux_literal", model, 5)
    order = [4, 2, 0, 3, 1]
    torch.testing.assert_close(model(x[order]), model(x)[order])


def test_tpa_lstms_recurrence_runs_over_samples_before_steps() -> None:
    model = small("tpa_lstm_flux_literal")
    x = batch_for("tpa_lstm_flux_literal", model, 5)
    changed = x.clone()
    changed[-1, -1] += 1  # the last sample of the last step comes last of all
    torch.testing.assert_close(model(changed)[:-1], model(x)[:-1], rtol=0, atol=0)
    changed = x.clone()
    changed[-1, -2] += 1  # of the step before, it comes before every sample's last
    assert (model(changed) != model(x)).all()


def test_darnns_encoder_scores_are_read_in_the_other_order() -> None:
    # With a single sample there is nothing to mix: the paper's model and this agree.
    literal = small("darnn_flux_literal")
    x = batch_for("darnn_flux_literal", literal, 1)
    paper = small("darnn", "plain", features=10, window=10)
    with torch.no_grad():
        for part in ("encoder_lstm", "decoder_lstm"):
            weights, cell = getattr(literal, part), getattr(paper, part)
            cell.weight_ih.copy_(weights.weight_ih)
            cell.weight_hh.copy_(weights.weight_hh)
            cell.bias_ih.copy_(weights.bias)
            cell.bias_hh.zero_()
        for attention, inner, outer, score in (
            (literal.encoder_attention, paper.W_e, paper.U_e, paper.v_e),
            (literal.decoder_attention, paper.W_d, paper.U_d, paper.v_d),
        ):
            size = inner.in_features
            inner.weight.copy_(attention[0].weight[:, :size])
            inner.bias.copy_(attention[0].bias)
            outer.weight.copy_(attention[0].weight[:, size:])
            score.load_state_dict(attention[2].state_dict())
        paper.w_tilde.weight.copy_(literal.combine.weight.roll(1, 1))  # [y; c], not [c; y]
        paper.w_tilde.bias.copy_(literal.combine.bias)
        paper.output.load_state_dict(literal.output.state_dict())
    torch.testing.assert_close(literal(x), paper(x))
    two = batch_for("darnn_flux_literal", literal, 2)
    assert not torch.allclose(literal(two)[:1], paper(two)[:1])
