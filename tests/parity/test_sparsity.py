"""`paddle.incubate.asp` in real Paddle 2.6.2 and in wherry: masks of the same matrices, training of the same pruned networks."""
from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parent))
from programs import needs_paddle, outcomes_of  # noqa: E402

pytestmark = needs_paddle


@pytest.fixture(scope="module")
def outcomes(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sparsity")
    return outcomes_of("sparsity_worker.py", folder, folder)


def test_masks_are_those_of_paddle(outcomes):
    ours, theirs = outcomes["wherry"]["masks"], outcomes["paddle"]["masks"]
    assert ours.keys() == theirs.keys() and len(ours) > 100
    for name, expected in theirs.items():
        if "best" in name and not np.array_equal(ours[name], expected):
            # Where a matrix is filled up, several masks are as good.
            x = np.abs(list(_matrices())[int(name.split()[0])])
            assert (x * ours[name]).sum() == pytest.approx((x * expected).sum()), name
        else:
            np.testing.assert_array_equal(ours[name], expected, err_msg=name)


def _matrices():
    from sparsity_worker import matrices

    return matrices()


@pytest.mark.parametrize("excluded", [False, True])
@pytest.mark.parametrize("algorithm", ["mask_1d", "mask_2d_greedy", "mask_2d_best"])
def test_pruned_networks_train_as_in_paddle(outcomes, algorithm, excluded):
    (ours, names), (theirs, expected) = (outcomes[library][f"{algorithm} {excluded}"] for library in ("wherry", "paddle"))
    assert names == expected == 4 - excluded
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_array_equal(mine == 0, other == 0)
        np.testing.assert_allclose(mine, other, rtol=1e-4, atol=1e-5)
