"""DSANet in the structure of bighuang624/DSANet, with the head that Flux adds."""

import math
from typing import Any

import torch
from torch import Tensor, nn

from torchspeed.models import DSANet
from torchspeed.models.dsanet import Norm


def copied(weight: Tensor, bias: Tensor) -> nn.Linear:
    linear = nn.Linear(weight.shape[1], weight.shape[0])
    with torch.no_grad():
        linear.weight.copy_(weight)
        linear.bias.copy_(bias)
    return linear


def as_conv1d(linear: nn.Linear) -> nn.Conv1d:
    conv = nn.Conv1d(linear.in_features, linear.out_features, 1)
    with torch.no_grad():
        conv.weight.copy_(linear.weight.unsqueeze(2))
        assert conv.bias is not None
        conv.bias.copy_(linear.bias)
    return conv


def norm_of(norm: Norm) -> nn.LayerNorm:
    copy = nn.LayerNorm(norm.weight.shape)
    copy.load_state_dict(norm.state_dict())
    return copy


class NaiveLayer(nn.Module):
    def __init__(self, layer: Any) -> None:
        super().__init__()
        attention, feed_forward = layer.attention, layer.feed_forward
        self.heads, self.dropout = attention.heads, nn.Dropout(attention.dropout)
        joint = attention.query_key_value
        self.query, self.key, self.value = (
            copied(weight, bias)
            for weight, bias in zip(joint.weight.chunk(3), joint.bias.chunk(3), strict=True)
        )
        self.output = copied(attention.output.weight, attention.output.bias)
        self.norm = norm_of(attention.norm)
        self.inner, self.outer = as_conv1d(feed_forward.inner), as_conv1d(feed_forward.outer)
        self.final_norm = norm_of(feed_forward.norm)

    def forward(self, x: Tensor) -> Tensor:
        batch, series, d_model = x.shape
        size = d_model // self.heads

        def by_head(linear: nn.Linear) -> Tensor:
            split: Tensor = linear(x).view(batch, series, self.heads, size)
            return split.permute(2, 0, 1, 3).contiguous().view(-1, series, size)

        query, key, value = by_head(self.query), by_head(self.key), by_head(self.value)
        scores = torch.bmm(query, key.transpose(1, 2)) / math.sqrt(size)
        weights = self.dropout(torch.softmax(scores, dim=2))
        mixed = torch.bmm(weights, value).view(self.heads, batch, series, size)
        mixed = mixed.permute(1, 2, 0, 3).contiguous().view(batch, series, -1)
        x = self.norm(self.dropout(self.output(mixed)) + x)
        inner = self.outer(torch.relu(self.inner(x.transpose(1, 2)))).transpose(1, 2)
        out: Tensor = self.final_norm(self.dropout(inner) + x)
        return out


class NaiveTower(nn.Module):
    def __init__(self, tower: Any, features: int) -> None:
        super().__init__()
        kernels = tower.convolution.out_channels
        self.convolution = nn.Conv2d(1, kernels, tower.convolution.kernel_size)
        self.convolution.load_state_dict(tower.convolution.state_dict())
        self.pool = nn.AdaptiveMaxPool2d((1, features))
        self.dropout = nn.Dropout(tower.dropout)
        self.embed = copied(tower.embed.weight, tower.embed.bias)
        self.layers = nn.ModuleList(NaiveLayer(layer) for layer in tower.layers)
        self.unembed = copied(tower.unembed.weight, tower.unembed.bias)

    def forward(self, x: Tensor) -> Tensor:
        patterns = torch.relu(self.convolution(x.unsqueeze(1)))
        if patterns.shape[2] > 1:
            patterns = self.pool(patterns)
        patterns = torch.squeeze(self.dropout(patterns), 2).transpose(1, 2)
        patterns = self.embed(patterns)
        for layer in self.layers:
            patterns = layer(patterns)
        out: Tensor = self.unembed(patterns)
        return out


class NaiveDSANet(nn.Module):
    def __init__(self, model: DSANet) -> None:
        super().__init__()
        self.global_tower = NaiveTower(model.global_tower, model.features)
        self.local_tower = NaiveTower(model.local_tower, model.features)
        self.combine = copied(model.combine.weight, model.combine.bias)
        self.autoregression = copied(model.autoregression.weight, model.autoregression.bias)
        self.head = copied(model.head.weight, model.head.bias)
        self.dropout = nn.Dropout(model.dropout)

    def forward(self, x: Tensor) -> Tensor:
        towers = torch.cat([self.global_tower(x), self.local_tower(x)], dim=2)
        nonlinear = self.combine(self.dropout(towers)).transpose(1, 2)
        linear = self.autoregression(x.transpose(1, 2)).transpose(1, 2)
        out: Tensor = self.head((nonlinear + linear)[:, 0, :])
        return out
