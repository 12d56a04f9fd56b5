import math

import numpy as np
import pytest

import wherry_tensor as w
from wherry_tensor.functions import inplace

NAN, INF = float("nan"), float("inf")
POSITIVE = np.array([0.1, 0.5, 1.0, 2.5, 7.0])
SIGNED = np.array([-2.5, -0.5, 0.0, 0.7, 3.0])
UNIT = np.array([-0.9, -0.3, 0.0, 0.4, 0.8])

UNARY = {  # name: (NumPy's answer, where)
    "abs": (np.abs, SIGNED), "acos": (np.arccos, UNIT), "acosh": (np.arccosh, POSITIVE + 1), "asin": (np.arcsin, UNIT),
    "asinh": (np.arcsinh, SIGNED), "atan": (np.arctan, SIGNED), "atanh": (np.arctanh, UNIT), "ceil": (np.ceil, SIGNED),
    "cos": (np.cos, SIGNED), "cosh": (np.cosh, SIGNED), "deg2rad": (np.deg2rad, SIGNED),
    "digamma": (lambda x: np.array([-10.4237549, -1.9635100, -0.5772157, 0.7031566, 1.8727843]), POSITIVE),
    "erf": (np.vectorize(math.erf), SIGNED), "exp": (np.exp, SIGNED), "expm1": (np.expm1, SIGNED), "floor": (np.floor, SIGNED),
    "frac": (lambda x: x - np.trunc(x), SIGNED), "lgamma": (np.vectorize(math.lgamma), POSITIVE), "log": (np.log, POSITIVE),
    "log10": (np.log10, POSITIVE), "log1p": (np.log1p, POSITIVE), "log2": (np.log2, POSITIVE),
    "logit": (lambda x: np.log(x / (1 - x)), (UNIT + 1) / 2), "neg": (np.negative, SIGNED), "rad2deg": (np.rad2deg, SIGNED),
    "reciprocal": (np.reciprocal, POSITIVE), "rsqrt": (lambda x: 1 / np.sqrt(x), POSITIVE), "sgn": (np.sign, SIGNED),
    "sigmoid": (lambda x: 1 / (1 + np.exp(-x)), SIGNED), "sign": (np.sign, SIGNED), "sin": (np.sin, SIGNED),
    "sinh": (np.sinh, SIGNED), "sqrt": (np.sqrt, POSITIVE), "square": (np.square, SIGNED),
    "stanh": (lambda x: 1.7159 * np.tanh(0.67 * x), SIGNED), "tan": (np.tan, SIGNED), "tanh": (np.tanh, SIGNED),
    "trunc": (np.trunc, SIGNED), "nan_to_num": (np.nan_to_num, SIGNED), "angle": (np.angle, SIGNED), "conj": (np.conj, SIGNED),
}
FLOATING = sorted(set(UNARY) - {"abs", "ceil", "floor", "frac", "neg", "sgn", "sign", "square", "trunc", "nan_to_num", "conj"})
BINARY = {
    "add": np.add, "subtract": np.subtract, "multiply": np.multiply, "divide": np.divide, "floor_divide": np.floor_divide,
    "remainder": np.remainder, "mod": np.remainder, "floor_mod": np.remainder, "pow": np.power, "maximum": np.maximum,
    "minimum": np.minimum, "fmax": np.fmax, "fmin": np.fmin, "atan2": np.arctan2, "hypot": np.hypot, "logaddexp": np.logaddexp,
    "heaviside": np.heaviside,
}


@pytest.mark.parametrize("name", UNARY)
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_function_of_one_tensor_is_numpys(name, dtype):
    reference, where = UNARY[name]
    out = getattr(w, name)(w.to_tensor(where, dtype)) if name != "sigmoid" else w.to_tensor(where, dtype).sigmoid()
    assert out.dtype.name == dtype
    np.testing.assert_allclose(out.numpy(), reference(where), rtol=2e-6 if dtype == "float32" else 1e-7, atol=1e-7)


@pytest.mark.parametrize("name", FLOATING)
def test_integers_are_cast_to_float32_where_results_are_no_integers(name):
    out = getattr(w.to_tensor([1, 1]), name)()
    assert out.dtype is w.float32


@pytest.mark.parametrize("name", ["abs", "neg", "sign", "square", "ceil", "floor", "round", "trunc", "frac"])
def test_integers_stay_integers_where_results_are(name):
    assert getattr(w, name)(w.to_tensor([1, -2])).dtype is w.int64


