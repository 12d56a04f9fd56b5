"""How large a value should still fit: thresholds of distributions.

Magnitudes are counted in a histogram whose range doubles when a larger value arrives: pairs of bins become one, so nothing is counted twice
or guessed. Every threshold is found from the counts, whatever the number of batches.

Sources: relative entropy as in Migacz, 8-bit inference with TensorRT (2017), with Paddle's start at half of the bins; the earth mover's
distance between values and what rounding makes of them is their mean absolute difference, because rounding keeps the order.
"""
from __future__ import annotations

import math
from typing import Any

import numpy as np

from wherry_quant.numbers import levels
from wherry_tensor.errors import InvalidArgumentError

__all__ = ["Histogram", "earth_mover", "percentile", "relative_entropy", "squared_error"]

Counts = np.ndarray[Any, Any]


class Histogram:
    """Counts of magnitudes in equal bins from 0 on."""

    def __init__(self, bins: int = 2048) -> None:
        if bins < 2 or bins % 2:
            raise InvalidArgumentError(f"Histogram: the bins are halved when the range grows. Got bins={bins}, expected an even number from 2 on.")
        self.counts: Counts = np.zeros(bins, np.float64)
        self.width = 0.0
        self.largest = 0.0
        self._zeros = 0

    def add(self, values: np.ndarray[Any, Any]) -> None:
        """Count these values."""
        magnitudes = np.abs(values.astype(np.float32, copy=False)).ravel()
        if not magnitudes.size:
            return
        top = float(magnitudes.max())
        if not math.isfinite(top):
            raise InvalidArgumentError(
                f"Histogram: a value has no magnitude. Got {top}, expected finite values. Look for NaN or infinity in the data."
            )
        self.largest = max(self.largest, top)
        bins = len(self.counts)
        if not top and not self.width:
            self._zeros += magnitudes.size
            return
        if not self.width:
            self.width = top / bins
            self.counts[0] += self._zeros
        while top > self.width * bins:
            self.counts = np.concatenate([self.counts.reshape(-1, 2).sum(1), np.zeros(bins // 2)])
            self.width *= 2
        self.counts += np.bincount(np.minimum((magnitudes / self.width).astype(np.int64), bins - 1), minlength=bins)


def percentile(counts: Counts, width: float, share: float) -> float:
    """The end of the bin up to which at least this share of the values lies."""
    total = counts.sum()
    if not total:
        return 0.0
    return float((np.searchsorted(np.cumsum(counts) / total, min(share, 1.0)) + 1) * width)


def relative_entropy(counts: Counts, width: float, bits: int) -> float:
    """The threshold at which `levels(bits)` equal bins tell most of what the counts say (the divergence of Kullback and Leibler is smallest)."""
    counts = np.asarray(counts, np.float64)
    bins, parts = len(counts), levels(bits)
    start = int((bins - 1) * 0.5)
    tails = np.concatenate([np.cumsum(counts[::-1])[::-1], [0.0]])
    best, at = np.inf, 0
    for end in range(max(start, parts), bins):
        p = counts[:end].copy()
        if not p[-1]:
            continue
        p[-1] += tails[end]
        q = _merged(counts[:end], parts)
        some = p > 0
        with np.errstate(divide="ignore"):
            divergence = (p[some] * (np.log(q.sum() * p[some]) - np.log(p.sum() * q[some]))).sum() / p.sum()
        if divergence < best:
            best, at = divergence, end
    if not at:  # no bin after the start is filled: the last one that is
        filled = np.flatnonzero(counts[: start + 1])
        at = int(filled[-1]) if filled.size else 0
    return float((at + 0.5) * width)


def _merged(counts: Counts, parts: int) -> Counts:
    """The counts in `parts` bins, each spread again over those of its bins that were filled; the last takes what is left over."""
    size = len(counts) // parts
    owner = np.minimum(np.arange(len(counts)) // size, parts - 1)
    filled = counts > 0
    sums, places = np.bincount(owner, counts, parts), np.bincount(owner, filled, parts)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(filled, (sums / places)[owner], 0.0)


def squared_error(counts: Counts, width: float, bits: int, candidates: int = 100) -> float:
    """The threshold whose rounding has the smallest mean squared error."""
    return _searched(counts, width, bits, candidates, np.square)


def earth_mover(counts: Counts, width: float, bits: int, candidates: int = 100) -> float:
    """The threshold whose rounding moves values least: the smallest mean absolute error."""
    return _searched(counts, width, bits, candidates, np.abs)


def _searched(counts: Counts, width: float, bits: int, candidates: int, loss: Any) -> float:
    filled = np.flatnonzero(counts)
    if not filled.size:
        return 0.0
    centres, weights = (filled + 0.5) * width, counts[filled]
    largest, high = (filled[-1] + 1) * width, levels(bits)
    scales = largest * np.linspace(1.0, 0.1, candidates)[:, None]  # from the largest down: of equals the one that clips least
    rounded = np.minimum(np.rint(centres / scales * high), high) * scales / high
    return float(scales[np.argmin((loss(centres - rounded) * weights).sum(1)), 0])
