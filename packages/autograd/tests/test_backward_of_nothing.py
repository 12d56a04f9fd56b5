"""Backward of a tensor without history: Paddle does nothing, silently; here it says so."""
import warnings

import pytest

import wherry_autograd
import wherry_tensor as wt


def test_a_result_made_under_no_grad_warns():
    x = wt.to_tensor([1.0], stop_gradient=False)
    with wherry_autograd.no_grad():
        y = x * 2
    with pytest.warns(UserWarning, match="nothing leads to this tensor") as seen:
        y.backward()
    assert seen[0].filename == __file__ and x.grad is None


def test_what_asks_for_gradients_does_not_warn():
    x = wt.to_tensor(1.0, stop_gradient=False)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        (x * 2).backward()
        x.backward()
    assert x.grad.item() == 3
