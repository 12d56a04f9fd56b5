import numpy as np
import pytest

import wherry_tensor as w
from wherry_tensor.dtype import as_dtype, promote_floating

NAMES = [
    "bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128",
]


@pytest.mark.parametrize("name", NAMES)
def test_dtypes_are_found_by_name_and_print_as_paddles(name):
    dtype = as_dtype(name)
    assert as_dtype(dtype) is dtype
    assert str(dtype) == f"paddle.{name}"
    assert getattr(w, name) is dtype


@pytest.mark.parametrize("name", [n for n in NAMES if n != "bfloat16"])
def test_numpy_dtypes_are_understood(name):
    assert as_dtype(np.dtype(name)).name == name
    assert as_dtype(np.dtype(name).type).name == name


@pytest.mark.parametrize("given, name", [
    (bool, "bool"), (int, "int64"), (float, "float64"), (complex, "complex128"), ("float", "float64"), ("double", "float64"),
    ("int", "int64"), ("half", "float16"), ("uint16", "bfloat16"),
])
def test_other_names(given, name):
    assert as_dtype(given).name == name


@pytest.mark.parametrize("wrong", [None, 5, "foo", "paddle.float32", [], "FLOAT32", np.dtype("uint32"), object])
def test_unknown_dtypes_are_refused(wrong):
    with pytest.raises(TypeError, match=r"unknown dtype. Got .* expected one of bool"):
        as_dtype(wrong)


def test_default_dtype_is_floating():
    assert w.get_default_dtype() == "float32"
    try:
        for given in ("float16", w.bfloat16, np.float64):
            w.set_default_dtype(given)
        assert w.get_default_dtype() == "float64"
    finally:
        w.set_default_dtype("float32")
    for wrong in ("int32", "foo", None, bool, "complex64"):
        with pytest.raises(TypeError, match=r"only a floating dtype"):
            w.set_default_dtype(wrong)


@pytest.mark.parametrize("name", ["float16", "float32", "float64"])
def test_finfo_is_numpys(name):
    ours, theirs = w.finfo(name), np.finfo(name)
    for field in ("bits", "eps", "max", "min", "tiny", "smallest_normal", "resolution"):
        assert getattr(ours, field) == pytest.approx(float(getattr(theirs, field)), rel=1e-3)
    assert (ours.eps, ours.max, ours.tiny) == (theirs.eps, theirs.max, theirs.tiny)
    assert ours.dtype == name


def test_finfo_of_other_dtypes():
    assert w.finfo("bfloat16").max == pytest.approx(3.3895314e38)
    assert w.finfo("complex128").dtype == "float64"
    assert repr(w.finfo(w.float32)) == (
        "paddle.finfo(min=-3.40282e+38, max=3.40282e+38, eps=1.19209e-07, resolution=1e-06, "
        "smallest_normal=1.17549e-38, tiny=1.17549e-38, bits=32, dtype=float32)"
    )
    with pytest.raises(ValueError, match=r"Use iinfo"):
        w.finfo("int32")
    for wrong in (None, "foo"):
        with pytest.raises(TypeError, match=r"unknown dtype"):
            w.finfo(wrong)


@pytest.mark.parametrize("name", ["uint8", "int8", "int16", "int32", "int64"])
def test_iinfo_is_numpys(name):
    ours, theirs = w.iinfo(name), np.iinfo(name)
    assert (ours.bits, ours.min, ours.max, ours.dtype) == (theirs.bits, theirs.min, theirs.max, name)


def test_iinfo_refuses_other_dtypes():
    assert repr(w.iinfo("int32")) == "paddle.iinfo(min=-2147483648, max=2147483647, bits=32, dtype=int32)"
    for wrong in ("float32", "bool"):
        with pytest.raises(ValueError, match=r"Use finfo"):
            w.iinfo(wrong)


def test_kinds():
    assert w.is_floating_point(w.ones([1])) and not w.is_floating_point(w.ones([1], "int64"))
    assert w.is_complex(w.to_tensor(1j)) and w.is_integer(w.to_tensor(1)) and not w.is_integer(w.to_tensor(True))
    assert w.ones([1]).is_floating_point()
    for function in (w.is_floating_point, w.is_complex, w.is_integer):
        with pytest.raises(TypeError, match=r"x is not a Tensor"):
            function([1.0])


def test_promotion_of_floating_dtypes():
    assert promote_floating(w.float16, w.bfloat16) is w.float32
    assert promote_floating(w.float32, w.float64) is w.float64
    assert promote_floating(w.float64, w.complex64) is w.complex128
    assert promote_floating(w.float32, w.complex64) is w.complex64


def test_every_error_class_is_the_builtin_that_paddle_shows():
    from wherry_tensor import errors

    kinds = {
        "InvalidArgumentError": ValueError, "OutOfRangeError": IndexError, "ResourceExhaustedError": MemoryError,
        "UnimplementedError": NotImplementedError, "NotFoundError": RuntimeError, "ExternalError": OSError,
        "FatalError": SystemError, "InvalidTypeError": TypeError,
    }
    for name, builtin in kinds.items():
        assert issubclass(getattr(errors, name), builtin) and issubclass(getattr(errors, name), errors.EnforceNotMet)
    assert issubclass(errors.InvalidTypeError, ValueError)


def test_dtypes_have_the_numbers_of_paddles_files():
    assert [d.value for d in (w.bool, w.uint8, w.int64, w.float32, w.bfloat16, w.complex128)] == [0, 20, 3, 5, 22, 24]
