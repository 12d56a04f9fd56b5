"""What stands in a line, of what the recogniser says of it: as the page Read text reads (web/src/wherry_web/static/js/text-lines.js).

A line is read at several widths, because letters are narrower in one font and wider in another. What was read, and what it becomes
with one character as the network doubted it might be, are compared: that is taken which all widths together find the likeliest, and
in which neighbours belong together. An O among digits looks like a 0, and a capital letter is large only beside another.
"""
import itertools
import unicodedata
from collections.abc import Iterator, Sequence

import numpy as np

import wherry as paddle
from wherry import nn
from wherry.nn import functional as F

WIDTHS = (1.0, 1.09, 1.18)  # times a line's own
DOUBT = 0.05  # of another class in a column, from which on it is tried
ODD = 1.5  # of a logarithm, that a pair of neighbours costs of which the second hardly follows the first


@paddle.no_grad()
def read(net: nn.Layer, pictures: np.ndarray, alphabet: Sequence[str]) -> list[str]:
    """What stands in each of the lines `[N, 3, H, W]`; `alphabet` has the characters of the classes from 1 on."""
    *_, height, width = pictures.shape
    x = paddle.to_tensor(pictures)
    sizes = [(height, max(8, 4 * round(width * times / 4))) for times in WIDTHS]
    views = [net(x if size == (height, width) else F.interpolate(x, size=size, mode="bilinear")).numpy() for size in sizes]
    return ["".join(alphabet[c - 1] for c in likeliest(line, alphabet)).strip() for line in zip(*views)]


def likeliest(views: Sequence[np.ndarray], alphabet: Sequence[str]) -> tuple[int, ...]:
    """The classes in a line of which the network saw `views`, each the probabilities `[steps, classes]` of a picture of it."""
    found = dict.fromkeys([*map(best_path, views), *itertools.chain.from_iterable(map(doubted, views))])

    def value(classes: tuple[int, ...]) -> float:
        pairs = itertools.pairwise(alphabet[c - 1] for c in classes)
        return sum(log_likelihood(view, classes) for view in views) / len(views) - ODD * sum(hardly_follows(a, b) for a, b in pairs)

    return next(iter(found)) if len(found) == 1 else max(found, key=value)


def doubted(probabilities: np.ndarray) -> Iterator[tuple[int, ...]]:
    """The likeliest classes of the steps, each with one of them as the network doubted it might be: another one, none, or one more."""
    best, runs, at = probabilities.argmax(axis=1).tolist(), [], 0
    for c, steps in itertools.groupby(best):
        size = len(list(steps))
        runs.append((c, probabilities[at : at + size].max(axis=0)))
        at += size
    for i, (c, most) in enumerate(runs):
        for other in np.flatnonzero(most > DOUBT).tolist():
            if other != c:
                yield tuple(x for j, (x, _) in enumerate(runs) for x in [other if j == i else x] if x)


def hardly_follows(first: str, second: str) -> bool:
    """Whether one is a digit and one a letter, or both are letters of two scripts, or a capital follows a small letter."""
    kinds = [unicodedata.name(c).split()[0] if c.isalpha() else "DIGIT" if c.isdigit() else "" for c in (first, second)]
    return all(kinds) and (kinds[0] != kinds[1] or (first.islower() and second.isupper()))


def best_path(probabilities: np.ndarray) -> tuple[int, ...]:
    """The likeliest class of each step, repetitions and blanks (class 0) left out."""
    best = probabilities.argmax(axis=1).tolist()
    return tuple(c for before, c in zip([0, *best], best) if c and c != before)


def log_likelihood(probabilities: np.ndarray, classes: Sequence[int]) -> float:
    """The logarithm of how likely it is that classes follow each other, over all ways to spread them over the steps.

    The forward half of CTC: Graves et al., "Connectionist Temporal Classification" (2006).
    """
    states = np.zeros(2 * len(classes) + 1, int)  # a blank around each
    states[1::2] = classes
    jumps = np.zeros(len(states), bool)
    jumps[3::2] = states[3::2] != states[1:-2:2]
    ways, scaled = np.where(np.arange(len(states)) < 2, 1.0, 0.0), 0.0
    for step, each in enumerate(np.maximum(probabilities[:, states].astype("float64"), 1e-12)):
        before = np.concatenate([[0.0, 0.0], ways])
        ways = each * (ways + before[1:-1] + np.where(jumps, before[:-2], 0) if step else ways)
        total = ways.sum()
        if not total:
            return -np.inf
        scaled, ways = scaled + np.log(total), ways / total
    return float(scaled + np.log(ways[-2:].sum())) if ways[-2:].any() else -np.inf
