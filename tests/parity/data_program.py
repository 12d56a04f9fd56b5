"""Samplers, batches and transforms. Run by either framework, it prints `RESULT` and a JSON object; `test_data.py` compares.

    data_program.py
"""
import json
import random
import zlib  # noqa: F401  real Paddle may crash when its own copy is loaded first

import numpy as np
import paddle
import paddle.vision.transforms as T
import paddle.vision.transforms.functional as F
from paddle import io

found = {}


def note(name, function):
    random.seed(5)
    np.random.seed(5)
    found[name] = described(function())


def described(x):
    if isinstance(x, paddle.Tensor):
        return ["tensor", str(x.dtype).rpartition(".")[2], x.shape, x.astype("float32").numpy().ravel().tolist()]
    if isinstance(x, np.ndarray):
        return ["array", str(x.dtype), list(x.shape), x.ravel().tolist()]
    if isinstance(x, dict):
        return {key: described(value) for key, value in x.items()}
    if isinstance(x, (list, tuple)):
        return [type(x).__name__, [described(value) for value in x]]
    return repr(x)


# The order of samples.

note("random", lambda: list(io.RandomSampler(range(10))))
note("with replacement", lambda: list(io.RandomSampler(range(10), True, 25)))
note("weighted", lambda: list(io.WeightedRandomSampler(np.array([1.0, 2.0, 3.0]), 25)))
note("weighted once", lambda: list(io.WeightedRandomSampler(np.array([1.0, 2.0, 3.0, 0.0]), 3, False)))
note("batches", lambda: list(io.BatchSampler(list(range(10)), shuffle=True, batch_size=3)))
note("shuffled by workers", lambda: [b.tolist() for b in io.DataLoader(list(range(10)), batch_size=4, shuffle=True, num_workers=2)])
for count in (1, 5, 11, 12):
    for ranks in (1, 2, 3):
        for rank in range(ranks):
            for shuffle in (False, True):
                for drop in (False, True):
                    sampler = io.DistributedBatchSampler(list(range(count)), 2, ranks, rank, shuffle, drop)
                    note(f"distributed {count} {ranks} {rank} {shuffle} {drop}", lambda s=sampler: [list(s), list(s), len(s)])


# Batches.


class From(io.Dataset):
    def __init__(self, function):
        self.function = function

    def __getitem__(self, index):
        return self.function(index)

    def __len__(self):
        return 5


class Stream(io.IterableDataset):
    def __iter__(self):
        info = io.get_worker_info()
        first = 0 if info is None else info.id * 10
        return iter([(np.full(2, i), i) for i in range(first, first + 3)])


def read_stream(workers, drop):
    batches = []  # not list(loader): real Paddle's has a length that raises
    for batch in io.DataLoader(Stream(), batch_size=2, num_workers=workers, drop_last=drop):
        batches.append(batch)  # noqa: PERF402
    return batches


SAMPLES = {
    "pair": lambda i: (np.full(2, i, "float32"), i),
    "array": lambda i: np.full((2, 2), i, "uint8"),
    "float": lambda i: i / 2,
    "bool": lambda i: i > 2,
    "dict": lambda i: {"a": i, "b": [np.ones(2), 1.0]},
    "tensor": lambda i: paddle.to_tensor([1.0, i]),
    "text": lambda i: (f"text {i}", i),
    "nested": lambda i: ((1, (2.0, "a")), [i]),
    "float16": lambda i: np.ones(2, "float16"),
}
for name, function in SAMPLES.items():
    for workers in (0, 2):
        if name != "tensor" or not workers:  # real Paddle does not give tensors to its workers
            note(f"{name} {workers}", lambda f=function, w=workers: list(io.DataLoader(From(f), batch_size=2, num_workers=w)))
    note(f"{name} dropped", lambda f=function: list(io.DataLoader(From(f), batch_size=2, drop_last=True)))
note("collated", lambda: list(io.DataLoader([1, 2], batch_size=2, collate_fn=lambda b: (np.ones(2), (np.ones(1), 3)))))
note("single", lambda: list(io.DataLoader(From(SAMPLES["pair"]), batch_size=None)))
for workers in (0, 2):
    for drop in (False, True):
        note(f"stream {workers} {drop}", lambda w=workers, d=drop: read_stream(w, d))
