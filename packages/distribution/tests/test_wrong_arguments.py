"""Arguments of another kind than a variable or a tensor are named."""
import pytest

from wherry_distribution import ContinuousBernoulli, Poisson, constraint, variable


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: variable.Independent(3, 1), r"Independent: argument 'base' must be of the class Variable\. Got 3"),
        (lambda: variable.Stack([1]), r"Stack: argument 'vars' must be of the class Variable\. Got 1"),
        (lambda: variable.Stack(3), r"Stack: argument 'vars' must be of the class Sequence\. Got 3"),
        (lambda: constraint.Simplex()([1]), r"simplex: argument 'value' must be a Tensor\. Got list"),
    ],
)
def test_arguments_of_another_kind_are_named(call, text):
    with pytest.raises(TypeError, match=text):
        call()


@pytest.mark.parametrize("rate", [float("inf"), float("nan"), 1e20])
def test_the_entropy_of_counts_without_end_is_refused(rate):
    with pytest.raises(ValueError, match=r"Poisson.entropy: it sums over counts. Got a rate of .*, expected less than 1e9"):
        Poisson(rate).entropy()


def test_bounds_of_a_distribution_are_two():
    with pytest.raises(ValueError, match=r"ContinuousBernoulli: lims are the lower and the upper bound. Got \[0\], expected two numbers"):
        ContinuousBernoulli(0.5, [0])
