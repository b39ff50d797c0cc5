"""The small network that makes a token of a patch, and a forecast of a token."""

from collections.abc import Callable

from torch import Tensor, nn


class ResidualBlock(nn.Module):
    """Two linear maps with an activation between them, and a linear map around both.

    A. Das et al., "Long-term Forecasting with TiDE", TMLR 2023, arXiv:2304.08424, figure 1,
    without dropout and layer norm.
    """

    def __init__(
        self, inputs: int, inner: int, outputs: int, activation: Callable[[Tensor], Tensor]
    ) -> None:
        super().__init__()
        self.activation = activation
        self.inner = nn.Linear(inputs, inner)
        self.outer = nn.Linear(inner, outputs)
        self.around = nn.Linear(inputs, outputs)

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., inputs) to (..., outputs)."""
        return self.outer(self.activation(self.inner(x))) + self.around(x)  # type: ignore[no-any-return]
