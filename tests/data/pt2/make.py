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


class More(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv = torch.nn.utils.weight_norm(nn.Conv1d(4, 4, 3, padding=1))

    def forward(self, x, y, z):
        whole = (x * 10).long()
        positive, c = x.abs() + 0.1, torch.complex(x, y)
        return (
            self.conv(x), (x > 0) & (y > 0), (x > 0) | (y > 0), (x > 0) ^ (y > 0), whole.diff(dim=-1, prepend=whole[..., :1]), x.clamp(max=0.2),
            torch.addcmul(x, x, y, value=0.5), torch.addcdiv(x, x, y.abs() + 1, value=2), torch.fmod(x, 0.3), torch.frac(x), torch.erfc(x),
            torch.exp2(x), F.logsigmoid(x), F.celu(x, 0.7), F.hardshrink(x), F.softshrink(x), F.threshold(x, 0.1, -3.0),
            positive.clamp(0.1, 0.9).logit(),
            torch.hypot(x, y), torch.copysign(positive, y), torch.logaddexp(x, y), torch.fmax(x, y), torch.nan_to_num(x / (x > 0.1)), torch.sgn(x),
            torch.outer(x[0, 0], y[0, 0]), torch.dot(x[0, 0], y[0, 1]), torch.mv(x[0], y[0, 0]), torch.kron(x[0], y[1]),
            F.cosine_similarity(x, y, -1), torch.linalg.cross(x[..., :3], y[..., :3]), x.cumprod(1), *x.cummax(-1), x.logcumsumexp(-1), x[0].trace(),
            *torch.var_mean(x, 1),
            torch.count_nonzero(whole, -1), x.movedim(0, -1), x.tile(2, 1), x.rot90(1, [1, 2]), x.diagonal(0, 1, 2), torch.diag(x[0, 0]),
            torch.diag_embed(x), F.pixel_unshuffle(z, 2), F.channel_shuffle(z, 2), F.unfold(z, (2, 3), padding=1), x.unfold(2, 2, 1),
            x.repeat_interleave(2, 1),
            F.grid_sample(z, F.affine_grid(x[:, :2, :3], [2, 4, 5, 6], align_corners=False), align_corners=False), F.adaptive_max_pool2d(z, (2, 3)),
            torch.bucketize(x, torch.tensor([-0.5, 0.0, 0.5])), torch.searchsorted(torch.tensor([-0.5, 0.0, 0.5]), x, right=True),
            x.index_add(1, torch.tensor([0, 2]), y[:, :2], alpha=2), x.index_put((torch.tensor([0, 1]), torch.tensor([2, 0])), y[0, :2]),
            torch.slice_scatter(x, y[:, :, :2], 2, 1, 3), torch.select_scatter(x, y[:, 0], 1, 2), torch.view_as_real(c), torch.fft.rfft(x).abs(),
            torch.fft.irfft(torch.fft.rfft(x)), torch.fft.ifftn(c).real, torch.polar(positive, y).imag,
        )  # fmt: skip


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
    write("more", More(), torch.rand(2, 3, 4).sub(0.5).repeat(1, 2, 1)[:, :4], torch.rand(2, 4, 4) - 0.5, torch.rand(2, 4, 6, 6) - 0.5)
    write("in_place", InPlace(), torch.rand(2, 3) - 0.5)
    write("shared", Shared(), torch.rand(2, 3) - 0.5)
