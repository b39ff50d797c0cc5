"""Every tuned time-series model compiles to one graph, once, and computes the same."""

from typing import Any

import pytest
import torch

from torchspeed.models import create_model


@pytest.mark.parametrize("name", ["darnn", "dsanet", "lstnet", "tpa_lstm"])
def test_one_graph_no_recompilation_same_results(name: str) -> None:
    torch._dynamo.reset()
    graphs = []

    def count(graph: torch.fx.GraphModule, inputs: list[torch.Tensor]) -> Any:
        graphs.append(graph)
        return torch._dynamo.lookup_backend("aot_eager")(graph, inputs)

    model: Any = create_model(name).eval()
    compiled: Any = torch.compile(model, fullgraph=True, backend=count)
    for _ in range(3):
        x = torch.randn(4, model.window, model.features, requires_grad=True)
        out, expected = compiled(x), model(x)
        torch.testing.assert_close(out, expected)
        ours = torch.autograd.grad(out.sum(), [x, *model.parameters()])
        eager = torch.autograd.grad(expected.sum(), [x, *model.parameters()])
        torch.testing.assert_close(ours, eager)
    assert len(graphs) == 1


@pytest.mark.parametrize("name", ["flux_cnn", "lenet5"])
def test_the_small_cnns_compile_to_one_graph(name: str) -> None:
    torch._dynamo.reset()
    model: Any = create_model(name).eval()
    x = torch.randn(2, *{"flux_cnn": (3, 32, 32), "lenet5": (1, 28, 28)}[name])
    compiled: Any = torch.compile(model, fullgraph=True, backend="aot_eager")
    torch.testing.assert_close(compiled(x), model(x))
    x.requires_grad_()
    ours, eager = (torch.autograd.grad(f(x).square().sum(), x) for f in (compiled, model))
    torch.testing.assert_close(ours, eager)


def test_a_wrong_input_is_still_named_when_compiled() -> None:
    torch._dynamo.reset()
    compiled: Any = torch.compile(create_model("darnn"), backend="eager")
    compiled(torch.randn(2, 10, 10))
    with pytest.raises(ValueError, match=r"x must have the shape .* got \(2, 10, 9\)"):
        compiled(torch.randn(2, 10, 9))
