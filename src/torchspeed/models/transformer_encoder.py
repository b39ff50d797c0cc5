"""A transformer's encoder, and BERT, which adds word embeddings before it."""

import torch
from torch import Tensor, nn

from torchspeed.models.checks import check_at_most, check_divides, check_input
from torchspeed.models.registry import register_model


def encoder(
    width: int, heads: int, inner: int, layers: int, dropout: float, eps: float = 1e-5
) -> nn.TransformerEncoder:
    """Return layers of attention and of a network with gelu, each with layer norm after it."""
    check_divides("heads", heads, "width", width)
    layer = nn.TransformerEncoderLayer(
        width, heads, inner, dropout, activation="gelu", layer_norm_eps=eps, batch_first=True
    )
    return nn.TransformerEncoder(layer, layers)


@register_model("transformer_encoder")
class TransformerEncoder(nn.Module):
    """``torch.nn.TransformerEncoder`` with gelu, as FluxBench's Transformers group has one.

    A. Vaswani et al., "Attention Is All You Need", NeurIPS 2017, arXiv:1706.03762, section 3.1.

    Maps (batch, tokens, width) to the same shape. 37,828,608 parameters.
    """

    def __init__(
        self,
        *,
        width: int = 512,
        heads: int = 8,
        layers: int = 12,
        inner: int = 2048,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.width = width
        self.encoder = encoder(width, heads, inner, layers, dropout)

    def forward(self, x: Tensor) -> Tensor:
        """Return the encoded tokens, (batch, tokens, width)."""
        weight = next(self.parameters())
        check_input(x, "batch, tokens, width", (*x.shape[1:2], self.width), weight)
        return self.encoder(x)  # type: ignore[no-any-return]


@register_model("bert_base")
class BERT(nn.Module):
    """BERT-base, untrained, up to its encoded tokens.

    J. Devlin et al., "BERT: Pre-training of Deep Bidirectional Transformers for Language
    Understanding", NAACL 2019, arXiv:1810.04805, section 3, with the sizes of BERT-base,
    uncased. All tokens belong to the first segment, as in FluxBench, which ends before the
    pooler, too: so 590,592 of the published model's 109,482,240 parameters are not here.

    Maps tokens, (batch, length) of indices, to (batch, length, width). 108,891,648 parameters.

    Args:
        length: largest number of tokens in a text.

    The others are those of `TransformerEncoder`, and so are the errors.
    """

    positions: Tensor

    def __init__(
        self,
        *,
        vocabulary: int = 30_522,
        length: int = 512,
        width: int = 768,
        heads: int = 12,
        layers: int = 12,
        inner: int = 3072,
        dropout: float = 0.1,
    ) -> None:
        super().__init__()
        self.length = length
        self.word = nn.Embedding(vocabulary, width)
        self.position = nn.Embedding(length, width)
        self.segment = nn.Embedding(2, width)
        self.norm = nn.LayerNorm(width, eps=1e-12)
        self.dropout = nn.Dropout(dropout)
        self.encoder = encoder(width, heads, inner, layers, dropout, eps=1e-12)
        self.register_buffer("positions", torch.arange(length), persistent=False)

    def forward(self, tokens: Tensor) -> Tensor:
        """Return the encoded tokens, (batch, length, width)."""
        if tokens.dim() != 2 or tokens.dtype != torch.int64:
            raise ValueError(
                "tokens must be int64 indices of the axes batch, length, got "
                f"{tuple(tokens.shape)} of {tokens.dtype}"
            )
        check_at_most("the length of tokens", tokens.shape[1], "length", self.length)
        positions = self.positions[: tokens.shape[1]]
        first = torch.zeros_like(tokens)
        embedded = self.word(tokens) + self.position(positions) + self.segment(first)
        return self.encoder(self.dropout(self.norm(embedded)))  # type: ignore[no-any-return]