note("compose", lambda: io.ComposeDataset([From(lambda i: i), From(lambda i: (i, -i))])[2])
note("chain", lambda: [i for _, i in io.ChainDataset([Stream(), Stream()])])
note("tensors", lambda: io.TensorDataset([paddle.to_tensor([[1.0, 2.0], [3.0, 4.0]]), paddle.to_tensor([5, 6])])[1])


# Transforms of tensors.

rng = np.random.RandomState(0)
image = paddle.to_tensor(rng.rand(3, 7, 9).astype("float32"))
for method in ("nearest", "bilinear", "bicubic", "area"):
    for size in ((5, 6), (14, 20), 4, 12):
        note(f"resize {method} {size}", lambda m=method, s=size: F.resize(image, s, m))
for padding in (1, (1, 2), (1, 2, 3, 4)):
    for mode in ("constant", "edge", "reflect"):
        note(f"pad {padding} {mode}", lambda p=padding, m=mode: F.pad(image, p, 0.5, m))
note("crop", lambda: F.crop(image, 1, 2, 3, 4))
note("center crop", lambda: F.center_crop(image, (3, 4)))
note("hflip", lambda: F.hflip(image))
note("vflip", lambda: F.vflip(image))
for factor in (0, 0.5, 1, 1.7):
    note(f"brightness {factor}", lambda f=factor: F.adjust_brightness(image, f))
    note(f"contrast {factor}", lambda f=factor: F.adjust_contrast(image, f))
for turn in (-0.5, -0.2, 0, 0.1, 0.5):
    note(f"hue {turn}", lambda t=turn: F.adjust_hue(image, t))
for channels in (1, 3):
    note(f"grayscale {channels}", lambda c=channels: F.to_grayscale(image, c))
for angle in (0, 30, 90, -45, 180):
    note(f"rotate {angle}", lambda a=angle: F.rotate(image, a))
note("normalize", lambda: F.normalize(image, [0.5, 0.4, 0.3], [0.1, 0.2, 0.3]))
TRANSFORMS = {
    "Resize": T.Resize(4),
    "RandomResizedCrop": T.RandomResizedCrop(4),
    "RandomResizedCrop narrow": T.RandomResizedCrop((3, 5), scale=(0.5, 0.6), ratio=(1, 2), interpolation="nearest"),
    "CenterCrop": T.CenterCrop(4),
    "RandomHorizontalFlip": T.RandomHorizontalFlip(0.7),
    "RandomVerticalFlip": T.RandomVerticalFlip(0.7),
    "Transpose": T.Transpose((1, 2, 0)),
    "Normalize": T.Normalize(0.5, 0.5),
    "BrightnessTransform": T.BrightnessTransform(0.4),
    "ContrastTransform": T.ContrastTransform(0.4),
    "SaturationTransform": T.SaturationTransform(0.4),
    "HueTransform": T.HueTransform(0.3),
    "ColorJitter": T.ColorJitter(0.4, 0.4, 0.4, 0.4),
    "ColorJitter of one": T.ColorJitter(0.4),
    "RandomCrop": T.RandomCrop(4),
    "RandomCrop padded": T.RandomCrop(8, padding=2),
    "RandomCrop of a small image": T.RandomCrop(12, pad_if_needed=True),
    "Pad": T.Pad(1),
    "RandomRotation": T.RandomRotation(30),
    "Grayscale": T.Grayscale(3),
    "Compose": T.Compose([T.Resize(8), T.RandomCrop(4), T.ToTensor()]),
}
for name, transform in TRANSFORMS.items():
    note(f"class {name}", lambda t=transform: t(image))
bytes_ = rng.randint(0, 256, (7, 9, 3)).astype("uint8")
note("to_tensor", lambda: [F.to_tensor(bytes_), F.to_tensor(bytes_[..., 0]), F.to_tensor(bytes_, "HWC"), F.to_tensor(bytes_ / 255.0)])
note("normalize array", lambda: F.normalize(bytes_, [0.5, 0.4, 0.3], [0.1, 0.2, 0.3], "HWC"))
note("normalize reversed", lambda: F.normalize(bytes_, [0.5, 0.4, 0.3], [0.1, 0.2, 0.3], "HWC", True))

print("RESULT", json.dumps(found))