@pytest.mark.parametrize("name", sorted({*UNARY, "real", "imag", "round", "erfinv"}))
@pytest.mark.parametrize("wrong", [None, [1.0], 1.5, "a", np.ones(2)])
def test_function_of_one_tensor_refuses_what_is_no_tensor(name, wrong):
    function = getattr(w, name)
    for kind in (TypeError, ValueError) if name != "sgn" else (TypeError,):
        with pytest.raises(kind, match=r"must be a Tensor. Got"):
            function(wrong)


@pytest.mark.parametrize("name", BINARY)
def test_function_of_two_tensors_is_numpys_and_broadcasts(name):
    a, b = np.array([[0.5], [2.0], [3.5]]), np.array([0.25, 1.5])
    out = getattr(w, name)(w.to_tensor(a), w.to_tensor(b))
    assert out.shape == [3, 2]
    np.testing.assert_allclose(out.numpy(), BINARY[name](a, b), rtol=1e-9)


@pytest.mark.parametrize("name", sorted({*BINARY, "gcd", "lcm", "ldexp"} - {"pow"}))
def test_function_of_two_tensors_refuses_numbers_and_none(name):
    x = w.ones([2], "int64")
    for wrong in (None, 1.5, [1, 2]):
        with pytest.raises(ValueError, match=r"'y' must be a Tensor"):
            getattr(w, name)(x, wrong)
        with pytest.raises(TypeError, match=r"'x' must be a Tensor"):
            getattr(w, name)(wrong, x)


@pytest.mark.parametrize("name", sorted({*BINARY, "gcd", "lcm"} - {"ldexp"}))
def test_function_of_two_tensors_refuses_other_pairs_of_dtypes(name):
    with pytest.raises(ValueError, match=r"one dtype. Got int32 and int64"):
        getattr(w, name)(w.ones([2], "int32"), w.ones([2], "int64"))


@pytest.mark.parametrize("name", sorted({*BINARY, "ldexp", "lerp"}))
def test_function_of_two_tensors_refuses_shapes_that_do_not_broadcast(name):
    arguments = [w.ones([2]), w.ones([3])] + ([0.5] if name == "lerp" else [])
    with pytest.raises(ValueError, match=r"\[2\] and \[3\]"):
        getattr(w, name)(*arguments)


@pytest.mark.parametrize("name", ["add", "subtract", "multiply"])
def test_two_floating_dtypes_meet_in_the_wider_one(name):
    assert getattr(w, name)(w.ones([1]), w.ones([1], "float64")).dtype is w.float64
    assert getattr(w, name)(w.ones([1], "float16"), w.ones([1], "bfloat16")).dtype is w.float32


def test_division_of_integers_is_cut_toward_zero():
    x = w.to_tensor([7, -7, 7, -7, 6, -6])
    y = w.to_tensor([2, 2, -2, -2, -3, 3])
    assert w.divide(x, y).tolist() == [3, -3, -3, 3, -2, -2]


def test_round_takes_halves_away_from_zero():
    assert w.round(w.to_tensor([0.5, 1.5, -0.5, 2.5])).tolist() == [1.0, 2.0, -1.0, 3.0]


def test_extremes_differ_in_nan():
    x, y = w.to_tensor([NAN, 1.0]), w.to_tensor([2.0, NAN])
    assert np.isnan(w.maximum(x, y).numpy()).all() and np.isnan(w.minimum(x, y).numpy()).all()
    assert w.fmax(x, y).tolist() == [2.0, 1.0] == w.fmin(x, y).tolist()


def test_pow_with_a_number_keeps_the_dtype():
    assert w.pow(w.to_tensor([2, 3]), 2.0).tolist() == [4, 9]
    assert w.pow(w.to_tensor([2.0, 3.0]), 2).dtype is w.float32
    with pytest.raises(ValueError, match=r"negative power"):
        w.pow(w.to_tensor([2]), -1)
    with pytest.raises(TypeError, match=r"'y'"):
        w.pow(w.to_tensor([2]), "a")


def test_atan2_of_integers_is_float64():
    assert w.atan2(w.to_tensor([1]), w.to_tensor([2])).dtype is w.float64


