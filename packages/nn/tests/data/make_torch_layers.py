"""Makes torch_layers.npz: layers of PyTorch, an input and an output of each, for the tests of from_torch. Run by hand.

    python make_torch_layers.py     # torch 2.13
"""
from pathlib import Path

import numpy as np
import torch

nn = torch.nn


def layers() -> dict:
    encoder = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    decoder = nn.TransformerDecoderLayer(8, 2, 16, batch_first=True)
    return {
        "network": (nn.Sequential(nn.Conv2d(3, 4, 3), nn.BatchNorm2d(4), nn.PReLU(4), nn.Flatten(), nn.Linear(16, 5)), [2, 3, 4, 4]),
        "lstm": (nn.LSTM(3, 4, 2, batch_first=True, bidirectional=True), [2, 5, 3]),
        "gru": (nn.GRU(3, 4, 2, batch_first=True), [2, 5, 3]),
        "rnn": (nn.RNN(3, 4, batch_first=True, bidirectional=True), [2, 5, 3]),
        "cell": (nn.GRUCell(3, 4), [2, 3]),
        "encoder": (nn.TransformerEncoder(encoder, 2), [2, 5, 8]),
        "decoder": (nn.TransformerDecoder(decoder, 2), [2, 5, 8]),
        "instance_norm": (nn.InstanceNorm2d(3, affine=True), [2, 3, 4, 4]),
        "transposed": (nn.ConvTranspose2d(3, 4, 3, stride=2), [2, 3, 4, 4]),
    }


def main() -> None:
    torch.manual_seed(0)
    found = {}
    for name, (layer, shape) in layers().items():
        for value in layer.state_dict().values():
            if value.is_floating_point():
                value += 0.1 * torch.rand_like(value)  # so that zeros and ones do not hide a mix-up
        layer.eval()
        x = torch.randn(shape)
        y = layer(x, x / 2) if name == "decoder" else layer(x)
        found[f"{name}|x"], found[f"{name}|y"] = x.numpy(), (y[0] if isinstance(y, tuple) else y).detach().numpy()
        found |= {f"{name}|state|{key}": value.numpy() for key, value in layer.state_dict().items()}
    np.savez_compressed(Path(__file__).with_name("torch_layers.npz"), **found)


if __name__ == "__main__":
    main()
