"""A server with one untrained model, a small stand-in for Pyodide and a wheel."""
import json
import zipfile
from pathlib import Path

import pytest

import wherry as paddle
from wherry_export.web.wheels import PYODIDE_FILES
from wherry_web import Config, create_app, save_model
from wherry_web.client.networks import network

LABELS = list("0123456789")


@pytest.fixture
def models(tmp_path) -> Path:
    paddle.seed(0)
    folder = tmp_path / "models"
    save_model(
        folder, "digits", network("LeNet", 10), title="LeNet on digits", architecture="LeNet", labels=LABELS,
        input_shape=[1, 28, 28], accuracy=0.5,
    )
    return folder


@pytest.fixture
def constants() -> bytes:
    """What the module of Pyodide lays into memory."""
    return b"constants of Pyodide " * 500


def module(constants: bytes, address: int = 1024) -> bytes:
    """A WebAssembly module with a segment of constants, which lies where Emscripten puts it, and one that is copied by the program."""
    base = [0x23, 0, 0x41, *leb(address - 1024), 0x6A, 0x0B]  # the module's base and what is beyond
    data = [2, 0, *base, *leb(len(constants)), *constants, 1, 3, *b"any"]
    return b"\0asm\1\0\0\0" + bytes([0, 4, 3, *b"abc", 11, *leb(len(data)), *data])


def leb(number: int) -> list[int]:
    return [number & 127] if number < 128 else [number & 127 | 128, *leb(number >> 7)]


@pytest.fixture
def pyodide(tmp_path, constants) -> Path:
    folder = tmp_path / "pyodide"
    folder.mkdir()
    for name in PYODIDE_FILES:
        (folder / name).write_bytes(f"{name} ".encode() * 1000)
    (folder / "pyodide.asm.wasm").write_bytes(module(constants))
    with zipfile.ZipFile(folder / "python_stdlib.zip", "w", zipfile.ZIP_DEFLATED) as library:
        library.writestr("this.py", "pass\n" * 1000)
    (folder / "package.json").write_text(json.dumps({"version": "0.29.5"}))
    return folder


@pytest.fixture
def wheels(tmp_path) -> Path:
    folder = tmp_path / "wheels"
    folder.mkdir()
    with zipfile.ZipFile(folder / "wherry_tensor-0.1.0-cp313-cp313-pyemscripten_2025_0_wasm32.whl", "w") as wheel:
        wheel.writestr("wherry_tensor/__init__.py", '"""Tensors."""\n\n\ndef one():\n    """One."""\n    return 1\n')
        wheel.writestr("wherry_tensor/empty.py", '"""Nothing."""\n')
        wheel.writestr("wherry_tensor/_core.so", b"\0asm" + bytes(range(256)) * 40)
        wheel.writestr("wherry_tensor/include/abi.h", "int x;\n")
        wheel.writestr("wherry_tensor/testing/kit.py", "import numpy\n")
        wheel.writestr("wherry_tensor-0.1.0.dist-info/METADATA", "Name: wherry-tensor\n")
    return folder


@pytest.fixture
def app(models, pyodide, wheels):
    return create_app(Config(models=models, pyodide=pyodide, wheels=wheels))


@pytest.fixture
def client(app):
    return app.test_client()


@pytest.fixture
def manifest(client):
    return client.get("/manifest.json").get_json()
