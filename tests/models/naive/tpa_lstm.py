"""TPA-LSTM in the structure of jingw2/demand_forecast, with the paper's attention."""

import torch
from torch import Tensor, nn

from torchspeed.models import TPALSTM


class NaiveTPALSTM(nn.Module):
    def __init__(self, model: TPALSTM) -> None:
        super().__init__()
        hidden, filters = model.W_a.in_features, model.W_a.out_features
        self.embedding = nn.Linear(model.features, hidden)
        self.lstm = nn.LSTM(hidden, hidden, len(model.lstm.layers), batch_first=True)
        self.convolution = nn.Conv2d(1, filters, (model.window - 1, model.filter_size))
        self.query = nn.Linear(hidden, filters)
        self.mix = nn.Linear(hidden + filters, hidden)
        self.output = nn.Linear(hidden, model.output.out_features)
        with torch.no_grad():
            for layer, weights in enumerate(model.lstm.layers):
                getattr(self.lstm, f"weight_ih_l{layer}").copy_(weights.weight_ih)
                getattr(self.lstm, f"weight_hh_l{layer}").copy_(weights.weight_hh)
                getattr(self.lstm, f"bias_ih_l{layer}").copy_(weights.bias)
                getattr(self.lstm, f"bias_hh_l{layer}").zero_()
            self.convolution.weight.copy_(model.patterns.weight.view_as(self.convolution.weight))
            assert self.convolution.bias is not None
            self.convolution.bias.copy_(model.patterns.bias)
        self.embedding.load_state_dict(model.embedding.state_dict())
        self.query.load_state_dict(model.W_a.state_dict())
        self.mix.load_state_dict(model.W_hv.state_dict())
        self.output.load_state_dict(model.output.state_dict())

    def forward(self, x: Tensor) -> Tensor:
        batch, window, _ = x.shape
        embedded = torch.relu(self.embedding(x))
        layers, hidden = self.lstm.num_layers, self.lstm.hidden_size
        h, c = x.new_zeros(layers, batch, hidden), x.new_zeros(layers, batch, hidden)
        past = x.new_zeros(batch, window - 1, hidden)
        for t in range(window):
            _, (h, c) = self.lstm(embedded[:, t, :].view(batch, 1, -1), (h, c))
            last = h.permute(1, 0, 2)[:, -1, :]
            if t != window - 1:
                past[:, t, :] = last

        rows = self.convolution(past.view(-1, 1, window - 1, hidden))
        rows = rows.squeeze(2).transpose(1, 2)  # (batch, rows, filters)
        query = self.query(last).unsqueeze(1).expand_as(rows)
        alpha = torch.sigmoid(torch.mul(rows, query).sum(dim=2))
        context = torch.mul(alpha.unsqueeze(2).expand_as(rows), rows).sum(dim=1)
        out: Tensor = self.output(self.mix(torch.cat([last, context], dim=1)))
        return out
