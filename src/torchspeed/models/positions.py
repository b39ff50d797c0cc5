"""Sine waves that give a model without recurrence the position of a token."""

import math

import torch
from torch import Tensor


def sinusoids(steps: int, width: int) -> Tensor:
    """Return the positional encoding, (steps, width).

    A. Vaswani et al., "Attention Is All You Need", arXiv:1706.03762, section 3.5: even columns
    are sines, odd ones cosines, of wavelengths from 2 pi to 10,000 x 2 pi.
    """
    columns = torch.arange(width)
    rates = torch.exp((columns - columns % 2) * (-math.log(10_000) / width))
    angles = torch.arange(steps).unsqueeze(1) * rates
    return torch.where(columns % 2 == 0, angles.sin(), angles.cos())
