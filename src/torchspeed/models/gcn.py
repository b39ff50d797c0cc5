"""GCN: two convolutions on a graph, by products with a sparse matrix."""

import numpy as np
import torch
from torch import Tensor, nn
from torch.nn.functional import dropout

from torchspeed.models.checks import check_input
from torchspeed.models.registry import register_model


def random_graph(nodes: int, edges: int) -> Tensor:
    """Return D^-1/2 (A + I) D^-1/2 of a random graph, the same for the same sizes.

    It is (nodes, nodes), sparse, float32, with 2 x edges + nodes values.
    """
    pairs = nodes * (nodes - 1) // 2
    chosen = np.random.default_rng(0).choice(pairs, edges, replace=False)
    # Pair k has row r and column c < r, where k = r (r - 1) / 2 + c.
    rows = ((1 + np.sqrt(1 + 8 * chosen.astype(np.float64))) / 2).astype(np.int64)
    columns = chosen - rows * (rows - 1) // 2
    loops = np.arange(nodes)
    ends = np.hstack(((rows, columns), (columns, rows), (loops, loops)))
    degree = np.bincount(ends[0], minlength=nodes)
    values = (1 / np.sqrt(degree[ends[0]] * degree[ends[1]])).astype(np.float32)
    parts = torch.from_numpy(ends), torch.from_numpy(values)
    shape = nodes, nodes
    return torch.sparse_coo_tensor(*parts, shape, device="cpu", check_invariants=False).coalesce()


@register_model("gcn")
class GCN(nn.Module):
    """Graph convolutional network.

    T. Kipf and M. Welling, "Semi-Supervised Classification with Graph Convolutional Networks",
    ICLR 2017, arXiv:1609.02907, the two-layer model for classification without its softmax, as in
    FluxBench: A relu(A X W_0) W_1, where A is the graph with loops, normalised by degrees, with a
    bias per layer and dropout between them. The graph is random, of Cora's size: it costs as
    much as Cora's, except for the order of memory accesses. X W is computed before the product
    with A, which is cheaper than the order of GeometricFlux. ``torch.export`` fails, as
    torch 2.15 has no shape function for products with a sparse COO matrix, whichever of
    ``torch.sparse.mm``, ``torch.sparse.addmm`` and ``@`` calls them.

    23,063 parameters with 16 hidden features (1,433 x 16 + 16 + 16 x 7 + 7), 46,119 with 32.

    Maps node features, (batch, nodes, features), to (batch, nodes, classes).

    Args:
        edges: edges of the graph, at most as many as it has pairs of nodes.
    """

    graph: Tensor

    def __init__(
        self,
        *,
        nodes: int = 2708,
        edges: int = 5429,
        features: int = 1433,
        hidden: int = 16,
        classes: int = 7,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        if edges > nodes * (nodes - 1) // 2:
            raise ValueError(f"{nodes} nodes have fewer pairs than edges, {edges}")
        self.nodes = nodes
        self.dropout = dropout
        self.first = nn.Linear(features, hidden, bias=False)
        self.second = nn.Linear(hidden, classes, bias=False)
        self.first_bias = nn.Parameter(torch.zeros(hidden))
        self.second_bias = nn.Parameter(torch.zeros(classes))
        self.register_buffer("graph", random_graph(nodes, edges), persistent=False)

    def forward(self, x: Tensor) -> Tensor:
        """Return the scores of each node, (batch, nodes, classes)."""
        weight = self.first.weight
        check_input(x, "batch, nodes, features", (self.nodes, weight.shape[1]), weight)
        hidden = torch.relu(self._convolve(self.first(x)) + self.first_bias)
        hidden = dropout(hidden, self.dropout, self.training)
        return self._convolve(self.second(hidden)) + self.second_bias

    def _convolve(self, x: Tensor) -> Tensor:
        """Multiply with the graph: one product for all samples, side by side."""
        side_by_side = x.transpose(0, 1).flatten(1)  # (nodes, batch * features)
        mixed: Tensor = torch.sparse.mm(self.graph, side_by_side)
        return mixed.view(self.nodes, x.shape[0], -1).transpose(0, 1)
