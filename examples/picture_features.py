"""Train the backbone of the page "Image classifier by example", and measure how good its features are.

    npm pack emoji-datasource-google@16.0.0 emoji-datasource-twitter@16.0.0
    pip install pillow scikit-image scikit-learn
    python examples/picture_features.py --packages . --out web/src/wherry_web/static/data/backbone.bin

What it learns from, all of it brought by packages: 1300 emoji, each drawn twice (Noto Emoji, Apache 2.0; Twemoji, CC BY 4.0, in the npm
packages above), and the photographs in scikit-image and scikit-learn. A network has to say which of a thousand things it sees, or
which part of which photograph: a thing comes in either drawing, turned, sheared, lit and coloured otherwise each time, before another
piece of a photograph. What helps with that helps to tell other things apart, too; how much is measured with every fifth emoji and with
photographs that it never saw.
"""
from __future__ import annotations

import argparse
import importlib.util
import io
import json
import sys
import tarfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

import wherry as paddle
import wherry.nn.functional as F
from wherry_web.client.backbone import FEATURES, Backbone, folded, packed, unpacked

SIDE = 64  # what is drawn has no more detail; pages give larger pictures
VENDORS = ("google", "twitter")
PHOTOS = {  # to learn from
    "skimage/data": ("astronaut.png", "grass.png", "hubble_deep_field.jpg", "ihc.png", "motorcycle_left.png", "retina.jpg", "rocket.jpg",
                     "camera.png", "cell.png"),
    "sklearn/datasets/images": ("china.jpg",),
}
UNSEEN_PHOTOS = {
    "skimage/data": ("chelsea.png", "coffee.png", "brick.png", "gravel.png", "coins.png", "moon.png", "page.png"),
    "sklearn/datasets/images": ("flower.jpg",),
}
GRID = 3  # each photograph is cut into this many parts each way: they are classes
BATCH = 64
SHARE_OF_PHOTOS = 0.2  # of a batch
RATE = 0.004
EPISODES = 60


class Thing:
    """An emoji: its pictures by vendor, and what kind of thing it is."""

    def __init__(self, kind: str, pictures: list[Image.Image]) -> None:
        self.kind, self.pictures = kind, pictures


def things(packages: Path) -> list[Thing]:
    """Every emoji that all packages draw, without flags and combinations (of people, skins and genders)."""
    drawn = [drawings(next(packages.glob(f"emoji-datasource-{vendor}-*.tgz")), vendor) for vendor in VENDORS]
    return [
        Thing(entry["subcategory"], [pictures[entry["image"]] for pictures, _ in drawn])
        for entry in drawn[0][1]
        if entry["category"] not in ("Flags", "Component") and "200D" not in entry["unified"]
        and all(entry["image"] in pictures for pictures, _ in drawn)
    ]


def drawings(package: Path, vendor: str) -> tuple[dict[str, Image.Image], list[dict[str, Any]]]:
    """The pictures of a package, 64 x 64, by name; and what it says of each emoji."""
    pictures, entries = {}, []
    with tarfile.open(package) as archive:
        for member in archive:
            if member.name == "package/emoji.json":
                entries = json.load(archive.extractfile(member))
            elif f"/img/{vendor}/64/" in member.name:
                pictures[Path(member.name).name] = Image.open(io.BytesIO(archive.extractfile(member).read())).convert("RGBA")
    return pictures, entries


def photos(names: dict[str, tuple[str, ...]]) -> list[Image.Image]:
    """Photographs of installed packages, at most 400 pixels wide or high."""
    found = []
    for folder, files in names.items():
        package, *below = folder.split("/")
        root = Path(importlib.util.find_spec(package).origin).parent.joinpath(*below)
        for file in files:
            picture = Image.open(root / file).convert("RGB")
            picture.thumbnail((400, 400), Image.Resampling.BOX)
            found.append(picture)
    return found


