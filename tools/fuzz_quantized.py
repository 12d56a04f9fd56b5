"""A mode of tools/fuzz.py: files that hold quantized models, changed at random.

    python tools/fuzz.py quantized --calls 100000       GGUF, GPTQ, AWQ, compressed-tensors, QDQ models of ONNX, and those of Paddle

Bytes of a file are changed, or, of weights that are several tensors, shapes, dtypes and values of tensors, so that they contradict
each other. What is read then is used: blocks become numbers, weights layers, and programs go through the passes of inference.
"""
from __future__ import annotations

import json
import random
import struct
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_files import REPOSITORY, Files

import wherry
from wherry.quantization import PTQ, QuantConfig
from wherry.quantization.observers import AbsMaxChannelWiseWeightObserver, AbsmaxObserver
from wherry_onnx_files.models import read_model
from wherry_paddle_files import desc
from wherry_paddle_files.reading import program_of
from wherry_quant.files.gguf import GGUFFile
from wherry_quant.files.packed import quantized_weights
from wherry_quant.programs import for_inference
from wherry_quant.weight_only import WeightOnlyLinear

_BLOCKS = {0: (1, 4), 1: (1, 2), 30: (1, 2), 8: (32, 34), 2: (32, 18), 12: (256, 144), 14: (256, 210)}  # of GGUF: values and bytes
_DTYPES = {"float16": "F16", "float32": "F32", "int32": "I32", "int64": "I64", "int8": "I8"}


class Quantized(Files):
    """File number n, of one of the formats, changed."""

    what = "quantized"

    def sound_files(self) -> list[bytes]:
        packed = dict(np.load(REPOSITORY / "packages" / "quant" / "tests" / "data" / "packed.npz"))
        whole = np.arange(-12, 12, dtype=np.int8).reshape(4, 6)
        packed |= {"whole.weight": whole, "whole.weight_scale": np.ones((4, 1), np.float32), "whole.weight_zero_point": np.zeros((4, 1), np.int8)}
        names = sorted({name.split(".")[0] for name in packed if not name.startswith("expected")})
        self.states = [{key: value for key, value in packed.items() if key.startswith(name + ".")} for name in names]
        tensors = [safetensors_of(state) for state in self.states]
        return [gguf(2), gguf(3), *tensors, *_programs()]

    def take(self, data: bytes, number: int) -> None:
        rng = random.Random(f"state {self.seed}/{number}")
        if number % 3 == 0:
            return _weights(_bent(rng, rng.choice(self.states)))
        if data[:4] == b"GGUF":
            return _blocks(data)
        if data[8:9] == b"{":
            path = Path(f"{self.path}.safetensors")
            path.write_bytes(data)
            return _weights(wherry.load(str(path)))
        if b"QuantizeLinear" in data:
            program = read_model(data).program()
        else:
            program = program_of(desc.parse(data))
        for_inference(program)


class GGUF(Files):
    what = "gguf"

    def sound_files(self) -> list[bytes]:
        return [gguf(2), gguf(3)]

    def take(self, data: bytes, number: int) -> None:
        _blocks(data)


def _blocks(data: bytes) -> None:
    try:
        file = GGUFFile(data)
    except NotImplementedError:  # blocks of a type that is known and not read
        return
    for tensor in file.values():
        tensor.numpy()
        if tensor.kind in ("Q8_0", "Q4_0", "Q6_K") and len(tensor.shape) == 2:
            _multiply(tensor.quantized())


def _weights(state: dict[str, Any]) -> None:
    for weight in quantized_weights(state)[0].values():
        weight.numpy()
        _multiply(weight)


def _multiply(weight: Any) -> None:
    try:
        layer = WeightOnlyLinear(weight)
    except NotImplementedError:  # groups that kernels do not have
        return
    layer(wherry.ones([1, weight.shape[0]]))


