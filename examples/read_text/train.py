"""Learn to read: train the detector and the recogniser on pictures of text, measure them, export each for the page "Read text".

    pip install pillow babel brotli
    python examples/read_text/train.py [--models build/models] [--steps 8000] [--only detector|recogniser]

Weights that were trained so are in examples/data, and export.py exports those in seconds. Each picture is seen once; a second
process draws them. The number to watch is the share of characters that are read wrongly, in fonts that nothing was learned from:
insertions, deletions and changes that make what was read what stands there, over the characters that stand there. A run that is
stopped goes on where it was; a later one goes on with the weights that are there.
"""
import argparse
import concurrent.futures
import functools
import multiprocessing
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import wherry as paddle
from wherry import nn
from wherry.nn import functional as F

sys.path.insert(0, str(Path(__file__).parent))
import export
import text
from export import DETECTOR, RECOGNISER
from network import Detector, Recogniser
from reading import read

LINES, PAGES = 16, 2  # of a step
CHUNK = 6  # steps whose pictures are drawn together: lines of like widths
KEPT = 20  # times in a run the state is written
MEASURED = 2000  # lines
ALIGNED = 0.4  # of the training it is said where each character stands, then only which ones follow each other
BLANK = 0.2  # what a column without a character counts meanwhile
UNSAID = -100  # of a column beside a character's middle: its class or none, as it likes
FALLS = 0.5  # of the training the rate stays, then it falls to nothing


def main() -> int:
    parser = argparse.ArgumentParser(description="Train and export what the page Read text reads with.")
    parser.add_argument("--models", type=Path, default=Path("build/models"), help="folder of the demo's models (default: build/models)")
    parser.add_argument("--steps", type=int, default=8000, help=f"of {LINES} lines; the detector takes an eighth of them (default: 8000)")
    parser.add_argument("--only", choices=("detector", "recogniser"), help="one of them alone")
    parser.add_argument("--fresh", action="store_true", help="do not go on with the weights that are there")
    options = parser.parse_args()

    options.models.mkdir(parents=True, exist_ok=True)
    learned, unseen = text.fonts(text.LEARNED), text.fonts(text.HELD_OUT)
    print(f"{len(learned)} fonts to learn from, {len(unseen)} to measure with, {len(text.ALPHABET)} characters", flush=True)
    for name, task in (("detector", detector), ("recogniser", recogniser)):
        if options.only in (None, name):
            task(options.models, learned, unseen, options.steps, options.fresh)
    return 0


def recogniser(models: Path, learned: list[Path], unseen: list[Path], steps: int, fresh: bool) -> None:
    """Train, measure and export the recogniser."""
    paddle.seed(0)
    net = Recogniser(len(text.ALPHABET) + 1)
    weights = models / f"{RECOGNISER}.pdparams"
    going_on = restore(net, weights, fresh)
    weight = paddle.to_tensor(np.array([BLANK] + [1.0] * len(text.ALPHABET), "float32"))

    def loss(batch: tuple[np.ndarray, list[text.Line]], share: float) -> paddle.Tensor:
        pictures, lines = batch
        scores = net(paddle.to_tensor(pictures))
        if share < ALIGNED and not going_on:
            return F.cross_entropy(scores, paddle.to_tensor(columns(lines, scores.shape[1])), weight=weight, ignore_index=UNSAID)
        longest = max(len(one.text) for one in lines)
        labels = np.array([[text.CLASS[c] for c in one.text] + [0] * (longest - len(one.text)) for one in lines], "int32")
        lengths = paddle.to_tensor(np.array([len(one.text) for one in lines], "int64"))
        times = paddle.full([LINES], scores.shape[1], "int64")
        return F.ctc_loss(paddle.transpose(scores, [1, 0, 2]), paddle.to_tensor(labels), times, lengths)

    def look(random: np.random.Generator) -> str:
        return f"character error {character_error(net, unseen, 64, random):.1%}"

    learn(net, functools.partial(text.lines, files=learned, count=LINES, batches=CHUNK), loss, look, steps, 0.003, weights, going_on)
    random = np.random.default_rng(1)
    error, familiar = (character_error(net, files, MEASURED, random) for files in (unseen, learned))
    print(f"recogniser: {error:.1%} of the characters wrong in fonts it never saw, {familiar:.1%} in those it learned from")
    export.keep(net, weights, alphabet=text.ALPHABET, character_error=round(error, 4), lines=MEASURED,
                fonts=sorted({path.stem.split("-")[0] for path in unseen}))
    print(export.exported(RECOGNISER, models, models))