def test_hypot_and_logaddexp_survive_the_extremes():
    x = w.to_tensor([2e38, 0.0, INF, 1e-30])
    np.testing.assert_allclose(w.hypot(x, x).numpy(), np.hypot(x.numpy(), x.numpy()), rtol=1e-6)
    x, y = w.to_tensor([1000.0, INF, -INF, 0.0]), w.to_tensor([1000.0, INF, -INF, -INF])
    np.testing.assert_allclose(w.logaddexp(x, y).numpy(), np.logaddexp(x.numpy(), y.numpy()), rtol=1e-6)


def test_gcd_and_lcm_are_never_negative():
    x, y = w.to_tensor([12, -12, 0, 0]), w.to_tensor([20, 20, 5, 0])
    assert w.gcd(x, y).tolist() == [4, 4, 5, 0]
    assert w.lcm(x, y).tolist() == [60, 60, 0, 0]
    with pytest.raises(TypeError, match=r"float32"):
        w.gcd(w.ones([1]), w.ones([1]))


def test_ldexp_always_floats():
    assert w.ldexp(w.to_tensor([1, 3]), w.to_tensor([1, 2])).tolist() == [2.0, 12.0]
    assert w.ldexp(w.ones([1], "float64"), w.to_tensor([1])).dtype is w.float64


@pytest.mark.parametrize("arguments, expected", [
    ((2.0, 6.0), [2.0, 5.0, 6.0]), ((2,), [2.0, 5.0, 9.0]), ((None, 2), [1.0, 2.0, 2.0]), ((), [1.0, 5.0, 9.0]),
])
def test_clip(arguments, expected):
    assert w.clip(w.to_tensor([1.0, 5.0, 9.0]), *arguments).tolist() == expected


def test_clip_bounds_take_the_dtype_and_broadcast():
    x = w.to_tensor([1, 5, 9])
    assert w.clip(x, 2.5, 6).tolist() == [2, 5, 6]
    assert w.clip(x, max=INF).tolist() == [1, 5, 9]
    assert w.clip(x.astype("float32"), w.to_tensor([2.0, 3.0, 10.0])).tolist() == [2.0, 5.0, 10.0]


def test_clip_refuses_bad_bounds():
    x = w.ones([3])
    with pytest.raises(ValueError, match=r"min is larger than max"):
        w.clip(x, 6.0, 2.0)
    with pytest.raises(TypeError, match=r"must be one number"):
        w.clip(x, "a")
    with pytest.raises(ValueError, match=r"does not broadcast to the shape of x"):
        w.clip(x, w.ones([2, 3]))
    with pytest.raises(ValueError, match=r"must be a Tensor"):
        w.clip(None, 0, 1)


def test_scale():
    x = w.to_tensor([1.0, 2.0])
    assert w.scale(x, 2.0, 1.0).tolist() == [3.0, 5.0]
    assert w.scale(x, 2.0, 1.0, bias_after_scale=False).tolist() == [4.0, 6.0]
    assert w.scale(w.to_tensor([1, 2]), 2.5).tolist() == [2, 4]
    assert w.scale(x, w.to_tensor([2.0])).tolist() == [2.0, 4.0]
    assert w.scale(x, -1.0, act="relu").tolist() == [0.0, 0.0]
    for wrong in (None, "a", [1, 2]):
        with pytest.raises(ValueError, match=r"must be"):
            w.scale(x, wrong)
    with pytest.raises(ValueError, match=r"unknown activation"):
        w.scale(x, 1.0, act="foo")


def test_lerp():
    x, y = w.to_tensor([1.0, 2.0]), w.to_tensor([3.0, 4.0])
    assert w.lerp(x, y, 0.5).tolist() == [2.0, 3.0]
    assert w.lerp(x, y, w.to_tensor([0.0, 1.0])).tolist() == [1.0, 4.0]
    with pytest.raises(ValueError, match=r"'weight' must be a Tensor"):
        w.lerp(x, y, None)
    with pytest.raises(TypeError, match=r"int64"):
        w.lerp(w.ones([1], "int64"), w.ones([1], "int64"), 0.5)


def test_nan_to_num():
    x = w.to_tensor([NAN, INF, -INF, 1.0])
    assert w.nan_to_num(x, 1.0, 2.0, 3.0).tolist() == [1.0, 2.0, 3.0, 1.0]
    assert w.nan_to_num(x).tolist() == [0.0, w.finfo("float32").max, w.finfo("float32").min, 1.0]
    with pytest.raises(ValueError, match=r"floating"):
        w.nan_to_num(w.ones([1], "int64"))


