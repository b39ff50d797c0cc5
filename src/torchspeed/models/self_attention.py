"""Self-attention with several heads, as forecasters with tokens use it."""

from torch import Tensor, nn
from torch.nn.functional import scaled_dot_product_attention

from torchspeed.models.checks import check_divides


class SelfAttention(nn.Module):
    """Every token attends to every token, in several heads.

    A. Vaswani et al., "Attention Is All You Need", NeurIPS 2017, arXiv:1706.03762, section
    3.2.2, with a bias in each of the four maps: 4 x width x (width + 1) parameters.

    Args:
        width: size of a token; the heads divide it.
        dropout: probability that a weight is zero, in training mode.
    """

    def __init__(self, width: int, heads: int, dropout: float = 0.0) -> None:
        super().__init__()
        check_divides("heads", heads, "width", width)
        self.heads = heads
        self.dropout = dropout
        self.query = nn.Linear(width, width)
        self.key = nn.Linear(width, width)
        self.value = nn.Linear(width, width)
        self.output = nn.Linear(width, width)

    def forward(self, tokens: Tensor) -> Tensor:
        """Map (batch, tokens, width) to the same shape."""
        query, key, value = (
            part(tokens).unflatten(2, (self.heads, -1)).transpose(1, 2)
            for part in (self.query, self.key, self.value)
        )  # (batch, heads, tokens, width / heads) each
        p = self.dropout if self.training else 0.0
        # Eq. 1 of Vaswani et al.
        mixed = scaled_dot_product_attention(query, key, value, dropout_p=p)
        return self.output(mixed.transpose(1, 2).flatten(2))  # type: ignore[no-any-return]
