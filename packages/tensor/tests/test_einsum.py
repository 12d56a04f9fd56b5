"""einsum against NumPy's, over equations of every kind and over random ones."""
import hypothesis.strategies as st
import numpy as np
import pytest
from hypothesis import given

import wherry_tensor as w
from compared import array, equal
from wherry_tensor import einsum, to_tensor
from wherry_tensor.functions.einsum import _next_pair, _parsed

SIZES = {"a": 2, "b": 3, "c": 4, "d": 1, "e": 5}


def arrays(equation, hidden=()):
    rng = np.random.default_rng(0)
    shapes = []
    for term in equation.split("->")[0].replace(" ", "").split(","):
        before, dots, after = term.partition("...")
        shapes.append([*(SIZES[c] for c in before), *(hidden if dots else ()), *(SIZES[c] for c in after)])
    return [rng.integers(-4, 5, shape).astype("float64") for shape in shapes]


def check(equation, operands):
    np.testing.assert_array_equal(einsum(equation, *map(to_tensor, operands)).numpy(), np.einsum(equation, *operands))


@pytest.mark.parametrize(
    "equation",
    [
        "a->a", "ab->ba", "ab->", "ab->b", "ab", "ba", "aa->a", "aa", "aab->b", "aba->ba", "aaa->a", "aabb->ab",
        "a,a", "a,a->a", "a,b->ab", "a,b->ba", "ab,bc->ac", "ab,bc->ca", "ab,cb->ac", "ba,bc", "ab,ab->ab", "ab,ab->",
        "ab,ac->abc", "ab,b->a", "b,ab->a", "abc,abe->ace", "abc,ace->abe", "abc,cbe->ae", "abc,bce->ae", "ab,cd->abcd",
        "ab,cd->", "ab,ac->", "ab,bc,ce->ae", "ab,bc,ce", "ab,ac,ae->bce", "ab,bc,ca->", "a,b,c->abc", "aab,bcc->ac",
        "abcd,dcba->", "ab,ab,ab->ab", "ab,bc,ce,ea->", "abc,c->ba", "c,abc->a", "d,da->a", "ad,da->", " a b , b c -> a c ",
    ],
)  # fmt: skip
def test_equations(equation):
    check(equation, arrays(equation))


@pytest.mark.parametrize("hidden", [(), (3,), (2, 3)])
@pytest.mark.parametrize(
    "equation",
    ["...", "...->...", "...a->...", "a...->...a", "...ab->...ba", "...ab,...bc->...ac", "...ab,bc", "a...,a...->...",
     "a...b,b->a...", "...a,...a->...", "...a,...b->...ab", "...,...->...", "a...,b...->ab..."],
)  # fmt: skip
def test_further_axes(equation, hidden):
    check(equation, arrays(equation, hidden))


def test_further_axes_broadcast():
    rng = np.random.default_rng(0)
    x, y = rng.integers(-4, 5, (5, 1, 2, 3)).astype("float64"), rng.integers(-4, 5, (4, 3, 2)).astype("float64")
    check("...ab,...bc->...ac", [x, y])
    x, y = rng.integers(-4, 5, (5, 3)).astype("float64"), rng.integers(-4, 5, (1, 3)).astype("float64")
    check("...a,...a->...", [x, y])
    assert einsum("...a,...a->", to_tensor(x), to_tensor(y)).item() == (x * y).sum()


@given(st.data())
def test_random_equations(data):
    letters = "abcde"
    terms = data.draw(st.lists(st.text(letters, min_size=0, max_size=4), min_size=1, max_size=4))
    known = sorted(set("".join(terms)))
    output = "".join(data.draw(st.permutations(known))[: data.draw(st.integers(0, len(known)))]) if known else ""
    equation = ",".join(terms) + ("->" + output if data.draw(st.booleans()) else "")
    check(equation, arrays(equation))