class Views:
    """Pictures of things and of parts of photographs, another one each time.

    Args:
        backgrounds: photographs to put behind things.
        seed: of all chances.
    """

    def __init__(self, backgrounds: list[Image.Image], seed: int) -> None:
        self.backgrounds = backgrounds
        self.random = np.random.default_rng(seed)

    def thing(self, picture: Image.Image) -> np.ndarray:
        """A drawing before something else: turned, sheared, moved, larger or smaller."""
        r = self.random
        angle, scale = r.normal(0, 0.25), np.exp(r.uniform(np.log(0.6), np.log(1.25)))
        turn = np.array([[np.cos(angle), -np.sin(angle)], [np.sin(angle), np.cos(angle)]]) @ (np.eye(2) + r.normal(0, 0.08, (2, 2)))
        if r.random() < 0.5:
            turn[:, 0] *= -1
        turn = turn * (picture.width / SIDE) / scale
        centre = picture.width / 2 - turn @ (np.full(2, SIDE / 2) + r.uniform(-1, 1, 2) * 0.2 * SIDE)
        moved = picture.transform((SIDE, SIDE), Image.Transform.AFFINE, (*turn[0], centre[0], *turn[1], centre[1]), Image.Resampling.BILINEAR)
        behind = self.part(self.backgrounds[r.integers(len(self.backgrounds))], 0.1, 0.6) if r.random() < 0.6 else self.plain()
        behind.paste(moved, mask=moved)
        return self.lit(behind)

    def part(self, photo: Image.Image, least: float, most: float, inside: tuple[float, float, float, float] = (0, 0, 1, 1)) -> Image.Image:
        """A square piece of the part `inside` a photograph: between `least` and `most` of its smaller side."""
        r = self.random
        left, top, right, bottom = (share * size for share, size in zip(inside, photo.size * 2))
        side = min(right - left, bottom - top) * r.uniform(least, most)
        x, y = r.uniform(left, right - side), r.uniform(top, bottom - side)
        piece = photo.resize((SIDE, SIDE), Image.Resampling.BILINEAR, (x, y, x + side, y + side), reducing_gap=1.0)
        return piece.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if r.random() < 0.5 else piece

    def plain(self) -> Image.Image:
        """One colour that turns into another."""
        corners = self.random.uniform(0, 255, (1, 1, 3)) + self.random.normal(0, 30, (2, 2, 3))
        return Image.fromarray(corners.clip(0, 255).astype(np.uint8)).resize((SIDE, SIDE), Image.Resampling.BILINEAR)

    def lit(self, picture: Image.Image) -> np.ndarray:
        """As a camera may have seen it: uint8 `[3, SIDE, SIDE]` under another light, at times blurred and noisy."""
        r = self.random
        if r.random() < 0.3:
            small = int(SIDE * r.uniform(0.35, 0.8))
            picture = picture.resize((small, small), Image.Resampling.BILINEAR).resize((SIDE, SIDE), Image.Resampling.BILINEAR)
        values = np.asarray(picture, np.float32) / 255
        grey = values.mean(2, keepdims=True)
        values = grey + (values - grey) * r.uniform(0.5, 1.4)
        values = values * np.exp(r.normal(0, 0.12, 3) + r.normal(0, 0.25)) + r.normal(0, 0.06)
        if r.random() < 0.3:
            values = values + r.normal(0, r.uniform(0, 0.08), values.shape)
        return (values.clip(0, 1) * 255).astype(np.uint8).transpose(2, 0, 1)


def scaled(pictures: np.ndarray) -> paddle.Tensor:
    return paddle.to_tensor(pictures.astype(np.float32) / 127.5 - 1)


def cells() -> list[tuple[float, float, float, float]]:
    steps = np.arange(GRID) / GRID
    return [(x, y, x + 1 / GRID, y + 1 / GRID) for y in steps for x in steps]