def detector(models: Path, learned: list[Path], unseen: list[Path], steps: int, fresh: bool) -> None:
    """Train, measure and export the detector."""
    paddle.seed(0)
    net = Detector()
    weights = models / f"{DETECTOR}.pdparams"
    going_on = restore(net, weights, fresh)

    def loss(batch: tuple[np.ndarray, np.ndarray], share: float) -> paddle.Tensor:
        pictures, maps = batch
        return binarization_loss(net(paddle.to_tensor(pictures)), maps)

    def look(random: np.random.Generator) -> str:
        return f"overlap {overlap(net, unseen, 8, random):.1%}"

    learn(net, functools.partial(text.pages, files=learned, count=PAGES, batches=CHUNK), loss, look, steps // 8, 0.004, weights, going_on)
    found = overlap(net, unseen, 40, np.random.default_rng(1))
    print(f"detector: the middles of lines that it finds and those that are there cover each other to {found:.1%}")
    export.keep(net, weights, overlap=round(found, 4))
    print(export.exported(DETECTOR, models, models))


def learn(
    net: nn.Layer, draw: Callable[[np.random.Generator], list], loss_of: Callable[[Any, float], paddle.Tensor],
    look: Callable[[np.random.Generator], str], steps: int, rate: float, weights: Path, going_on: bool,
) -> None:
    """Take steps, writing the state now and then; a run of as many steps that was stopped goes on. At the end the weights are in `weights`."""
    optimizer = paddle.optimizer.AdamW(rate, parameters=net.parameters(), weight_decay=0.01, grad_clip=nn.ClipGradByGlobalNorm(5.0))
    state, first = weights.with_suffix(".state"), 0
    if state.exists() and (known := paddle.load(str(state)))["steps"] == steps:
        net.set_state_dict(known["net"])
        optimizer.set_state_dict(known["optimizer"])
        first, going_on = known["step"], known["going_on"]
        print(f"{state}: goes on after {first} of {steps} steps", flush=True)
    recent: list[float] = []
    seed = int(going_on) * time.time_ns()
    for step, batch in enumerate(ahead(draw, seed, first, steps), first):
        share = step / steps
        optimizer.set_lr(rate * min(1, (step + 1) / 100) * min(1, 0.5 * (1 + np.cos(np.pi * max(0.0, (share - FALLS) / (1 - FALLS))))) + 1e-5)
        net.train()
        loss = loss_of(batch, share)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        recent.append(float(loss))
        if (step + 1) * KEPT // steps > step * KEPT // steps:
            print(f"{share:4.0%}  step {step + 1:5d}  loss {np.mean(recent):.3f}  {look(np.random.default_rng(1))}", flush=True)
            recent = []
            known = {"net": net.state_dict(), "optimizer": optimizer.state_dict(), "step": step + 1, "steps": steps, "going_on": going_on}
            paddle.save(known, str(state))
    net.set_state_dict({key: value.astype("float16").astype("float32") for key, value in net.state_dict().items()})  # as they are kept
    paddle.save(net.state_dict(), str(weights))
    state.unlink(missing_ok=True)


def ahead(draw: Callable[[np.random.Generator], list], seed: int, first: int, steps: int) -> Iterator[Any]:
    """What `draw` makes, one batch for each step; a process beside this one draws the next ones meanwhile."""
    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context("spawn")) as pool:
        chunks = [pool.submit(draw, np.random.default_rng([seed, at])) for at in (first, first + CHUNK)]
        for at in range(first, steps, CHUNK):
            yield from chunks.pop(0).result()[: steps - at]
            chunks.append(pool.submit(draw, np.random.default_rng([seed, at + 2 * CHUNK])))
        pool.shutdown(cancel_futures=True)


