"""The cases of data: transforms of images, one image each, beside what torchvision makes of the same steps (Pillow and PyTorch, written here:
its wheels need a PyTorch for CUDA); passes of a DataLoader over JPEG files; and what `Model.fit` adds to a step.

Pillow is needed on both sides. Of an image that is an array already, PyTorch's side makes one of Pillow first.
"""
from __future__ import annotations

import io
import math
import random
from collections.abc import Callable
from typing import Any

import numpy as np
from cases_graph import Case
from PIL import Image, ImageEnhance

MEAN, STD = [0.485, 0.456, 0.406], [0.229, 0.224, 0.225]
FILES, BATCH = 64, 16


def picture() -> Image.Image:
    """375 x 500, as smooth as photographs are, so that its JPEG is of their size."""
    small = np.random.default_rng(0).integers(0, 256, (24, 32, 3), dtype="uint8")
    return Image.fromarray(small).resize((500, 375), Image.Resampling.BICUBIC)


def jpeg() -> bytes:
    file = io.BytesIO()
    picture().save(file, "JPEG", quality=90)
    return file.getvalue()


def opened(data: bytes) -> Image.Image:
    return Image.open(io.BytesIO(data)).convert("RGB")


class Files:
    """A data set of JPEG files that lie in memory."""

    def __init__(self, transform: Callable[[Any], Any]) -> None:
        self.data, self.transform = jpeg(), transform

    def __len__(self) -> int:
        return FILES

    def __getitem__(self, i: int) -> tuple[Any, int]:
        return self.transform(opened(self.data)), i % 10


def make(framework: str) -> dict[str, Case]:
    if framework not in ("wherry", "torch"):
        return {}
    parts = ours() if framework == "wherry" else theirs()
    image, small = picture(), picture().resize((224, 224))
    array, small_array, data = np.array(image), np.array(small), jpeg()
    as_given = parts["from_array"]
    cases: dict[str, Callable[[], object]] = {
        "to_tensor": lambda: parts["to_tensor"](small),
        "to_tensor, normalize": lambda: parts["normal"](small),
        "resize to 256": lambda: parts["resize"](image),
        "jitter": lambda: parts["jitter"](small),
        "evaluation: resize, crop, to_tensor, normalize": lambda: parts["evaluation"](image),
        "training: crop and resize, flip, to_tensor, normalize": lambda: parts["training"](image),
        "training, with jitter": lambda: parts["jittered"](image),
        "array: to_tensor, normalize": lambda: parts["normal"](as_given(small_array)),
        "array: resize to 256": lambda: parts["resize"](as_given(array)),
        "array: jitter": lambda: parts["jitter"](as_given(small_array)),
        "array: evaluation": lambda: parts["evaluation"](as_given(array)),
        "array: training": lambda: parts["training"](as_given(array)),
        "array: training, with jitter": lambda: parts["jittered"](as_given(array)),
        "JPEG: evaluation": lambda: parts["evaluation"](opened(data)),
        "JPEG: training": lambda: parts["training"](opened(data)),
    }
    found = {name: Case(lambda call=call: call) for name, call in cases.items()}
    found[f"DataLoader: {FILES} JPEGs for training, 2 workers"] = Case(lambda: parts["loader"](Files(parts["training"])))
    if framework == "wherry":
        found |= {f"1000 steps of Linear 4 -> 1: by {who}": Case(lambda who=who: stepping(who == "fit")) for who in ("fit", "hand")}
    return found


def ours() -> dict[str, Callable[..., Any]]:
    import wherry
    from wherry.vision import transforms as T

    last = [T.ToTensor(), T.Normalize(MEAN, STD)]
    first = [T.RandomResizedCrop(224), T.RandomHorizontalFlip()]

    def loader(files: Files) -> Callable[[], None]:
        given = wherry.io.DataLoader(files, batch_size=BATCH, num_workers=2, persistent_workers=True)
        return lambda: [None for _ in given]  # type: ignore[return-value]

    return {
        "from_array": lambda array: array, "to_tensor": T.ToTensor(), "normal": T.Compose(last), "resize": T.Resize(256),
        "jitter": T.ColorJitter(0.4, 0.4, 0.4, 0.1), "loader": loader,
        "evaluation": T.Compose([T.Resize(256), T.CenterCrop(224), *last]), "training": T.Compose([*first, *last]),
        "jittered": T.Compose([*first, T.ColorJitter(0.4, 0.4, 0.4, 0.1), *last]),
    }


