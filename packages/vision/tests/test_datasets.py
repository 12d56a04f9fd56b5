"""Data sets: real formats in small files, and files that are damaged or hostile. Values are compared with Paddle in tests/parity."""
import gzip
import io
import pickle
import random
import struct
import tarfile
import zlib

import numpy as np
import pytest

from wherry_train import data_files, download
from wherry_vision import datasets
from wherry_vision.transforms import ToTensor

Image = pytest.importorskip("PIL.Image")

RNG = np.random.default_rng(0)


def packed(magic, shape, data):
    return gzip.compress(struct.pack(f">{1 + len(shape)}I", magic, *shape) + data)


@pytest.fixture
def mnist(tmp_path):
    (tmp_path / "images").write_bytes(packed(2051, (3, 4, 5), bytes(range(60))))
    (tmp_path / "labels").write_bytes(packed(2049, (3,), bytes([7, 0, 9])))
    return tmp_path


def add(archive, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def tar_of(path, members):
    with tarfile.open(path, "w:gz") as archive:
        for name, data in members.items():
            add(archive, name, data)
    return path


def picture(mode="RGB", kind="JPEG"):
    out = io.BytesIO()
    Image.fromarray(RNG.integers(0, 255, (8, 9, 3), dtype="uint8")).convert(mode).save(out, kind)
    return out.getvalue()


def test_mnist_gives_pictures_and_labels(mnist):
    data = datasets.MNIST(mnist / "images", mnist / "labels", transform=lambda image: np.asarray(image))
    assert len(data) == 3
    image, label = data[1]
    assert np.array_equal(image, np.arange(20, 40).reshape(4, 5)) and label.tolist() == [0] and label.dtype == np.int64
    image, _ = datasets.FashionMNIST(mnist / "images", mnist / "labels", mode="TEST", backend="cv2")[2]
    assert image.dtype == np.float32 and image.shape == (4, 5)


@pytest.mark.parametrize(
    ("data", "said"),
    [
        (b"not packed", "BadGzipFile"),
        (gzip.compress(b""), "expected b'\\\\x00\\\\x00\\\\x08\\\\x03'"),
        (packed(2049, (3,), bytes(3)), "bytes with 3 axes"),
        (packed(2051, (3, 4, 5), bytes(59)), "59 bytes, expected 60"),
        (packed(2051, (3, 4, 5), bytes(61)), "more bytes, expected 60"),
        (packed(2051, (2**31, 2**31, 2**31), b""), "expected one of at most"),
        (packed(2051, (3, 4, 5), bytes(60))[:-20], "EOFError|CRC|zlib|error"),
    ],
)
def test_files_that_are_not_mnist_are_refused(mnist, data, said):
    (mnist / "images").write_bytes(data)
    with pytest.raises(ValueError, match=f"MNIST: .*images is damaged, or another file.*({said})"):
        datasets.MNIST(mnist / "images", mnist / "labels")


def test_labels_that_do_not_fit_are_refused(mnist):
    (mnist / "labels").write_bytes(packed(2049, (2,), bytes(2)))
    with pytest.raises(ValueError, match="Got 3 images and 2 labels"):
        datasets.MNIST(mnist / "images", mnist / "labels")


def of_python_2(labels):
    """A pickle as Python 2 wrote those of CIFAR: its text is bytes, arrays are text."""
    data = RNG.integers(0, 255, (len(labels), 3072), dtype="uint8")

    def text(value):
        return (b"U" + bytes([len(value)]) if len(value) < 256 else b"T" + struct.pack("<I", len(value))) + value

    array = b"cnumpy.core.multiarray\n_reconstruct\n(cnumpy\nndarray\nK\x00\x85U\x01btR"
    kind = b"cnumpy\ndtype\n(U\x02u1K\x00K\x01tR(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
    array += b"(K\x01K" + bytes([len(labels)]) + b"M\x00\x0c\x86" + kind + b"\x89" + text(data.tobytes()) + b"tb"
    given = b"](" + b"".join(b"K" + bytes([label]) for label in labels) + b"e"
    return data, b"\x80\x02}(" + text(b"data") + array + text(b"labels") + given + text(b"batch_label") + text(b"x" * 300) + b"u."


def test_cifar_is_read_as_python_2_wrote_it(tmp_path):
    first, one = of_python_2([1, 2])
    _, two = of_python_2([3])
    folder = "cifar-10-batches-py/"
    path = tar_of(tmp_path / "c.tar.gz", {folder + "data_batch_1": one, folder + "data_batch_2": two, folder + "x": b""})
    data = datasets.Cifar10(path, backend="cv2")
    assert [int(label) for _, label in data] == [1, 2, 3]
    assert np.array_equal(data[1][0], first[1].reshape(3, 32, 32).transpose(1, 2, 0))
    assert datasets.Cifar10(path, transform=lambda image: image.size)[0][0] == (32, 32)


def test_transforms_of_arrays_see_the_bytes_of_cifar_and_the_result_is_float32(tmp_path, mnist):
    first, one = of_python_2([1, 2])
    data = datasets.Cifar10(tar_of(tmp_path / "c.tar.gz", {"a/data_batch_1": one}), backend="cv2", transform=ToTensor())
    np.testing.assert_allclose(data[1][0].numpy(), first[1].reshape(3, 32, 32) / np.float32(255))
    seen = []
    data.transform = lambda image: seen.append(image.dtype) or image
    assert data[0][0].dtype == np.float32 and seen == [np.uint8]
    digits = datasets.MNIST(mnist / "images", mnist / "labels", backend="cv2", transform=lambda image: image.astype("float64"))
    assert digits[0][0].dtype == np.float32


class Evil:
    def __reduce__(self):
        return print, ("ran",)


@pytest.mark.parametrize(
    ("batch", "said"),
    [
        (pickle.dumps({b"data": Evil()}, 2), "builtin"),
        (pickle.dumps([1]), "a part of it is a list"),
        (pickle.dumps({b"labels": [1]}, 2), "KeyError"),
        (pickle.dumps({b"data": np.zeros((1, 3071), "uint8"), b"labels": [1]}, 2), "expected bytes"),
        (pickle.dumps({b"data": np.zeros((1, 3072), "uint8"), b"labels": [1, 2]}, 2), "labels do not fit"),
        (pickle.dumps({b"data": np.zeros((1, 3072), "uint8"), b"labels": ["x"]}, 2), "labels do not fit"),
        (b"text", "not a file of save"),
    ],
)
def test_pickles_of_cifar_are_data_and_nothing_runs(tmp_path, capsys, batch, said):
    path = tar_of(tmp_path / "c.tar.gz", {"cifar-10-batches-py/data_batch_1": batch})
    with pytest.raises(ValueError, match=f"Cifar10: .*is damaged, or another file.*{said}"):
        datasets.Cifar10(path)
    assert capsys.readouterr().out == ""


def matrix(name, values, pack):
    """A matrix of MATLAB 5."""

    def element(code, data):
        return struct.pack("<II", code, len(data)) + data + bytes(-len(data) % 8)

    parts = element(6, struct.pack("<II", 9, 0)) + element(5, struct.pack("<ii", 1, len(values)))
    parts += struct.pack("<HH", 1, len(name)) + name.ljust(4, b"\0") if len(name) <= 4 else element(1, name)
    parts += element(2, bytes(values))
    whole = struct.pack("<II", 14, len(parts)) + parts
    return struct.pack("<II", 15, len(zlib.compress(whole))) + zlib.compress(whole) if pack else whole


HEAD = b"MATLAB 5.0 MAT-file".ljust(124) + b"\x00\x01IM"


@pytest.fixture
def flowers(tmp_path):
    tar_of(tmp_path / "f.tgz", {f"jpg/image_{i:05}.jpg": picture() for i in (1, 2, 3)})
    (tmp_path / "labels").write_bytes(HEAD + matrix(b"labels", [11, 12, 13], True))
    (tmp_path / "sets").write_bytes(HEAD + matrix(b"trn", [9], False) + matrix(b"tstid", [3, 1], True) + matrix(b"trnid", [2], False))
    return tmp_path / "f.tgz", tmp_path / "labels", tmp_path / "sets"


def test_flowers_are_read_without_other_libraries(flowers):
    data = datasets.Flowers(*flowers)
    assert [label.tolist() for _, label in data] == [[13], [11]] and data[0][0].size == (9, 8)
    image, label = datasets.Flowers(*flowers, mode="test", backend="cv2")[0]
    assert image.shape == (8, 9, 3) and image.dtype == np.float32 and label.tolist() == [12]
    assert len(list(pickle.loads(pickle.dumps(data)))) == 2  # as workers get it  # noqa: S301


def test_flowers_of_files_that_do_not_fit_are_refused(flowers):
    archive, labels, sets = flowers
    with pytest.raises(ValueError, match="it has no matrix valid"):
        datasets.Flowers(archive, labels, sets, mode="valid")
    sets.write_bytes(HEAD + matrix(b"tstid", [4], False))
    with pytest.raises(ValueError, match="do not belong together"):
        datasets.Flowers(archive, labels, sets)
    sets.write_bytes(b"x" * 200)
    with pytest.raises(ValueError, match="it is not a file of MATLAB 5"):
        datasets.Flowers(archive, labels, sets)
    with pytest.raises(ValueError, match="is damaged, or another file"):
        datasets.Flowers(labels, labels, labels)
    tar_of(archive, {"jpg/image_00001.jpg": b"x"})
    sets.write_bytes(HEAD + matrix(b"tstid", [1, 2], False))
    data = datasets.Flowers(archive, labels, sets)
    with pytest.raises(ValueError, match="Got cannot identify image file"):
        data[0]
    with pytest.raises(ValueError, match=r"KeyError: .*image_00002"):
        data[1]


def test_voc_gives_pictures_and_the_classes_of_pixels(tmp_path):
    root = "VOCdevkit/VOC2012/"
    members = {f"{root}ImageSets/Segmentation/{name}.txt": b"a\nb\n" for name in ("train", "trainval")}
    for name in "ab":
        members |= {f"{root}JPEGImages/{name}.jpg": picture(), f"{root}SegmentationClass/{name}.png": picture("P", "PNG")}
    path = tar_of(tmp_path / "v.tar", members)
    data = datasets.VOC2012(path)
    assert len(data) == 2 and [image.mode for image in data[1]] == ["RGB", "P"]
    assert [image.dtype for image in datasets.VOC2012(path, "test", backend="cv2")[0]] == [np.float32] * 2
    with pytest.raises(ValueError, match=r"KeyError: .*val\.txt"):
        datasets.VOC2012(path, "valid")


def test_folders_are_classes(tmp_path):
    for name in ("b/1.png", "a/deep/0.PNG", "a/x.txt", "b/2.jpg"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_bytes(b"x" if name.endswith("txt") else picture("L", "PNG" if name.lower().endswith("png") else "JPEG"))
    data = datasets.DatasetFolder(str(tmp_path))
    assert data.classes == ["a", "b"] and data.targets == [0, 1, 1] and data[0][0].mode == "RGB"
    assert len(datasets.DatasetFolder(str(tmp_path), is_valid_file=lambda path: path.endswith("2.jpg"))) == 1
    assert datasets.DatasetFolder(str(tmp_path), loader=len, extensions=(".txt",))[0] == (len(str(tmp_path / "a/x.txt")), 0)
    assert [len(sample) for sample in datasets.ImageFolder(str(tmp_path), transform=str)] == [1, 1, 1]
    with pytest.raises(RuntimeError, match="Found 0 files"):
        datasets.ImageFolder(str(tmp_path), extensions=(".bmp",))
    with pytest.raises(RuntimeError, match="Found 0 directories"):
        datasets.DatasetFolder(str(tmp_path / "b"))
    with pytest.raises(ValueError, match="cannot be not None at the same time"):
        datasets.ImageFolder(str(tmp_path), extensions=(".png",), is_valid_file=len)
    (tmp_path / "b" / "1.png").write_bytes(b"text")
    with pytest.raises(ValueError, match="cannot be read"):
        datasets.DatasetFolder(str(tmp_path))[1]


def test_a_file_that_is_not_given_is_downloaded(tmp_path, monkeypatch):
    monkeypatch.setattr(data_files, "DATA_HOME", str(tmp_path))
    asked = []
    monkeypatch.setattr(data_files, "fetched", lambda url, folder, md5: asked.append((url, folder, md5)) or "nothing")
    with pytest.raises(FileNotFoundError):
        datasets.Cifar100()
    assert asked == [("https://dataset.bj.bcebos.com/cifar/cifar-100-python.tar.gz", str(tmp_path / "cifar"), "eb9058c3a382ffc7106e4002c42a8d85")]
    with pytest.raises(AssertionError, match="data_file is not set and downloading automatically is disabled"):
        datasets.VOC2012(download=False)
    assert download.fetched is not data_files.fetched


@pytest.mark.parametrize(
    ("make", "error", "said"),
    [
        (lambda: datasets.MNIST(mode="valid"), AssertionError, "should be 'train' or 'test', but got valid"),
        (lambda: datasets.Cifar10(mode=3), AssertionError, "but got 3"),
        (lambda: datasets.Cifar10(backend="tensor"), ValueError, "Expected backend are one of"),
        (lambda: datasets.Cifar10(3), TypeError, "data_file is not a path. Got 3"),
        (lambda: datasets.ImageFolder(".", extensions=3), TypeError, "extensions is not a list of file name extensions"),
        (lambda: datasets.ImageFolder(".", is_valid_file=3), TypeError, "is_valid_file is not callable"),
    ],
)
def test_wrong_arguments_are_named(make, error, said):
    with pytest.raises(error, match=said):
        make()


def test_damaged_files_end_in_one_error(mnist, flowers, tmp_path):
    _, batch = of_python_2([1, 2])
    cifar = tar_of(tmp_path / "c.tar.gz", {"cifar-10-batches-py/data_batch_1": batch})
    rng = random.Random(0)
    for read, path in (
        (lambda: datasets.MNIST(mnist / "images", mnist / "labels"), mnist / "images"),
        (lambda: list(datasets.Flowers(*flowers)), flowers[0]), (lambda: list(datasets.Flowers(*flowers)), flowers[1]),
        (lambda: datasets.Flowers(*flowers), flowers[2]), (lambda: list(datasets.Cifar10(cifar)), cifar),
    ):  # fmt: skip
        whole = path.read_bytes()
        for _ in range(60):
            data = bytearray(whole)
            for _ in range(rng.randint(1, 4)):
                data[rng.randrange(len(data))] = rng.randrange(256)
            path.write_bytes(data[: rng.randrange(len(data))] if rng.random() < 0.3 else data)
            try:
                read()
            except ValueError as error:
                assert "(InvalidArgument)" in str(error), error  # noqa: PT017  most, not all, are refused
        path.write_bytes(whole)


def test_a_class_without_samples_is_named(tmp_path):
    for name in "a", "b":
        (tmp_path / name).mkdir()
    (tmp_path / "a" / "x.txt").write_text("x")
    with pytest.warns(UserWarning, match="classes without a sample. Got nothing to read in b, "):
        folder = datasets.DatasetFolder(str(tmp_path), loader=len, extensions=(".txt",))
    assert folder.classes == ["a", "b"] and folder.targets == [0]
