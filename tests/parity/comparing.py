"""How results of Paddle and ours are compared: one place for tolerances, and for what "the same" means.

Results are plain data, as `describe` makes them: ["tensor", dtype, shape, values], ["list", items],
["value", anything].
"""
from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

# Both sides round, and sum in different orders. The bound is relative to the largest magnitude of the
# array (of all gradients together: that of a bias before a normalisation is zero but for rounding). A sum
# of n float32 products carries an error of about sqrt(n) * 6e-8, gradients of normalised layers divide by a
# small spread, hence the margin. For float64 data real Paddle rounds attributes (slopes, epsilons, scales,
# positions when resizing) to float32; we do not, so that 1e-6 is what can be asked.
TOLERANCE = {"float64": 1e-6, "complex128": 1e-6, "float32": 5e-5, "complex64": 5e-5, "float16": 5e-3, "bfloat16": 2e-2}

# After several updates the rounding of each step has gone through the next ones.
AFTER_STEPS = 4.0

# An optimizer's coefficients too are rounded to float32 by real Paddle: 1 - beta2 of a rounded 0.999 is off by
# 1.3e-5, whatever the dtype of the parameters.
OF_COEFFICIENTS = 5e-5

# Initial values are random: mean, spread and extremes of n numbers are known up to about n ** -0.5.
SAMPLES = 2000
OF_SAMPLES = 0.2

# A loss curve amplifies rounding at each step: what a float32 loss may differ after 20 of them, as a part of
# the largest loss.
OF_CURVES = 2e-4

STANDARD = ("ValueError", "TypeError", "IndexError", "RuntimeError", "NotImplementedError", "OSError", "MemoryError", "KeyError",
            "AssertionError", "AttributeError")


def compare(ours, theirs, where, factor=1.0, scale=None, tolerances=TOLERANCE):
    assert ours[0] == theirs[0], f"{where}: got {ours}, Paddle gives {theirs}"
    if ours[0] == "list":
        assert len(ours[1]) == len(theirs[1]), f"{where}: got {len(ours[1])} results, Paddle gives {len(theirs[1])}"
        for i, (mine, paddles) in enumerate(zip(ours[1], theirs[1], strict=True)):
            compare(mine, paddles, f"{where}[{i}]", factor, scale, tolerances)
    elif ours[0] == "tensor":
        assert ours[1:3] == theirs[1:3], f"{where}: got {ours[1:3]}, Paddle gives {theirs[1:3]}"
        compare_arrays(ours[3], theirs[3], ours[1], where, factor, scale, tolerances)
    elif isinstance(theirs[1], np.ndarray):
        assert (ours[1].dtype, ours[1].shape) == (theirs[1].dtype, theirs[1].shape), where
        compare_arrays(ours[1], theirs[1], str(theirs[1].dtype), where, factor, scale, tolerances)
    elif isinstance(ours[1], float):
        assert ours[1] == pytest.approx(theirs[1], rel=1e-5), where
    else:
        assert np.all(ours[1] == theirs[1]), f"{where}: got {ours[1]}, Paddle gives {theirs[1]}"


def compare_arrays(ours, theirs, dtype, where, factor=1.0, scale=None, tolerances=TOLERANCE):
    tolerance = tolerances.get(dtype, 0) * factor
    scale = magnitude(theirs) if scale is None else scale
    np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * scale, err_msg=where)


def magnitude(result):
    """The largest finite magnitude among floating numbers of a result, or of an array."""
    if isinstance(result, np.ndarray):
        finite = np.abs(result[np.isfinite(result)]) if result.dtype.kind in "fc" else np.zeros(0)
        return float(finite.max()) if finite.size else 0.0
    if result[0] == "list":
        return max((magnitude(item) for item in result[1]), default=0.0)
    return magnitude(result[3]) if result[0] == "tensor" else 0.0


def compare_errors(ours, theirs, where):
    """Ours must be caught by whoever catches the standard class of Paddle's error."""
    assert "error" in ours, f"{where}: Paddle raises {theirs['text']}, we do not"
    standard = [kind for kind in theirs["error"] if kind in STANDARD]
    assert not standard or standard[0] in ours["error"], f"{where}: Paddle raises {theirs['text']}, we raise {ours['text']}"


def compare_initial(ours, theirs, where):
    """Initial values: a constant must be the same one, many random numbers must look alike."""
    if theirs.size > 1 and np.all(theirs == theirs.flat[0]):
        assert np.all(ours == theirs.flat[0]), f"{where}: begins with {ours.flat[:4]}, Paddle with {theirs.flat[0]} everywhere"
    elif theirs.size >= SAMPLES:
        for statistic in (mean, spread, peakedness):
            mine, paddles = statistic(ours), statistic(theirs)
            assert abs(mine - paddles) <= OF_SAMPLES * max(spread(theirs), abs(paddles)), (
                f"{where}: {statistic.__name__} of initial values is {mine}, Paddle's {paddles}"
            )


def mean(values):
    return float(values.mean(dtype="float64"))


def spread(values):
    return float(values.std(dtype="float64"))


def peakedness(values):
    """Fourth moment over squared variance: 1.8 of uniform numbers, 3 of normal ones, less where the tails are cut."""
    return float((((values - mean(values)) / spread(values)) ** 4).mean(dtype="float64"))


def differs(check: Callable[..., None], *arguments: Any) -> bool:
    """Whether a check of two outcomes fails: a row of differences.py has to be one."""
    try:
        check(*arguments)
    except AssertionError:
        return True
    return False
