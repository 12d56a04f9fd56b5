"""The formats that the page Your model opens, here without a page."""
from __future__ import annotations

import contextlib
import struct
from pathlib import Path

import pytest

import wherry as paddle
from wherry.static import InputSpec
from wherry_web.client.formats import opened

PT2 = Path(__file__).parents[2] / "tests" / "data" / "pt2" / "images.pt2"


def gguf() -> bytes:
    """A tensor of float32 and one of blocks of Q4_0."""
    plain = struct.pack("<Q", 6) + b"weight" + struct.pack("<IQIQ", 1, 4, 0, 0)
    blocks = struct.pack("<Q", 6) + b"blocks" + struct.pack("<IQQIQ", 2, 32, 2, 2, 32)
    head = b"GGUF" + struct.pack("<IQQ", 3, 2, 0) + plain + blocks
    return head + bytes(-len(head) % 32) + struct.pack("<4f", 1, 2, 3, 4) + bytes(16 + 36)


@pytest.fixture(scope="module")
def files(tmp_path_factory) -> dict[str, list[Path]]:
    """A small network in each format, the file to open first."""
    paddle.seed(0)
    folder, net, spec = tmp_path_factory.mktemp("files"), paddle.nn.Linear(3, 4), [InputSpec([None, 3], "float32", "x")]
    net.eval()
    paddle.jit.save(net, str(folder / "net"), input_spec=spec)
    paddle.set_flags({"FLAGS_enable_pir_api": True})
    try:
        paddle.jit.save(net, str(folder / "net3"), input_spec=spec)
    finally:
        paddle.set_flags({"FLAGS_enable_pir_api": False})
    for ending in ("pdparams", "safetensors"):
        paddle.save(net.state_dict(), str(folder / f"weights.{ending}"))
    (folder / "weights.gguf").write_bytes(gguf())
    found = {
        "pdmodel": [folder / "net.pdmodel", folder / "net.pdiparams"], "json": [folder / "net3.json", folder / "net3.pdiparams"], "pt2": [PT2],
        **{ending: [folder / f"weights.{ending}"] for ending in ("pdparams", "safetensors", "gguf")},
    }
    with contextlib.suppress(ModuleNotFoundError):  # the package onnx writes it, where it is installed
        found["onnx"] = [Path(paddle.onnx.export(net, str(folder / "net"), input_spec=spec))]
    return found


def contents(paths: list[Path]) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in paths}


def given(files, ending):
    if ending not in files:
        pytest.skip("the package onnx writes the file; it is not installed")
    return files[ending]


@pytest.mark.parametrize("ending", ["pdmodel", "json", "onnx", "pt2"])
def test_a_program_of_each_format_is_told_of_drawn_and_run(files, ending):
    paths = given(files, ending)
    model = opened(paths[0].name, contents(paths))
    about = model.about()
    assert about["why"] is None and not about["lacksParams"] and about["held"]["unsupported"] == []
    assert sum(count for _, count in about["held"]["operators"]) > 0 and about["held"]["tensors"] == len(about["held"]["parameters"]) >= 2
    assert model.picture("net").startswith("<svg")
    (x,) = about["inputs"]
    shape = [max(n, 2) for n in x["shape"]]
    (output,) = model.run([{"shape": shape, "random": [0, 1]}], True)["outputs"]
    assert output["shape"][0] == 2 and output["bad"] == 0


@pytest.mark.parametrize(("ending", "format", "dtypes"), [
    ("pdparams", "weights (.pdparams)", {"float32": 2}), ("safetensors", "weights (.safetensors)", {"float32": 2}),
    ("gguf", "weights (.gguf)", {"float32": 1, "Q4_0": 1}),
])  # fmt: skip
def test_weights_are_listed_with_the_largest_first(files, ending, format, dtypes):
    (path,) = files[ending]
    model = opened(path.name, contents([path]))
    about = model.about()
    assert about["held"]["format"] == format and about["held"]["dtypes"] == dtypes and "weights" in about["why"]
    assert about["held"]["parameters"][0]["shape"] == ([2, 32] if ending == "gguf" else [3, 4])
    assert about["weightBytes"] == (16 + 36 if ending == "gguf" else 4 * 16)
    with pytest.raises(ValueError, match="weights, without a program"):
        model.run([], True)


def test_an_operator_that_is_not_read_is_named_and_the_rest_is_shown(files):
    (path,) = given(files, "onnx")
    model = opened("net.onnx", {"net.onnx": path.read_bytes().replace(b"Gemm", b"Gemn")})
    about = model.about()
    assert about["held"]["unsupported"] == ["Gemn"] and "Gemn" in about["why"] and about["nodes"] == []
    assert about["held"]["tensors"] == 2


@pytest.mark.parametrize("name", ["a.onnx", "a.pt2", "a.safetensors", "a.gguf", "a.pdparams", "a.json", "a.pdmodel", "a.npz", "a.tflite"])
@pytest.mark.parametrize("content", [b"", b"hello, this is text"])
def test_what_is_none_is_refused_with_one_line(name, content):
    with pytest.raises(ValueError, match=r"^[^\n]+$"):
        opened(name, {name: content})


def test_names_with_folders_stay_in_the_folder(files, tmp_path):
    (path,) = files["safetensors"]
    assert opened("../../weights.safetensors", {"../../weights.safetensors": path.read_bytes()}).about()["held"]["tensors"] == 2
    assert not list(tmp_path.parent.glob("weights.safetensors"))
