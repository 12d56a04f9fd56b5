"""Small data sets in the formats in which the real ones are published, so that a tutorial reads them as it would read those.

Each function writes a file into the folder it is given and returns its path. The handwritten digits are real (scikit-learn's, from the
file of the web pages); everything else is drawn from a fixed seed. NumPy and the standard library are all that is needed.
"""
from __future__ import annotations

import gzip
import io
import pickle
import random
import tarfile
import zipfile
from pathlib import Path

import numpy as np

COUNT = 1797  # handwritten digits
CONTENT = Path(__file__).parents[2] / "web" / "src" / "wherry_web" / "static" / "data" / "digits.bin"


def digits() -> tuple[np.ndarray, np.ndarray]:
    """Handwritten digits: images `[1797, 8, 8]` with values of 0 to 16, and labels `[1797]`, both uint8."""
    found = np.fromfile(CONTENT, np.uint8)  # images, then labels, shuffled
    return found[: COUNT * 64].reshape(COUNT, 8, 8), found[COUNT * 64 :]


def mnist(folder: str, train: int = 1200, test: int = 400) -> dict[str, tuple[str, str]]:
    """Digits of 28 x 28 as MNIST has them: two gzipped files for each mode, images and labels, that begin with their sizes."""
    small, labels = digits()
    images = np.pad(small.repeat(3, axis=1).repeat(3, axis=2) * 15.0, ((0, 0), (2, 2), (2, 2))).astype(np.uint8)
    paths = {}
    for mode, part in (("train", slice(0, train)), ("test", slice(train, train + test))):
        pair = str(Path(folder, f"{mode}-images-idx3-ubyte.gz")), str(Path(folder, f"{mode}-labels-idx1-ubyte.gz"))
        chosen = images[part]
        for path, head, content in zip(pair, ([2051, *chosen.shape], [2049, len(chosen)]), (chosen, labels[part])):
            with gzip.open(path, "wb", compresslevel=1) as file:
                file.write(np.array(head, ">i4").tobytes() + content.tobytes())
        paths[mode] = pair
    return paths


