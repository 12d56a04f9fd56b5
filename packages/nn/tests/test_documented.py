"""Docstrings of layers are completed from the function that they run."""
import doctest
import inspect
import pydoc

import pytest

from wherry_nn import functional as F
from wherry_nn import layers
from wherry_nn.layer import Layer
from wherry_nn.layers.documented import _Docstring, documented_by

SHARED = [getattr(layers, name) for name in layers.__all__ if isinstance(vars(getattr(layers, name)).get("__doc__"), _Docstring)]


def half(x, by=2.0, weight=None, name=None):
    """Halves of `x`.

    Args:
        x: any numbers.
        by: what divides them,
            as a float.
        weight: multiplies.

    Returns:
        The dtype of `x`.

    Shape:
        `[...]` to the same.

    Raises:
        TypeError: `x` is not a Tensor.
        ValueError: a wrong `by`, an empty `x`, or too much.
        RuntimeError: `weight` is wrong.

    Source:
        `paddle.nn.functional.half`; somebody (2020).

    Examples:
        >>> 1
        1
    """


class _Part(Layer):
    """Base of parts.

    Args:
        strict: whether to check.

    Raises:
        ValueError: too much.
    """


@documented_by(half)
class Half(_Part):
    """Halves, as a layer.

    Raises:
        ValueError: a wrong `by`.

    Examples:
        >>> 2
        2
    """

    def __init__(self, by=2.0, strict=False, name=None):
        super().__init__()

    def forward(self, input):
        return half(input)


def test_docstring_is_that_of_the_layer_completed_from_its_base_and_the_function():
    assert Half.__doc__ == inspect.getdoc(Half) == inspect.cleandoc("""
        Halves, as a layer.

        Args:
            by: what divides them,
                as a float.
            strict: whether to check.

        Inputs:
            input: any numbers.

        Shape:
            `[...]` to the same.

        Raises:
            ValueError: too much.
            ValueError: a wrong `by`.
            TypeError: when called: `input` is not a Tensor.
            ValueError: when called: an empty `input`.

        Source:
            `paddle.nn.Half`; somebody (2020).

        Examples:
            >>> 2
            2""")


def test_instances_have_it_and_subclasses_find_it():
    class Quarter(Half):
        pass

    assert Half().__doc__ == Half.__doc__
    assert Quarter.__doc__ is None and inspect.getdoc(Quarter) == Half.__doc__


@pytest.mark.parametrize("layer", SHARED, ids=lambda layer: layer.__name__)
def test_docstring_of_each_such_layer_is_complete(layer):
    text = inspect.getdoc(layer)
    headings = [line[:-1] for line in text.splitlines() if line.endswith(":") and not line.startswith(" ")]
    assert {"Inputs", "Shape", "Raises", "Source", "Examples"} <= set(headings)
    assert len(headings) == len(set(headings))
    source = text.partition("Source:")[2].partition("Examples:")[0]
    assert f"`paddle.nn.{layer.__name__}`" in source and "paddle.nn.functional" not in source
    arguments = text.partition("Args:")[2].partition("Inputs:")[0]
    for name in list(inspect.signature(layer.__init__).parameters)[1:]:
        assert name == "name" or name in arguments, f"{name} is not described"
    assert text in pydoc.render_doc(layer, renderer=pydoc.plaintext).replace("\n |  ", "\n").replace("\n |\n", "\n\n")
    assert doctest.DocTestFinder().find(layer, layer.__name__)[0].examples


def test_functions_keep_docstrings_of_their_own():
    assert len(SHARED) > 80
    assert "`paddle.nn.functional.elu`" in F.elu.__doc__
