"""The kit finds what it is there to find: each test gives it one wrong answer."""
import numpy as np
import pytest

from wherry_tensor import ops
from wherry_tensor.ops.declare import Meta
from wherry_tensor.testing import Spec, bad, case, kit
from wherry_tensor.testing.specs import dtype_names


def made(op, generate, reference, dtypes="float32", **options):
    defaults = dict(
        differentiable=True, second_order=True, grad_of=None, grad_through=None, cast=None, tolerance={}
    )
    return Spec(op, generate, reference, dtype_names(dtypes), **{**defaults, **options})


def two_vectors(rng):
    yield case(rng.uniform(1, 2, 5), rng.uniform(1, 2, 5))


def test_wrong_value_is_shown_with_its_place():
    def off_by_one_at_3(x, y):
        return x + y + (np.arange(len(x)) == 3) if x.ndim == 1 and len(x) == 5 else x + y

    with pytest.raises(AssertionError, match=r"(?s)add: .*1 of 5 values differ; at \[3\] got "):
        kit.check_kernel(made(ops.add, two_vectors, off_by_one_at_3))


def test_right_reference_passes_in_every_dtype():
    kit.check_kernel(made(ops.add, two_vectors, lambda x, y: x + y, dtypes="floats complex"))


def test_16_bits_that_were_rounded_the_other_way_are_found():
    def most_of_a_unit_beside(x, y):
        return x + y + 0.75 * 2.0**-9  # sums from 2 to 4; the tolerance is more than a unit

    with pytest.raises(AssertionError, match="values are not the exact ones rounded once to float16; at"):
        kit.check_kernel(made(ops.add, two_vectors, most_of_a_unit_beside, dtypes="float16"))
    kit.check_kernel(made(ops.add, two_vectors, most_of_a_unit_beside, dtypes="float16", tolerance={"float16": (2e-3, 1e-3)}))


def test_device_that_disagrees_with_the_cpu_is_found(monkeypatch):
    run, calls = kit._run, []

    def one_off_the_first_time(op, inputs, attrs):
        calls.append(op)
        return tuple(ops.add(x, x) for x in run(op, inputs, attrs)) if len(calls) == 1 else run(op, inputs, attrs)

    spec = made(ops.add, two_vectors, None)
    kit.check_against_cpu(spec)
    monkeypatch.setattr(kit, "_run", one_off_the_first_time)
    with pytest.raises(AssertionError, match=r"(?s)add: 1 failures.*5 of 5 values differ"):
        kit.check_against_cpu(spec)
    assert not kit.applies("against_cpu", spec)  # there is nothing to compare on the cpu


def test_dtype_that_no_sample_fits_is_reported():
    def negative_numbers(rng):
        yield case(np.array([-1, -2]), np.array([3, 4]))

    with pytest.raises(AssertionError, match="uint8: no sample fits this dtype"):
        kit.check_kernel(made(ops.add, negative_numbers, lambda x, y: x + y, dtypes="int32 uint8"))


def test_shape_rule_that_lies_is_found():
    spec = made(ops.add, two_vectors, None)
    typed = next(kit.typed_cases(spec))
    with pytest.raises(AssertionError, match=r"inferred Meta\(\[-1, 1\], float32\), really Meta\(\[5\], float32\)"):
        kit._check_infer(spec, lambda x, y: Meta((-1, 1), x.dtype), typed)


def test_missing_error_is_found():
    def fine(rng):
        yield from two_vectors(rng)
        yield bad(np.zeros(3), np.zeros(3), error=ValueError, match="add")

    with pytest.raises(AssertionError, match="nothing was raised, expected ValueError"):
        kit.check_bad(made(ops.add, fine, None))


def test_error_without_the_expected_text_is_found():
    def shapes(rng):
        yield bad(np.zeros(3), np.zeros(4), error=ValueError, match="a text that nobody writes")

    with pytest.raises(AssertionError, match="expected a text matching 'a text that nobody writes'"):
        kit.check_bad(made(ops.add, shapes, None))


def test_values_are_rounded_to_bfloat16_half_to_even():
    x = np.array([1.0, 1.00390625, 1.01171875, -2.5, np.inf, np.nan, 3.4e38])
    expected = kit.array_of(kit.tensor_of(x.astype("float32"), "bfloat16"))
    np.testing.assert_array_equal(kit._round_to(x.astype("float32"), "bfloat16"), expected)


def test_words_for_dtypes_expand_in_order():
    assert dtype_names("bool ints") == ("bool", "int64", "int32", "int16", "int8", "uint8")
    assert dtype_names(("float32",)) == ("float32",)
    with pytest.raises(ValueError, match="unknown dtypes word 'numbers'"):
        dtype_names("numbers")
