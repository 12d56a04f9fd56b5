"""Makes the programs of this folder, with PyTorch: NAME.pt2 of torch.export, with inputs and answers in NAME.npz.

    pip install torch && python tests/data/pt2/make.py
"""
import os

import numpy as np
import torch
import torch.nn.functional as F
from torch import nn

HERE = os.path.dirname(os.path.abspath(__file__))


class Images(nn.Module):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(inplace=True), nn.MaxPool2d(2), nn.Conv2d(8, 8, 3, groups=8), nn.Hardswish(),
            nn.AvgPool2d(2, 1, 1), nn.ConvTranspose2d(8, 4, 3, 2, 1, 1), nn.GroupNorm(2, 4), nn.Upsample(scale_factor=2, mode="nearest"),
            nn.AdaptiveAvgPool2d(1),
        )
        self.out, self.dropout = nn.Linear(4, 4), nn.Dropout(0.5)

    def forward(self, x):
        return F.log_softmax(self.dropout(self.out(torch.flatten(self.features(x), 1))), -1)


class Words(nn.Module):
    def __init__(self):
        super().__init__()
        self.words, self.norm = nn.Embedding(12, 8), nn.LayerNorm(8)
        self.encoder = nn.TransformerEncoder(nn.TransformerEncoderLayer(8, 2, 8, batch_first=True, activation="gelu"), 1)

    def forward(self, x):
        return self.norm(self.encoder(self.words(x))).mean(1)


class Recurrent(nn.Module):
    def __init__(self):
        super().__init__()
        self.lstm, self.gru, self.rnn = nn.LSTM(4, 3, 2, batch_first=True, bidirectional=True), nn.GRU(6, 3), nn.RNN(3, 2)

    def forward(self, x):
        y, (h, c) = self.lstm(x)
        z, last = self.gru(y)
        return self.rnn(z)[0], h, c, last


class Functions(nn.Module):
    def forward(self, x, y):
        cut = torch.cat([x, y], 1)[:, 1:, ::2]
        chosen = torch.where(x > y, x, y).clamp(0.1, 0.9)
        best, where = x.max(-1)
        return (
            cut.sum(-1), (x @ y.transpose(1, 2)).softmax(-1), chosen.pow(2).sqrt().view(x.shape[0], -1), torch.einsum("bij,bkj->bik", x, y), x.std(1),
            best, where, x.topk(2, -1)[0], (x * 10).long() // 3, x.cumsum(1), F.pad(x, (1, 2)), x.flip(1), torch.arange(4) + x, x[:, -1],
            x.masked_fill(x > 0.5, 0.0), torch.stack([x, y], 1).unbind(1)[1], x.var(-1, unbiased=False), x.split(2, 1)[1], 1 - x, x.norm(dim=-1),
        )


class InPlace(nn.Module):
    def forward(self, x):
        y = x * 2
        z = y.add_(1)
        y.relu_()
        return y + z


class Shared(nn.Module):
    def forward(self, x):
        y = x * 2
        part = y[:, :1]
        y.relu_()
        return part + 1


def write(name, net, *inputs, dynamic=None):
    net.eval()
    with torch.no_grad():
        found = net(*inputs)
    found = found if isinstance(found, (tuple, list)) else [found]
    torch.export.save(torch.export.export(net, inputs, dynamic_shapes=dynamic), os.path.join(HERE, f"{name}.pt2"))
    arrays = {f"x{i}": x.numpy() for i, x in enumerate(inputs)} | {f"y{i}": y.detach().numpy() for i, y in enumerate(found)}
    np.savez_compressed(os.path.join(HERE, f"{name}.npz"), **arrays)


if __name__ == "__main__":
    torch.manual_seed(0)
    batch = torch.export.Dim("batch", min=1, max=64)
    write("images", Images(), torch.rand(2, 3, 12, 12), dynamic=({0: batch},))
    write("words", Words(), torch.randint(0, 12, (2, 5)), dynamic=({0: batch},))
    write("recurrent", Recurrent(), torch.rand(2, 5, 4))
    write("functions", Functions(), torch.rand(2, 3, 4), torch.rand(2, 3, 4))
    write("in_place", InPlace(), torch.rand(2, 3) - 0.5)
    write("shared", Shared(), torch.rand(2, 3) - 0.5)
