"""Norm by the root of the mean square alone, as models of language and pretrained forecasters."""

import torch
from torch import Tensor, nn


class RMSNorm(nn.Module):
    """Divides by the root of the mean square, in float32; ``torch.nn`` has one only since 2.4.

    B. Zhang and R. Sennrich, "Root Mean Square Layer Normalization", NeurIPS 2019,
    arXiv:1910.07467, eq. 4, without a bias: as many parameters as a token has numbers.
    """

    def __init__(self, width: int, eps: float = 1e-6) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.ones(width))
        self.eps = eps

    def forward(self, x: Tensor) -> Tensor:
        """Map (..., width) to the same shape."""
        wide = x.float()
        scale = torch.rsqrt(wide.square().mean(-1, keepdim=True) + self.eps)
        return self.weight * (wide * scale).type_as(x)