def test_zero_size():
    x = np.zeros((0, 3))
    check("ab->b", [x])
    check("ab,ab->", [x, x])
    check("ab,cb->ac", [x, np.ones((2, 3))])


def test_a_letter_twice_in_the_result_makes_a_diagonal():
    x = to_tensor([1.0, 2.0])
    assert einsum("i->ii", x).tolist() == [[1, 0], [0, 2]]
    assert einsum("i,j->iji", x, x).tolist() == [[[1, 0], [2, 0]], [[0, 2], [0, 4]]]


def test_integers_and_operands_as_a_list():
    x = to_tensor([[1, 2], [3, 4]])
    assert einsum("ij,jk->ik", [x, x]).tolist() == [[7, 10], [15, 22]]


def test_the_pair_that_shrinks_most_goes_first():
    _, output = _parsed("ab,bc,cd->ad", (2, 2, 2))
    sizes = {"a": 100, "b": 100, "c": 100, "d": 1}
    assert _next_pair([("a", "b"), ("b", "c"), ("c", "d")], output, sizes) == (1, 2)


@pytest.mark.parametrize(
    ("equation", "shapes", "match"),
    [
        ("ij,jk->ik", [[2, 3]], "it names 2 operands"),
        ("ij->i->j", [[2, 3]], "several arrows"),
        ("ijk->i", [[2, 3]], "operand 0 is 'ijk' and has rank 2"),
        ("i->i", [[2, 3]], "operand 0 is 'i' and has rank 2"),
        ("i1->i", [[2, 3]], "'1' in operand 0 is not a label"),
        ("i......->i", [[2, 3]], "not a label"),
        ("ij->k", [[2, 3]], "the result has 'k'"),
        ("ij,jk->ik", [[2, 3], [2, 3]], "'j' has the sizes 3 and 2"),
        ("ij,jk->ik", [[2, 3], [1, 3]], "'j' has the sizes 3 and 1"),
        ("ii", [[2, 3]], "'i' has the sizes 2 and 3"),
        ("...i,...i->...", [[2, 3], [4, 3]], r"axis -1 of `\.\.\.` has the sizes 2 and 4"),
    ],
)
def test_equations_that_do_not_fit_are_refused(equation, shapes, match):
    with pytest.raises(ValueError, match=match):
        einsum(equation, *[to_tensor(np.zeros(shape)) for shape in shapes])


def test_other_arguments_are_refused():
    x = to_tensor([[1.0]])
    with pytest.raises(TypeError, match="must be text"):
        einsum(5, x)
    with pytest.raises(TypeError, match="operands"):
        einsum("ij,jk->ik", x, [1])
    with pytest.raises(TypeError, match="one dtype"):
        einsum("ij,jk->ik", x, to_tensor([[1]]))


@pytest.mark.parametrize(
    ("axes", "ours"),
    [(0, 0), (1, 1), (2, 2), ([0], [[0], [0]]), ([1, 2], [[1, 2], [1, 2]]), ([[0, 1], [0]], [[0, 1], [0, 1]]), ([[2], [2]], [[2], [2]])],
)
def test_tensordot(axes, ours):
    x, y = array(2, 3, 4), array(2, 3, 4, seed=1)
    if axes in (1, 2):
        y = y.transpose(2, 1, 0) if axes == 1 else y.transpose(1, 2, 0)
    equal(w.tensordot(to_tensor(x), to_tensor(y), axes), np.tensordot(x, y, ours))


@pytest.mark.parametrize(
    ("call", "error", "match"),
    [
        (lambda x: w.tensordot(x, x, 1), ValueError, "one size"),
        (lambda x: w.tensordot(x, x, 3), ValueError, "axes is out of range"),
        (lambda x: w.tensordot(x, x.astype("float64"), 0), TypeError, "one dtype"),
    ],
)
def test_bad_axes_of_tensordot_are_refused(call, error, match):
    with pytest.raises(error, match=match):
        call(to_tensor([[0.0, 1.0, 2.0], [3.0, 4.0, 5.0]]))