def cifar10(folder: str, train: int = 500, test: int = 100) -> str:
    """Ten kinds of pictures of 32 x 32 as CIFAR-10 has them: an archive of pickled batches. A kind is a shape and a colour."""
    draw = np.random.default_rng(10)
    grid = np.stack(np.mgrid[0:32, 0:32]).astype("float32")

    def picture(kind: int) -> np.ndarray:
        centre, size = draw.uniform(11, 21, 2), draw.uniform(5, 9)
        down, right = grid - centre[:, None, None]
        shape = [
            np.hypot(down, right) < size, np.maximum(abs(down), abs(right)) < size, abs(down) + abs(right) < size,
            abs(down) < size / 3, abs(right) < size / 3,
        ][kind % 5]
        colour = np.array([[220, 80, 40], [40, 110, 220]][kind // 5])
        picture = np.where(shape, colour[:, None, None], draw.integers(60, 200)) + draw.normal(0, 20, (3, 32, 32))
        return picture.clip(0, 255).astype(np.uint8).reshape(-1)

    def batch(count: int) -> bytes:
        labels = draw.integers(0, 10, count)
        return pickle.dumps({b"data": np.stack([picture(kind) for kind in labels]), b"labels": labels.tolist()}, protocol=2)

    members = {f"data_batch_{number}": batch(train // 5) for number in range(1, 6)} | {"test_batch": batch(test)}
    return _archive(folder, "cifar-10-python.tar.gz", {f"cifar-10-batches-py/{name}": content for name, content in members.items()})


_PRAISE, _BLAME = "wonderful moving brilliant funny warm superb".split(), "boring awful clumsy dull weak tedious".split()
_NEUTRAL = "the a film movie plot was is with of and scene actor story i saw this very it in".split()


def imdb(folder: str, train: int = 200, test: int = 60) -> str:
    """Film reviews as IMDB's are published: an archive with a text for each review in folders `pos` and `neg`."""
    draw, members = random.Random(2), {}
    for part, count in (("train", train), ("test", test)):
        for kind, words in (("neg", _BLAME), ("pos", _PRAISE)):
            for number in range(count // 2):
                text = [draw.choice(words if draw.random() < 0.2 else _NEUTRAL) for _ in range(draw.randint(20, 50))]
                members[f"aclImdb/{part}/{kind}/{number}_{9 if kind == 'pos' else 2}.txt"] = (" ".join(text) + ".").encode()
    return _archive(folder, "aclImdb_v1.tar.gz", members)


def word_vectors(folder: str, width: int = 16) -> str:
    """Vectors of words as GloVe's are published: a word and its numbers in each line. Words of one mood lie near each other."""
    draw = np.random.default_rng(7)
    mood = draw.normal(0, 1, width)
    path = Path(folder, f"glove.small.{width}d.txt")
    with path.open("w") as file:
        for words, sign in ((_PRAISE, 1.0), (_BLAME, -1.0), (_NEUTRAL, 0.0)):
            for word in words:
                file.write(" ".join([word, *(f"{value:.5f}" for value in sign * mood + draw.normal(0, 0.5, width))]) + "\n")
    return str(path)


def penn_treebank(folder: str, lines: int = 120) -> str:
    """Sentences as Mikolov's archive of the Penn Treebank has them, of a grammar of a few words."""
    draw = random.Random(3)
    nouns, verbs, adjectives = "bank share company market price investor".split(), "buys sells watches likes".split(), "new big old".split()

    def thing() -> str:
        return " ".join(["the", *([draw.choice(adjectives)] if draw.random() < 0.5 else []), draw.choice(nouns)])

    parts = {part: "".join(f" {thing()} {draw.choice(verbs)} {thing()} \n" for _ in range(lines)) for part in ("train", "valid", "test")}
    return _archive(folder, "simple-examples.tgz", {f"./simple-examples/data/ptb.{part}.txt": text.encode() for part, text in parts.items()})


def phrases(folder: str, count: int = 240) -> str:
    """English phrases and German ones, as the Tatoeba project publishes pairs: a pair in each line, divided by tabs."""
    draw = random.Random(5)
    people = [("i", "ich", 0), ("you", "du", 1), ("he", "er", 2), ("she", "sie", 2)]
    verbs = [
        ("see", "sees", ("sehe", "siehst", "sieht")), ("buy", "buys", ("kaufe", "kaufst", "kauft")), ("love", "loves", ("liebe", "liebst", "liebt")),
    ]
    things = [("dog", "den hund"), ("cat", "die katze"), ("house", "das haus"), ("bread", "das brot"), ("car", "das auto")]
    lines = []
    for _ in range(count):
        (person, wer, number), (verb, third, forms), (thing, was) = draw.choice(people), draw.choice(verbs), draw.choice(things)
        ending = draw.choice([("", ""), (" today", " heute")])
        lines.append(f"{person} {third if number == 2 else verb} the {thing}{ending[0]}\t{wer} {forms[number]} {was}{ending[1]}\tdrawn\n")
    path = Path(folder, "deu.txt")
    path.write_text("".join(lines), encoding="utf-8")
    return str(path)


def movielens(folder: str, users: int = 60, films: int = 40, ratings: int = 1500) -> str:
    """Ratings of films as MovieLens 1M has them. Each user likes some genres and dislikes others, so there is something to learn."""
    draw = random.Random(4)
    genres = ["Action", "Comedy", "Drama", "Romance", "War"]
    likes = {user: {genre: draw.choice([-1.5, 0.0, 1.5]) for genre in genres} for user in range(1, users + 1)}
    kinds = {film: draw.sample(genres, draw.randint(1, 2)) for film in range(1, films + 1)}
    lines = []
    for number in range(ratings):
        user, film = draw.randint(1, users), draw.randint(1, films)
        opinion = 3 + sum(likes[user][genre] for genre in kinds[film]) + draw.gauss(0, 0.4)
        lines.append(f"{user}::{film}::{min(5, max(1, round(opinion)))}::{978300000 + number}\n")
    path = Path(folder, "ml-1m.zip")
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("ml-1m/movies.dat", "".join(f"{film}::Film {film} ({1950 + film})::{'|'.join(kind)}\n" for film, kind in kinds.items()))
        archive.writestr("ml-1m/users.dat", "".join(
            f"{user}::{draw.choice('FM')}::{draw.choice([1, 18, 25, 35])}::{draw.randint(0, 20)}::48067\n" for user in likes))
        archive.writestr("ml-1m/ratings.dat", "".join(lines))
    return str(path)


def housing(folder: str, rows: int = 300) -> str:
    """Houses as UCI's Boston file has them: 13 numbers and a price in each line. The price is linear in the numbers, with noise."""
    draw = np.random.default_rng(1)
    features = draw.uniform(0, 10, (rows, 13))
    prices = features @ np.linspace(-1.2, 1.5, 13) + 22 + draw.normal(0, 1, rows)
    path = Path(folder, "housing.data")
    np.savetxt(path, np.concatenate([features, prices[:, None]], axis=1), fmt="%8.4f")
    return str(path)


def segmentation(folder: str, count: int = 64, size: int = 32) -> str:
    """Pictures and what each pixel belongs to (0 background, 1 border, 2 animal), arrays in a folder for each, with equal names."""
    draw = np.random.default_rng(6)
    for part in ("images", "masks"):
        Path(folder, part).mkdir()
    down, right = np.mgrid[0:size, 0:size]
    for number in range(count):
        centre, axes = draw.uniform(size * 0.35, size * 0.65, 2), draw.uniform(size * 0.15, size * 0.3, 2)
        distance = np.hypot((down - centre[0]) / axes[0], (right - centre[1]) / axes[1])
        mask = np.where(distance < 0.8, 2, np.where(distance < 1.15, 1, 0))
        colours = draw.uniform(0, 255, (2, 3))
        image = colours[(distance < 1).astype(int)] + draw.normal(0, 15, (size, size, 3))
        np.save(Path(folder, "images", f"{number:03d}.npy"), image.clip(0, 255).astype(np.uint8))
        np.save(Path(folder, "masks", f"{number:03d}.npy"), mask.astype(np.uint8))
    return folder


def faces(folder: str, count: int = 120, size: int = 32) -> str:
    """Faces with the places of two eyes and a mouth, as Kaggle's competition has them: a CSV with pixels in one column."""
    draw = np.random.default_rng(8)
    down, right = np.mgrid[0:size, 0:size]
    lines = ["left_eye_x,left_eye_y,right_eye_x,right_eye_y,mouth_x,mouth_y,Image"]
    for _ in range(count):
        x, y = draw.uniform(size * 0.4, size * 0.6, 2)
        points = np.array([[x - size * 0.15, y - size * 0.12], [x + size * 0.15, y - size * 0.12], [x, y + size * 0.18]])
        points += draw.normal(0, 0.5, (3, 2))
        image = np.where(np.hypot(right - x, down - y) < size * 0.38, 190.0, 60.0)
        for at in points:
            image -= 140 * np.exp(-((right - at[0]) ** 2 + (down - at[1]) ** 2) / 4)
        pixels = " ".join(str(int(value)) for value in (image + draw.normal(0, 8, image.shape)).clip(0, 255).reshape(-1))
        lines.append(",".join([*(f"{value:.4f}" for value in points.reshape(-1)), pixels]))
    path = Path(folder, "training.csv")
    path.write_text("\n".join(lines) + "\n")
    return str(path)


def meshes(folder: str, each: int = 24) -> str:
    """Solids as ModelNet has them: folders `kind/train` and `kind/test` of OFF files, corners and then faces."""
    draw = np.random.default_rng(9)
    angles = np.linspace(0, 2 * np.pi, 25)[:-1]
    circle = np.stack([np.cos(angles), np.sin(angles)], axis=1)
    level = np.ones((24, 1))
    solids = {
        "box": np.array([[a, b, c] for a in (-1, 1) for b in (-1, 1) for c in (-1, 1)], float),
        "cone": np.concatenate([np.concatenate([circle, -level], axis=1), [[0.0, 0.0, 1.0]]]),
        "cylinder": np.concatenate([np.concatenate([circle, -level], axis=1), np.concatenate([circle, level], axis=1)]),
        "pyramid": np.array([[-1, -1, -1], [-1, 1, -1], [1, 1, -1], [1, -1, -1], [0, 0, 1.0]]),
    }
    faces = {
        "box": [(0, 1, 3), (0, 3, 2), (4, 7, 5), (4, 6, 7), (0, 5, 1), (0, 4, 5), (2, 3, 7), (2, 7, 6), (0, 2, 6), (0, 6, 4), (1, 7, 3), (1, 5, 7)],
        "cone": [(i, (i + 1) % 24, 24) for i in range(24)] + [(0, i, i + 1) for i in range(1, 23)],
        "cylinder": [face for i in range(24) for face in ((i, (i + 1) % 24, 24 + i), ((i + 1) % 24, 24 + (i + 1) % 24, 24 + i))],
        "pyramid": [(0, 1, 4), (1, 2, 4), (2, 3, 4), (3, 0, 4), (0, 2, 1), (0, 3, 2)],
    }
    for kind, corners in solids.items():
        for part, count in (("train", each), ("test", each // 4)):
            target = Path(folder, kind, part)
            target.mkdir(parents=True)
            for number in range(count):
                points = corners * draw.uniform(0.6, 1.4, 3)
                lines = ["OFF", f"{len(points)} {len(faces[kind])} 0", *(" ".join(f"{value:.5f}" for value in point) for point in points)]
                lines += ["3 " + " ".join(map(str, face)) for face in faces[kind]]
                (target / f"{kind}_{number:04d}.off").write_text("\n".join(lines) + "\n")
    return folder


def temperatures(folder: str, days: int = 20, failing: bool = False) -> str:
    """Readings of a machine as the Numenta benchmark has them: a CSV of times and values. One that is `failing` does so for an hour or two."""
    draw = np.random.default_rng(11 + failing)
    steps = np.arange(days * 24)
    values = 20 + 6 * np.sin(2 * np.pi * steps / 24) + draw.normal(0, 0.4, len(steps))
    if failing:
        values[200:212] += 12
    path = Path(folder, "failing.csv" if failing else "healthy.csv")
    path.write_text("timestamp,value\n" + "".join(
        f"2014-04-{1 + step // 24:02d} {step % 24:02d}:00:00,{value:.6f}\n" for step, value in zip(steps, values)))
    return str(path)


def _archive(folder: str, name: str, members: dict[str, bytes]) -> str:
    path = Path(folder, name)
    with tarfile.open(path, "w:gz", compresslevel=1) as archive:
        for member, content in members.items():
            about = tarfile.TarInfo(member)
            about.size = len(content)
            archive.addfile(about, io.BytesIO(content))
    return str(path)
