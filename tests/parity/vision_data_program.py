"""Data sets of `paddle.vision` from small files in the real formats. Run by either framework:

    vision_data_program.py make FOLDER      writes the files
    vision_data_program.py read FOLDER      prints `RESULT` and a JSON object: what each data set holds

`test_vision_data.py` compares.
"""
import gzip
import io
import json
import os
import pickle
import struct
import sys
import tarfile
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

import numpy as np
from PIL import Image


def picture(rng, kind="JPEG", mode="RGB"):
    out = io.BytesIO()
    Image.fromarray(rng.integers(0, 255, (8, 9, 3), dtype="uint8")).convert(mode).save(out, kind)
    return out.getvalue()


def add(archive, name, data):
    info = tarfile.TarInfo(name)
    info.size = len(data)
    archive.addfile(info, io.BytesIO(data))


def make(folder):
    rng = np.random.default_rng(0)
    with gzip.open(f"{folder}/images.gz", "wb") as file:
        file.write(struct.pack(">IIII", 2051, 100, 28, 28) + rng.integers(0, 255, (100, 28, 28), dtype="uint8").tobytes())
    with gzip.open(f"{folder}/labels.gz", "wb") as file:
        file.write(struct.pack(">II", 2049, 100) + bytes(i % 10 for i in range(100)))
    for name, parts, keys in (
        ("cifar10", [*(f"cifar-10-batches-py/data_batch_{i}" for i in range(1, 3)), "cifar-10-batches-py/test_batch"], [b"labels"]),
        ("cifar100", ["cifar-100-python/train", "cifar-100-python/test"], [b"fine_labels", b"coarse_labels"]),
    ):
        with tarfile.open(f"{folder}/{name}.tar.gz", "w:gz") as archive:
            for part in parts:
                batch = {b"data": rng.integers(0, 255, (4, 3072), dtype="uint8"), b"batch_label": b"x", **{key: [1, 0, 3, 2] for key in keys}}
                add(archive, part, pickle.dumps(batch, 2))
            add(archive, parts[0].split("/")[0] + "/readme.html", b"x")
    with tarfile.open(f"{folder}/voc.tar", "w") as archive:
        root = "VOCdevkit/VOC2012/"
        for name, ids in (("train", "a1 a2"), ("val", "a3"), ("trainval", "a1 a2 a3")):
            add(archive, f"{root}ImageSets/Segmentation/{name}.txt", "\n".join(ids.split()).encode() + b"\n")
        for i in ("a1", "a2", "a3"):
            add(archive, f"{root}JPEGImages/{i}.jpg", picture(rng))
            add(archive, f"{root}SegmentationClass/{i}.png", picture(rng, "PNG", "P"))
    for path, mode in (("tree/cat/1.png", "RGB"), ("tree/cat/0.jpg", "RGB"), ("tree/dog/deep/2.png", "L"), ("tree/dog/x.txt", "")):
        os.makedirs(os.path.dirname(f"{folder}/{path}"), exist_ok=True)
        with open(f"{folder}/{path}", "wb") as file:
            file.write(picture(rng, "PNG" if path.endswith("png") else "JPEG", mode) if mode else b"text")


def told(x):
    if isinstance(x, (tuple, list)):
        return [told(part) for part in x]
    if isinstance(x, Image.Image):
        return ["image", x.mode, *x.size, int(np.asarray(x).astype("int64").sum())]
    if isinstance(x, np.ndarray):
        return ["array", str(x.dtype), list(x.shape), float(x.astype("float64").sum())]
    return [type(x).__name__, x if isinstance(x, (int, float, str)) else str(x)]


def read(folder):
    import paddle
    from paddle.vision import datasets

    found = {}
    for backend in ("pil", "cv2"):
        paddle.vision.set_image_backend(backend)
        made = {}
        for mode in ("train", "test"):
            for kind in (datasets.MNIST, datasets.FashionMNIST):
                made[f"{kind.__name__} {mode}"] = lambda mode=mode, kind=kind, backend=backend: kind(
                    f"{folder}/images.gz", f"{folder}/labels.gz", mode, backend=backend)  # fmt: skip
            for kind, file in ((datasets.Cifar10, "cifar10"), (datasets.Cifar100, "cifar100")):
                made[f"{kind.__name__} {mode}"] = lambda mode=mode, kind=kind, file=file: kind(f"{folder}/{file}.tar.gz", mode)
        for mode in ("train", "valid", "test"):
            made[f"VOC2012 {mode}"] = lambda mode=mode: datasets.VOC2012(f"{folder}/voc.tar", mode)
        made["wrong mode"] = lambda: datasets.Cifar10(f"{folder}/cifar10.tar.gz", "valid")
        made["no backend"] = lambda: datasets.Cifar10(f"{folder}/cifar10.tar.gz", backend="x")
        made["no file"] = lambda: datasets.Cifar10(None, download=False)
        if backend == "pil":
            made["DatasetFolder"] = lambda: datasets.DatasetFolder(f"{folder}/tree")
            made["DatasetFolder of png"] = lambda: datasets.DatasetFolder(f"{folder}/tree", extensions=(".png",), transform=lambda x: np.asarray(x))
            made["ImageFolder"] = lambda: datasets.ImageFolder(f"{folder}/tree")
            made["folder of nothing"] = lambda: datasets.DatasetFolder(f"{folder}/tree/dog/deep")
        for name, make_it in made.items():
            try:
                dataset = make_it()
                found[f"{backend} {name}"] = [len(dataset), [told(dataset[i]) for i in range(len(dataset))], [
                    told(getattr(dataset, attribute)) for attribute in ("classes", "mode") if hasattr(dataset, attribute)]]  # fmt: skip
            except Exception as error:
                kinds = [kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins"]
                found[f"{backend} {name}"] = ["error", *kinds, str(error)[-300:]]
    return found


if __name__ == "__main__":
    if sys.argv[1] == "make":
        make(sys.argv[2])
    else:
        print("RESULT", json.dumps(read(sys.argv[2])))