def test_complex_numbers():
    x = w.to_tensor([3 + 4j])
    assert (w.abs(x).tolist(), w.real(x).tolist(), w.imag(x).tolist(), w.conj(x).tolist()) == ([5.0], [3.0], [4.0], [3 - 4j])
    assert w.abs(x).dtype is w.float32
    np.testing.assert_allclose(w.sgn(x).numpy(), [0.6 + 0.8j], rtol=1e-6)
    for name in ("exp", "sin", "sqrt", "tanh", "log"):
        np.testing.assert_allclose(getattr(w, name)(x).numpy(), getattr(np, name)(x.numpy()), rtol=1e-5)


def test_bools_are_not_numbers():
    for name in ("neg", "abs", "square", "floor"):
        with pytest.raises(TypeError, match=r"bool"):
            getattr(w, name)(w.to_tensor([True]))


def test_increment_is_in_place_and_for_one_element():
    x = w.to_tensor([1])
    assert w.increment(x, 2) is x and x.tolist() == [3]
    with pytest.raises(ValueError, match=r"one element"):
        w.increment(w.ones([2]))


def test_multigammaln():
    x = w.to_tensor([3.0, 4.0], "float64")
    expected = [math.log(math.pi) / 2 + math.lgamma(v) + math.lgamma(v - 0.5) for v in (3.0, 4.0)]
    np.testing.assert_allclose(w.multigammaln(x, 2).numpy(), expected)
    with pytest.raises(AssertionError, match=r"greater than or equal to 1"):
        w.multigammaln(x, 0)


IN_PLACE = sorted(set(inplace.__all__) - {"cumsum_", "cumprod_", "where_", "fill_", "zero_", "tril_", "triu_"})


@pytest.mark.parametrize("name", IN_PLACE)
def test_in_place_form_writes_what_the_function_returns(name):
    plain = name[:-1]
    whole = plain.startswith("bitwise") or plain in ("gcd", "lcm")
    x = w.to_tensor([3, 5]) if whole else w.to_tensor([0.25, 0.75], "float64")
    two = {"lerp": [x, 0.5], "multigammaln": [1], "polygamma": [1]}.get(plain)
    if two is None:
        import inspect

        required = [p for p in inspect.signature(getattr(w.Tensor, plain)).parameters.values() if p.default is p.empty]
        two = [w.to_tensor([2, 1]) if whole else w.to_tensor([0.5, 0.5], "float64")] * (len(required) - 1)
    expected = getattr(x, plain)(*two)
    version, address = x.inplace_version, x.data_ptr()
    out = getattr(x, name)(*two)
    assert out is x
    assert x.dtype is expected.dtype
    np.testing.assert_array_equal(x.numpy(), expected.numpy())
    if expected.dtype in (w.float64, w.int64):
        assert x.inplace_version > version and x.data_ptr() == address


def test_in_place_form_is_seen_through_views():
    x = w.zeros([2, 2])
    x[0].add_(w.ones([2]))
    assert x.tolist() == [[1.0, 1.0], [0.0, 0.0]]


def test_in_place_form_refuses_another_shape_or_dtype():
    with pytest.raises(ValueError, match=r"broadcast output \[2\] is different from that of inplace tensor \[1\]"):
        w.ones([1]).add_(w.ones([2]))
    with pytest.raises(ValueError, match=r"float32 for x of int64"):
        w.to_tensor([1]).exp_()
    x = w.to_tensor([1.0])
    with pytest.raises(ValueError, match=r"one dtype"):
        x.add_(w.to_tensor([1]))
    assert x.tolist() == [1.0]


def test_in_place_form_refuses_a_leaf_that_asks_for_gradients():
    x = w.to_tensor([1.0], stop_gradient=False)
    for write in (lambda: x.exp_(), lambda: x.add_(w.ones([1])), lambda: x.fill_(0), lambda: x.clip_(0.0, 0.5)):
        with pytest.raises(ValueError, match=r"leaf that asks for gradients"):
            write()
    assert x.tolist() == [1.0]


def test_in_place_form_takes_its_first_argument_by_the_name_that_the_function_has():
    x = w.to_tensor([1.5])
    assert w.Tensor.trunc_(input=x) is x and x.tolist() == [1.0]
    assert w.Tensor.exp_(x=w.zeros([1])).tolist() == [1.0]


