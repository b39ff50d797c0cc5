"""Tuned models compile to one graph, once; plain forecasters are exported for any batch."""

from typing import Any

import pytest
import torch

from tests.models.test_forecasters import SMALL
from tests.models.test_promises import batch_for
from torchspeed.models import create_model, list_implementations, list_models
from torchspeed.workloads import list_workloads

TUNED = [name for name in list_models() if "tuned" in list_implementations(name)]


@pytest.mark.parametrize("name", TUNED)
def test_one_graph_no_recompilation_same_results(name: str) -> None:
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


@pytest.mark.parametrize("name", list_workloads("time_series") + list_workloads("forecaster"))
def test_a_plain_forecaster_is_exported_with_a_dynamic_batch(name: str) -> None:
    if name == "encoder_decoder":
        pytest.skip("nn.Transformer looks at the values of its mask")
    sizes = SMALL.get(name, {}) | ({"horizon": 3} if name in SMALL else {})
    model: Any = create_model(name, "plain", window=10, features=4, **sizes).eval()
    batch = torch.export.Dim("batch")
    with torch.no_grad():
        exported = torch.export.export(
            model, (batch_for(name, model, 4),), dynamic_shapes=({0: batch},)
        )
        for size in (1, 7):
            x = batch_for(name, model, size)
            torch.testing.assert_close(exported.module()(x), model(x))


def test_a_wrong_input_is_still_named_when_compiled() -> None:
    torch._dynamo.reset()
    compiled: Any = torch.compile(create_model("darnn"), backend="eager")
    compiled(torch.randn(2, 10, 10))
    with pytest.raises(ValueError, match=r"x must have the shape .* got \(2, 10, 9\)"):
        compiled(torch.randn(2, 10, 9))