def _bent(rng: random.Random, state: dict[str, Any]) -> dict[str, Any]:
    """Tensors of a weight, some of them other than they were."""
    out = dict(state)
    for _ in range(rng.choice((1, 1, 2, 3))):
        name = rng.choice(list(out))
        value, roll = out[name], rng.randrange(10)
        if roll == 0 and len(out) > 1:
            del out[name]
        elif roll == 1:
            out[name] = value.T
        elif roll == 2:
            out[name] = value[: rng.randrange(len(value) + 1)] if value.ndim else value
        elif roll == 3:
            out[name] = value.astype(rng.choice(("float32", "float16", "int8", "uint8", "int32", "int64", "bool")))
        elif roll == 4:
            out[name] = value.reshape(-1)
        elif roll == 5:
            out[name] = np.concatenate([value] * rng.choice((2, 3)), axis=rng.randrange(value.ndim)) if value.ndim else value
        elif roll == 6:
            numbers = (0.0, float("nan"), float("inf"), -1.0, 6e4) if value.dtype.kind == "f" else (0, 1, 100)
            out[name] = np.full_like(value, rng.choice(numbers))
        elif roll == 7:
            out[name] = np.zeros(tuple(rng.choice((0, 1, 3, 8, 24, 40)) for _ in range(rng.randrange(4))), value.dtype)
        elif roll == 8:
            out[name.rpartition(".")[0] + "." + rng.choice(("g_idx", "weight_g_idx", "weight_zero_point", "qzeros", "weight_shape"))] = value
        else:
            other = rng.choice(list(out))
            out[name], out[other] = out[other], out[name]
    return out


def safetensors_of(state: dict[str, Any]) -> bytes:
    head, body = {}, b""
    for name, value in state.items():
        raw = value.tobytes()
        head[name] = {"dtype": _DTYPES[value.dtype.name], "shape": list(value.shape), "data_offsets": [len(body), len(body) + len(raw)]}
        body += raw
    text = json.dumps(head).encode()
    return struct.pack("<Q", len(text)) + text + body


def gguf(version: int) -> bytes:
    rng = np.random.default_rng(version)

    def text(value: str) -> bytes:
        return struct.pack("<Q", len(value)) + value.encode()

    settings = text("general.name") + struct.pack("<I", 8) + text("small") + text("general.alignment") + struct.pack("<II", 4, 32)
    settings += text("tokens") + struct.pack("<IIQ", 9, 8, 2) + text("a") + text("b") + text("sizes") + struct.pack("<IIQ3i", 9, 5, 3, 1, 2, 3)
    tensors, body = b"", b""
    for kind, (values, size) in _BLOCKS.items():
        columns = max(32, values)
        tensors += text(f"t{kind}") + struct.pack("<IQQIQ", 2, columns, 3, kind, len(body))
        raw = rng.integers(0, 60, 3 * columns // values * size, dtype=np.uint8).tobytes()
        body += raw + bytes(-len(raw) % 32)
    head = b"GGUF" + struct.pack("<IQQ", version, len(_BLOCKS), 4) + settings + tensors
    return head + bytes(-len(head) % 32) + body


def _programs() -> list[bytes]:
    """A converted network as a QDQ model of ONNX, and as a program of Paddle."""
    net = wherry.nn.Sequential(
        wherry.nn.Conv2D(3, 4, 3), wherry.nn.ReLU(), wherry.nn.MaxPool2D(2), wherry.nn.Flatten(), wherry.nn.Linear(36, 4)
    )
    net.eval()
    config = QuantConfig(activation=None, weight=None)
    config.add_type_config([wherry.nn.Conv2D, wherry.nn.Linear], activation=AbsmaxObserver(), weight=AbsMaxChannelWiseWeightObserver())
    ptq = PTQ(config)
    observed = ptq.quantize(net)
    observed(wherry.randn([2, 3, 8, 8]))
    model = ptq.convert(observed)
    spec = [wherry.static.InputSpec([None, 3, 8, 8], "float32", "x")]
    folder = Path(tempfile.mkdtemp(prefix="wherry-fuzz-"))
    wherry.onnx.export(model, str(folder / "model"), input_spec=spec, opset_version=13)
    wherry.jit.save(model, str(folder / "model"), input_spec=spec)
    return [(folder / f"model.{ending}").read_bytes() for ending in ("onnx", "pdmodel")]