def theirs() -> dict[str, Callable[..., Any]]:
    import torch

    def to_tensor(image: Image.Image) -> torch.Tensor:
        width, height = image.size
        values = torch.from_numpy(np.array(image)).view(height, width, 3)
        return values.permute(2, 0, 1).contiguous().to(torch.float32).div(255)

    def normal(image: Image.Image) -> torch.Tensor:
        x = to_tensor(image).clone()
        return x.sub_(torch.as_tensor(MEAN)[:, None, None]).div_(torch.as_tensor(STD)[:, None, None])

    def resize(image: Image.Image) -> Image.Image:
        width, height = image.size
        size = (256, int(256 * height / width)) if width < height else (int(256 * width / height), 256)
        return image.resize(size, Image.Resampling.BILINEAR)

    def center(image: Image.Image) -> Image.Image:
        left, top = (image.size[0] - 224) // 2, (image.size[1] - 224) // 2
        return image.crop((left, top, left + 224, top + 224))

    def cropped(image: Image.Image) -> Image.Image:
        width, height = image.size
        for _ in range(10):
            area, ratio = random.uniform(0.08, 1) * width * height, math.exp(random.uniform(math.log(3 / 4), math.log(4 / 3)))
            across, down = round(math.sqrt(area * ratio)), round(math.sqrt(area / ratio))
            if 0 < across <= width and 0 < down <= height:
                left, top = random.randint(0, width - across), random.randint(0, height - down)
                return image.crop((left, top, left + across, top + down)).resize((224, 224), Image.Resampling.BILINEAR)
        return image.resize((224, 224), Image.Resampling.BILINEAR)

    def flipped(image: Image.Image) -> Image.Image:
        return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if random.random() < 0.5 else image

    def hue(image: Image.Image) -> Image.Image:
        bands = image.convert("HSV").split()
        turned = np.array(bands[0], dtype=np.uint8)
        with np.errstate(over="ignore"):
            turned += np.array(random.uniform(-0.1, 0.1) * 255).astype("int32").astype("uint8")
        return Image.merge("HSV", (Image.fromarray(turned), *bands[1:])).convert("RGB")

    def jitter(image: Image.Image) -> Image.Image:
        kinds = ImageEnhance.Brightness, ImageEnhance.Contrast, ImageEnhance.Color
        parts = [lambda x, kind=kind: kind(x).enhance(random.uniform(0.6, 1.4)) for kind in kinds]
        for part in random.sample([*parts, hue], 4):
            image = part(image)
        return image

    def training(image: Image.Image) -> torch.Tensor:
        return normal(flipped(cropped(image)))

    def loader(files: Files) -> Callable[[], None]:
        given = torch.utils.data.DataLoader(files, batch_size=BATCH, num_workers=2, persistent_workers=True)
        return lambda: [None for _ in given]  # type: ignore[return-value]

    return {
        "from_array": Image.fromarray, "to_tensor": to_tensor, "normal": normal, "resize": resize, "jitter": jitter, "loader": loader,
        "evaluation": lambda image: normal(center(resize(image))), "training": training,
        "jittered": lambda image: normal(jitter(flipped(cropped(image)))),
    }


def stepping(by_fit: bool) -> Callable[[], None]:
    """1000 steps of a model so small that they cost what Python costs; by hand, or by `Model.fit` without output."""
    import wherry

    net = wherry.nn.Linear(4, 1)
    optimizer, loss_of = wherry.optimizer.SGD(1e-3, parameters=net.parameters()), wherry.nn.MSELoss()
    batches = [(wherry.ones([8, 4]), wherry.zeros([8, 1]))] * 1000
    if by_fit:
        model = wherry.Model(net)
        model.prepare(optimizer, loss_of)
        return lambda: model.fit(batches, epochs=1, verbose=0)  # type: ignore[return-value]

    def by_hand() -> None:
        for x, y in batches:
            loss = loss_of(net(x), y)
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
            loss.item()

    return by_hand
