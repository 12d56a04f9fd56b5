"""GGUF files, written by the package `gguf`, which also says what their values are."""
import struct

import numpy as np
import pytest

gguf = pytest.importorskip("gguf")  # not to be had in the browser
from gguf import GGMLQuantizationType as Kind  # noqa: E402

import wherry_ops_cpu.column  # noqa: E402
from wherry_quant.files.gguf import GGUFFile, load_gguf  # noqa: E402
from wherry_train.pickle_reader import FileFormatError  # noqa: E402

wherry_ops_cpu.column.register()

RNG = np.random.default_rng(0)


def blocks(kind, size, halves):
    """Rows of two blocks of random bytes, with scales that are numbers."""
    raw = RNG.integers(0, 256, (6, 2 * size), dtype=np.uint8)
    for row in raw.reshape(-1, size):
        for at in halves:
            row[at : at + 2] = np.frombuffer(np.float16(RNG.standard_normal()).tobytes(), np.uint8)
    return raw


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    """A file with a tensor of each type, and the values that `gguf` finds in them."""
    path = tmp_path_factory.mktemp("gguf") / "model.gguf"
    writer = gguf.GGUFWriter(str(path), "llama")
    writer.add_string("general.name", "small")
    writer.add_array("some.numbers", [1, 2, 3])
    writer.add_array("tokenizer.tokens", ["a", "b"])
    values, expected = RNG.standard_normal((6, 512)).astype(np.float32), {}
    for kind in (Kind.F32, Kind.F16, Kind.BF16, Kind.Q8_0, Kind.Q4_0):
        raw = gguf.quants.quantize(values, kind)
        writer.add_tensor(kind.name, raw, raw_dtype=kind)
        expected[kind.name] = gguf.quants.dequantize(raw, kind)
    for kind, size, halves in (Kind.Q4_K, 144, (0, 2)), (Kind.Q6_K, 210, (208,)):
        raw = blocks(kind, size, halves)
        writer.add_tensor(kind.name, raw, raw_dtype=kind)
        expected[kind.name] = gguf.quants.dequantize(raw, kind)
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()
    return path, expected


def test_values_are_those_of_gguf_to_the_bit(written):
    path, expected = written
    file = GGUFFile(path)
    assert set(file) == set(expected) and len(file) == 7
    for name, values in expected.items():
        assert file[name].shape == (6, 512)
        assert np.array_equal(file[name].numpy().astype(np.float32), values)
    assert np.array_equal(load_gguf(path)["Q4_K"].numpy(), expected["Q4_K"])
    assert {key: file.settings[key] for key in ("general.name", "some.numbers", "tokenizer.tokens")} == {
        "general.name": "small", "some.numbers": [1, 2, 3], "tokenizer.tokens": ["a", "b"],
    }


@pytest.mark.parametrize(("kind", "bits", "group"), [("Q8_0", 8, 32), ("Q4_0", 4, 32), ("Q6_K", 6, 16)])
def test_matrices_are_whole_numbers_with_scales(written, kind, bits, group):
    path, expected = written
    weight = GGUFFile(path)[kind].quantized()
    assert (weight.bits, weight.group, weight.shape) == (bits, group, (512, 6))
    assert np.array_equal(weight.numpy(), expected[kind].T)


def test_what_has_no_whole_numbers_says_so(written):
    with pytest.raises(ValueError, match="only matrices of Q8_0, Q4_0, Q6_K"):
        GGUFFile(written[0])["Q4_K"].quantized()


def head(tensors=1, settings=0, version=3, magic=b"GGUF"):
    return magic + struct.pack("<IQQ", version, tensors, settings)


def tensor(name=b"w", sizes=(4,), kind=0, offset=0):
    return struct.pack("<Q", len(name)) + name + struct.pack(f"<I{len(sizes)}QIQ", len(sizes), *sizes, kind, offset)


@pytest.mark.parametrize(
    ("data", "why"),
    [
        (b"", "bytes are missing"),
        (head(magic=b"GGML"), "does not begin"),
        (head(version=1), "version 1"),
        (head(tensors=2**60), "tensors"),
        (head(settings=2**60), "settings"),
        (head() + tensor(sizes=(1,) * 5), "5 axes"),
        (head() + struct.pack("<Q", 2**40), "a name of"),
        (head() + tensor(sizes=(2**40, 2**40)) + bytes(64), "has .* bytes at"),
        (head() + tensor(offset=64) + bytes(64), "has 16 bytes at"),
        (head() + tensor(offset=5) + bytes(64), "has 16 bytes at"),
        (head() + tensor(kind=8, sizes=(33,)) + bytes(640), "no whole blocks"),
        (head() + tensor(kind=99) + bytes(64), "type 99"),
        (head(tensors=2) + tensor() + tensor() + bytes(128), "same name, or lie on each other"),
        (head(settings=1) + struct.pack("<Q", 1) + b"a" + struct.pack("<IIQ", 9, 0, 2**40), "a list of"),
        (head(settings=1) + struct.pack("<Q", 1) + b"a" + struct.pack("<I", 9) + struct.pack("<IQ", 9, 1) * 9, "lists inside of lists"),
        (head(settings=1) + struct.pack("<Q", 17) + b"general.alignment" + struct.pack("<II", 4, 0), "aligned to 0"),
    ],
)
def test_damaged_heads_are_refused(data, why):
    with pytest.raises(FileFormatError, match=why):
        GGUFFile(data)


def test_types_that_are_not_read_are_named():
    with pytest.raises(NotImplementedError, match="Q5_K"):
        GGUFFile(head() + tensor(kind=13, sizes=(256,)) + bytes(512))


def read_all(data):
    """Whether a file is read, or refused as it should be."""
    try:
        for one in GGUFFile(data).values():
            one.numpy()
            if one.kind in ("Q8_0", "Q4_0", "Q6_K") and len(one.shape) == 2:
                one.quantized()
    except (FileFormatError, NotImplementedError):
        return False
    return True


def mutated(data, rng):
    """The file with some bytes changed, cut or doubled; mostly of its head."""
    out, most = bytearray(data), 700
    for _ in range(rng.integers(1, 5)):
        at = int(rng.integers(0, most if rng.random() < 0.9 else len(out)))
        at = min(at, len(out) - 1)
        match rng.integers(0, 4):
            case 0:
                out[at] = int(rng.integers(0, 256))
            case 1:
                out[at : at + 8] = struct.pack("<Q", [0, 1, 2**31, 2**32 - 1, 2**63, 2**64 - 1][rng.integers(0, 6)])
            case 2:
                del out[at : at + int(rng.integers(1, 9))]
            case _:
                out[at:at] = out[at : at + int(rng.integers(1, 9))]
    return bytes(out)


@pytest.mark.parametrize("count", [300, pytest.param(10_000, marks=pytest.mark.slow)])
def test_changed_files_are_read_or_refused(written, count):
    data, rng = written[0].read_bytes(), np.random.default_rng(1)
    refused = sum(not read_all(mutated(data, rng)) for _ in range(count))
    assert refused > count // 4