def train(learned: list[Thing], photographs: list[Image.Image], steps: int) -> Backbone:
    """A backbone that tells the things and the parts of photographs from each other."""
    paddle.seed(0)
    views = Views(photographs, seed=0)
    parts = [(photo, cell) for photo in photographs for cell in cells()]
    net, head = Backbone(folded=False), paddle.nn.Linear(FEATURES, len(learned) + len(parts))
    warm = min(100, steps // 10 + 1)
    cosine = paddle.optimizer.lr.CosineAnnealingDecay(RATE, steps - warm)
    rate = paddle.optimizer.lr.LinearWarmup(cosine, warm, 0.0, RATE)
    optimizer = paddle.optimizer.AdamW(rate, parameters=net.parameters() + head.parameters(), weight_decay=0.02)
    started, mean, right = time.perf_counter(), None, 0.0
    for step in range(steps):
        pictures, labels = [], []
        for _ in range(BATCH):
            if views.random.random() < SHARE_OF_PHOTOS:
                label = views.random.integers(len(parts))
                pictures.append(views.lit(views.part(parts[label][0], 0.4, 1, parts[label][1])))
                labels.append(len(learned) + label)
            else:
                label = views.random.integers(len(learned))
                pictures.append(views.thing(learned[label].pictures[views.random.integers(len(VENDORS))]))
                labels.append(label)
        scores = head(net(scaled(np.stack(pictures))))
        wanted = F.label_smooth(F.one_hot(paddle.to_tensor(labels), scores.shape[1]), epsilon=0.1)
        loss = F.cross_entropy(scores, wanted, soft_label=True)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        rate.step()
        value, share = float(loss), float((scores.numpy().argmax(1) == labels).mean())
        mean, right = (value, share) if mean is None else (0.98 * mean + 0.02 * value, 0.98 * right + 0.02 * share)
        if step % 50 == 49 or step + 1 == steps:
            print(f"step {step + 1:5d} of {steps}, {time.perf_counter() - started:4.0f} s: loss {mean:.3f}, {right:.1%} right", flush=True)
    net.eval()
    return net


# How good the features are: episodes of a few pictures of five classes, none of which was learned from.

def tasks(unseen: list[Thing], photographs: list[Image.Image]) -> dict[str, Callable]:
    """Name of each task -> a function of (views, count) that gives for five classes `count` pictures to learn from and 10 to be asked."""
    from sklearn.datasets import load_digits

    digits = load_digits()
    by_kind: dict[str, list[Thing]] = {}
    for thing in unseen:
        by_kind.setdefault(thing.kind, []).append(thing)
    wide = [kind for kind, members in by_kind.items() if len(members) >= 4]

    def chosen(views, items):
        return [items[i] for i in views.random.choice(len(items), 5, replace=False)]

    def same(views, n):
        return [[views.thing(t.pictures[views.random.integers(2)]) for _ in range(n + 10)] for t in chosen(views, unseen)]

    def other_drawing(views, n):
        return [[views.thing(t.pictures[i >= n]) for i in range(n + 10)] for t in chosen(views, unseen)]

    def other_thing(views, n):
        found = []
        for kind in chosen(views, wide):
            order = views.random.permutation(len(by_kind[kind]))
            learn, ask = order[: len(order) // 2], order[len(order) // 2 :]
            which = [views.random.choice(learn if i < n else ask) for i in range(n + 10)]
            found.append([views.thing(by_kind[kind][i].pictures[views.random.integers(2)]) for i in which])
        return found

    def other_half(views, n):
        halves = ((0, 0, 0.5, 1), (0.5, 0, 1, 1))
        return [[views.lit(views.part(p, 0.3, 0.8, halves[i >= n])) for i in range(n + 10)] for p in chosen(views, photographs)]

    def digit(views, n):
        found = []
        for label in chosen(views, list(range(10))):
            which = views.random.choice(np.flatnonzero(digits.target == label), n + 10, replace=False)
            grey = [Image.fromarray((255 - digits.images[i] / 16 * 255).astype(np.uint8)).resize((SIDE, SIDE)) for i in which]
            found.append([np.repeat(np.asarray(g)[None], 3, 0) for g in grey])
        return found

    return {
        "the same emoji, another view": same, "the same emoji, the other drawing": other_drawing, "another emoji of the kind": other_thing,
        "the other half of a photograph": other_half, "handwritten digits": digit,
    }


def measure(backbones: dict[str, Backbone], unseen: list[Thing], photographs: list[Image.Image], shots: int, side: int) -> None:
    """Print the accuracy of a linear classifier on features, five classes, means over episodes."""
    from sklearn.linear_model import LogisticRegression

    def pixels(pictures: np.ndarray) -> np.ndarray:
        return pictures.reshape(len(pictures), 3, 16, SIDE // 16, 16, SIDE // 16).mean((3, 5)).reshape(len(pictures), -1) / 127.5 - 1

    def features_of(backbone: Backbone) -> Callable[[np.ndarray], np.ndarray]:
        def run(pictures: np.ndarray) -> np.ndarray:
            x = F.interpolate(scaled(pictures), size=[side, side], mode="bilinear") if side != SIDE else scaled(pictures)
            with paddle.no_grad():
                return backbone(x).numpy()
        return run

    ways = {"pixels": pixels, **{name: features_of(backbone) for name, backbone in backbones.items()}}
    print(f"accuracy of a linear classifier, 5 classes, {shots} pictures of each, {EPISODES} episodes:")
    for task, episode in tasks(unseen, photographs).items():
        views = Views(photographs, seed=1)  # backgrounds that nothing was learned with
        right: dict[str, list[float]] = {name: [] for name in ways}
        for _ in range(EPISODES):
            pictures = np.array(episode(views, shots))
            labels = np.arange(5)
            for name, way in ways.items():
                found = way(pictures.reshape(-1, *pictures.shape[2:])).reshape(5, shots + 10, -1)
                found = found / (np.linalg.norm(found, axis=2, keepdims=True) + 1e-6)
                model = LogisticRegression(C=30, max_iter=200).fit(found[:, :shots].reshape(5 * shots, -1), labels.repeat(shots))
                right[name].append(model.score(found[:, shots:].reshape(50, -1), labels.repeat(10)))
        said = ", ".join(f"{name} {np.mean(values):.1%} ± {1.96 * np.std(values) / len(values) ** 0.5:.1%}" for name, values in right.items())
        print(f"  {task}: {said}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Train the backbone of the page 'Image classifier by example'.")
    parser.add_argument("--packages", type=Path, default=Path(), help="where the two npm packages are (default: here)")
    parser.add_argument("--out", type=Path, default=Path("backbone.pdparams"), help="what to write, a .pdparams file (default: backbone.pdparams)")
    parser.add_argument("--steps", type=int, default=2200, help="batches of 64 (default: 2200)")
    parser.add_argument("--shots", type=int, default=5, help="pictures of each class in the measurement (default: 5)")
    parser.add_argument("--side", type=int, default=SIDE, help="pixels of a picture in the measurement (default: as trained)")
    parser.add_argument("--measure", action="store_true", help="measure the features of the file --out, and train nothing")
    options = parser.parse_args()

    everything = things(options.packages)
    learned, unseen = [t for i, t in enumerate(everything) if i % 5], everything[::5]
    seen, photographs = photos(PHOTOS), photos(UNSEEN_PHOTOS)
    print(f"{len(learned)} emoji and {len(seen)} photographs to learn from, {len(unseen)} and {len(photographs)} to measure with")
    paddle.seed(0)
    random = Backbone(folded=False)
    random.eval()
    if not options.measure:
        options.out.write_bytes(packed(folded(train(learned, seen, options.steps))))
        print(f"{options.out}: {options.out.stat().st_size / 1e3:.0f} kB")
    measure({"random weights": random, "trained": unpacked(options.out.read_bytes())}, unseen, photographs, options.shots, options.side)
    return 0


if __name__ == "__main__":
    sys.exit(main())