def binarization_loss(maps: paddle.Tensor, truth: np.ndarray) -> paddle.Tensor:
    """Of probability (the hardest pixels without text count, three for each with it), threshold, and both together."""
    probability, threshold, binary = maps[:, 0], maps[:, 1], maps[:, 2]
    middle = paddle.to_tensor(truth[:, 0])
    each = F.binary_cross_entropy(probability, middle, reduction="none")
    losses, inside = each.numpy(), truth[:, 0] > 0.5
    wanted = min(int(3 * inside.sum()) + 100, int((~inside).sum()))
    hardest = np.partition(losses[~inside], -wanted)[-wanted]
    counts = paddle.to_tensor((inside | (losses >= hardest)).astype("float32"))
    crossed = (each * counts).sum() / counts.sum()
    near = paddle.to_tensor(truth[:, 2])
    apart = (paddle.abs(threshold - paddle.to_tensor(truth[:, 1])) * near).sum() / (near.sum() + 1e-6)
    dice = 1 - 2 * (binary * middle * counts).sum() / ((binary * counts).sum() + (middle * counts).sum() + 1e-6)
    return 5 * crossed + 10 * apart + dice


@paddle.no_grad()
def character_error(net: nn.Layer, files: list[Path], count: int, random: np.random.Generator) -> float:
    """The share of characters in `count` new lines that are read wrongly."""
    net.eval()
    wrong = written = 0
    for pictures, lines in text.lines(random, files, LINES, batches=count // LINES):
        for guess, one in zip(read(net, pictures, text.ALPHABET), lines):
            wrong += distance(guess, one.text)
            written += len(one.text)
    return wrong / written


def columns(lines: list[text.Line], count: int) -> np.ndarray:
    """Of each of the network's columns the class of the character whose middle is there, `[lines, columns, 1]`.

    With such labels a network of 278 classes reads after some hundred steps, where CTC alone is still about to find out that
    there are characters; they are one of the ways that CTC sums over. Columns beside a middle are `UNSAID`, but between two of
    the same character.
    """
    found = np.zeros([len(lines), count, 1], "int64")
    for row, one in zip(found[..., 0], lines):
        places = np.clip(one.middles / 4, 0, count - 1).astype(int)
        classes = np.array([text.CLASS[character] for character in one.text])
        for step in (-1, 1):
            row[np.clip(places + step, 0, count - 1)] = UNSAID
        same = classes[1:] == classes[:-1]
        row[(places[1:][same] + places[:-1][same]) // 2] = 0
        row[places] = classes
    return found


def distance(a: str, b: str) -> int:
    """Insertions, deletions and changes from one to the other (Levenshtein's)."""
    row = list(range(len(b) + 1))
    for i, x in enumerate(a, 1):
        diagonal, row[0] = row[0], i
        for j, y in enumerate(b, 1):
            diagonal, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, diagonal + (x != y))
    return row[-1]


@paddle.no_grad()
def overlap(net: nn.Layer, files: list[Path], count: int, random: np.random.Generator) -> float:
    """Of the pixels that are of a line's middle or taken for it, the share of which both is true."""
    net.eval()
    both = either = 0
    for _ in range(count):
        picture, maps = text.page(random, files)
        found, there = net(paddle.to_tensor(picture[None])).numpy()[0, 0] > 0.5, maps[0] > 0.5
        both, either = both + (found & there).sum(), either + (found | there).sum()
    return both / either


def restore(net: nn.Layer, weights: Path, fresh: bool) -> bool:
    """Take the weights of an earlier run; whether there are some that fit."""
    if fresh or not weights.exists():
        return False
    state = {key: value.astype("float32") for key, value in paddle.load(str(weights)).items()}
    if {k: tuple(v.shape) for k, v in state.items()} != {k: tuple(v.shape) for k, v in net.state_dict().items()}:
        print(f"{weights} is of another network; it begins anew")
        return False
    net.set_state_dict(state)
    return True


if __name__ == "__main__":
    sys.exit(main())
