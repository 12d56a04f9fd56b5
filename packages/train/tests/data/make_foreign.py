"""Makes the files of PyTorch, safetensors and NumPy beside it, for the tests of `load`. Run by hand, where these are installed.

    python make_foreign.py      # torch 2.13, numpy 2
"""
import json
import struct
from collections import OrderedDict
from pathlib import Path

import numpy as np
import torch

HERE = Path(__file__).parent


def main() -> None:
    base = torch.arange(12, dtype=torch.float32)
    tied = torch.tensor([[0.5, -1.5]])
    state = OrderedDict(
        whole=base.reshape(3, 4), transposed=base.reshape(3, 4).t(), part=base[2:10:3], tied=tied, tied_too=tied,
        parameter=torch.nn.Parameter(torch.tensor([1.0, 2.0])), scalar=torch.tensor(7), empty=torch.zeros(0, 3),
        flags=torch.tensor([True, False]), half=torch.tensor([0.5], dtype=torch.float16),
        brain=torch.tensor([1.5, -2.0], dtype=torch.bfloat16), bytes=torch.tensor([1, 255], dtype=torch.uint8),
        double=torch.tensor([1e300], dtype=torch.float64), complex=torch.tensor([1 + 2j]),
    )
    state._metadata = OrderedDict([("", {"version": 1})])  # as Module.state_dict() leaves it
    value = {"state_dict": state, "epoch": 3, "shape": torch.Size([2, 3]), "dtype": torch.float16, "note": "äö"}
    torch.save(value, HERE / "torch_zip.pth")
    torch.save(value, HERE / "torch_legacy.pth", _use_new_zipfile_serialization=False)
    torch.save(torch.nn.Linear(2, 2), HERE / "torch_module.pth")
    torch.jit.script(torch.nn.Linear(2, 2)).save(HERE / "torch_script.pt")

    tensors = {
        "weight": np.arange(6, dtype="<f4").reshape(2, 3), "count": np.array(7, "<i8"), "empty": np.zeros((0, 3), "<f4"),
    }
    header, data = {"__metadata__": {"format": "pt"}}, b""
    for name, array in tensors.items():
        dtype = {"f4": "F32", "i8": "I64"}[array.dtype.str[1:]]
        header[name] = {"dtype": dtype, "shape": list(array.shape), "data_offsets": [len(data), len(data) + array.nbytes]}
        data += array.tobytes()
    brain = torch.tensor([1.5, -2.0], dtype=torch.bfloat16).view(torch.int16).numpy().tobytes()
    header["brain"] = {"dtype": "BF16", "shape": [2], "data_offsets": [len(data), len(data) + len(brain)]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (HERE / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data + brain)

    np.savez(HERE / "arrays.npz", weight=tensors["weight"], names=np.array(["a", "b"]))
    np.savez_compressed(HERE / "compressed.npz", weight=np.asfortranarray(tensors["weight"]), zeros=np.zeros((50, 50)))
    np.save(HERE / "array.npy", tensors["weight"])
    np.savez(HERE / "objects.npz", objects=np.array([None, 1], dtype=object))


if __name__ == "__main__":
    main()
