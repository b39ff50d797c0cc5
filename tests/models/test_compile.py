"""Every tuned model compiles to one graph, once, and computes the same."""

from typing import Any

import pytest
import torch

from tests.models.test_promises import batch_for
from torchspeed.models import create_model, list_implementations, list_models

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


def test_a_wrong_input_is_still_named_when_compiled() -> None:
    torch._dynamo.reset()
    compiled: Any = torch.compile(create_model("darnn"), backend="eager")
    compiled(torch.randn(2, 10, 10))
    with pytest.raises(ValueError, match=r"x must have the shape .* got \(2, 10, 9\)"):
        compiled(torch.randn(2, 10, 9))