def test_comparisons_in_place_make_x_bool():
    x = w.to_tensor([1.0, 2.0])
    assert x.equal_(w.to_tensor([1.0, 1.0])) is x
    assert (x.dtype, x.tolist()) == (w.bool_, [True, False])


def test_fill_and_zero():
    x = w.to_tensor([1, 2])
    assert x.fill_(3.7).tolist() == [3, 3]
    assert x.zero_().tolist() == [0, 0]
    for wrong in ("a", None, w.ones([1])):
        with pytest.raises(TypeError, match=r"int or float"):
            x.fill_(wrong)


def test_cumsum_in_place_flattens_without_an_axis():
    x = w.to_tensor([[1.0, 2.0]])
    assert x.cumsum_().tolist() == [1.0, 3.0]
    assert w.to_tensor([[1.0], [2.0]]).cumsum_(0).tolist() == [[1.0], [3.0]]


def test_functions_work_on_tensors_of_unknown_size():
    from wherry_tensor import _core

    class Shapes:
        def __call__(self, op, inputs, attrs):
            outs = tuple(_core.symbolic(m.shape, m.dtype) for m in op.infer(inputs, attrs))
            return outs if len(op.outputs) > 1 else outs[0]

    layer = Shapes()
    _core.push_layer(layer)
    try:
        x = _core.symbolic((-1, 3), w.float32)
        for out in (
            w.exp(x), x + 1.0, x * x, w.clip(x, 0.0, 1.0), w.scale(x, 2.0, 1.0), w.where(x > 0, x, -x), w.hypot(x, x),
            w.cumsum(x, 0), w.zeros_like(x), w.cast(x, "float64"), w.isclose(x, x), w.nan_to_num(x),
        ):
            assert out.shape == [-1, 3]
        for name in ("sum", "mean", "max", "std", "logsumexp", "argmax", "all", "nansum", "nanmean", "count_nonzero"):
            assert getattr(w, name)(x, axis=1).shape == [-1]
            assert getattr(w, name)(x).shape == []
    finally:
        _core.pop_layer(layer)


def test_what_comes_next_to_a_float32_is_a_float32():
    x = np.array([0.0, -0.0, np.inf, -np.inf, 1.0, np.nan, np.finfo("float32").max], "float32")
    y = np.array([1.0, -1.0, 0.0, 0.0, 2.0, 0.0, np.inf], "float32")
    np.testing.assert_array_equal(w.nextafter(w.to_tensor(x), w.to_tensor(y)).numpy(), np.nextafter(x, y))


@pytest.mark.parametrize(
    ("call", "said"),
    [
        (lambda x: w.bitwise_left_shift(x, 3), "bitwise_left_shift"),
        (lambda x: w.bitwise_right_shift(x, "a"), "bitwise_right_shift"),
        (lambda x: w.bitwise_left_shift(x.astype("int32"), x), "both must be of one integer dtype"),
        (lambda x: w.copysign(x, 1j), "copysign"),
    ],
)
def test_what_is_no_tensor_is_named(call, said):
    with pytest.raises(TypeError, match=said):
        call(w.ones([2, 3]))


def test_logit_near_nothing_is_logit():
    assert np.isnan(w.logit(w.to_tensor([-0.5, 1.5]), 0.0).numpy()).all()
    assert np.isfinite(w.logit(w.to_tensor([-0.5, 1.5]), 1e-3).numpy()).all()


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_hypot_of_tiny_large_and_infinite_numbers_with_gradients_and_without(dtype):
    numbers = np.array([0.0, -0.0, 1e-45, 1e-40, -3e-39, 3.0, 1e38, 3e38, np.inf, -np.inf], dtype)
    x, y = np.meshgrid(numbers, numbers)
    with np.errstate(over="ignore"):
        expected = np.hypot(x.astype(np.float64), y.astype(np.float64)).astype(dtype)
    for still in True, False:
        out = w.hypot(w.to_tensor(x, stop_gradient=still), w.to_tensor(y)).numpy()
        np.testing.assert_allclose(out, expected, rtol=1e-6, atol=2e-45)
    assert np.isnan(w.hypot(w.to_tensor([np.nan, 1.0]), w.to_tensor([1.0, np.nan])).numpy()).all()
