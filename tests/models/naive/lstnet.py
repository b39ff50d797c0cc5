"""LSTNet in the structure of laiguokun/LSTNet: torch's GRU, with tanh and two biases."""

import torch
from torch import Tensor, nn

from torchspeed.models import LSTNet


class NaiveLSTNet(nn.Module):
    def __init__(self, model: LSTNet) -> None:
        super().__init__()
        channels = model.convolution.out_features
        kernel = model.convolution.in_features // model.features
        self.skip, self.highway = model.skip, model.autoregression.in_features
        self.convolution = nn.Conv2d(1, channels, (kernel, model.features))
        self.gru = nn.GRU(channels, model.gru.weight_hh.shape[1])
        self.skip_gru = nn.GRU(channels, model.skip_gru.weight_hh.shape[1])
        self.output = nn.Linear(model.output.in_features, model.features)
        self.autoregression = nn.Linear(self.highway, 1)
        self.dropout = nn.Dropout(model.dropout)

    def forward(self, x: Tensor) -> Tensor:
        batch, window, features = x.shape
        conv = torch.relu(self.convolution(x.view(-1, 1, window, features)))
        conv = torch.squeeze(self.dropout(conv), 3)  # (batch, channels, steps)
        _, last = self.gru(conv.permute(2, 0, 1).contiguous())
        states = self.dropout(torch.squeeze(last, 0))

        channels, periods = conv.shape[1], conv.shape[2] // self.skip
        phases = conv[:, :, -periods * self.skip :].contiguous()
        phases = phases.view(batch, channels, periods, self.skip).permute(2, 0, 3, 1).contiguous()
        _, last = self.skip_gru(phases.view(periods, batch * self.skip, channels))
        skipped = self.dropout(last.view(batch, -1))
        out: Tensor = self.output(torch.cat([states, skipped], dim=1))

        past = x[:, -self.highway :, :].permute(0, 2, 1).contiguous().view(-1, self.highway)
        out = out + self.autoregression(past).view(-1, features)
        return out
