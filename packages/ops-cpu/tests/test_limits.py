"""What the processor can do at most, measured."""
import pytest

from wherry_ops_cpu import _kernels, column, limits
from wherry_ops_cpu.limits import Limits

KNOWN = Limits("made up", 1, {"float32": 100e9, "float64": 50e9, "bfloat16": 200e9}, {"read": 20e9, "write": 10e9, "copy": 10e9}, 1e-6)


def test_every_limit_is_positive_and_plausible():
    found = limits.measure(1, seconds=0.005, size=8 << 20)
    assert found.isa == column.chosen_isa()
    assert {"float32", "float64", "int8"} <= found.multiply_adds.keys()
    # No processor does less than 10 million or more than 100 million million a second in one thread.
    assert all(1e7 < peak < 1e14 for peak in found.multiply_adds.values())
    assert found.bandwidth.keys() == {"read", "write", "copy"}
    assert all(1e7 < rate < 1e13 for rate in found.bandwidth.values())
    assert 0 < found.waking < 1


@pytest.mark.parametrize("isa", column.supported_isas())
def test_each_instruction_set_has_limits_of_its_own(isa):
    if isa == "relaxed":
        pytest.skip("in WebAssembly the relaxed kernels are a module of their own, without limits")
    assert _kernels.limit(isa, "float32", 1000, 1, 0, 0) % 1000 == 0


def test_work_counts_what_all_threads_did():
    one, three = (column.module_of(column.chosen_isa()).limit(column.chosen_isa(), "float32", 100, threads, 0, 0) for threads in (1, 3))
    assert three == 3 * one > 0


def test_what_cannot_be_measured_is_minus_one():
    assert column.module_of(column.chosen_isa()).limit(column.chosen_isa(), "float128", 1, 1, 0, 0) == -1


def test_no_threads_are_refused():
    with pytest.raises(ValueError, match="threads=0, expected 1 or more"):
        limits.measure(0)


def test_an_instruction_set_that_is_not_here_is_refused():
    with pytest.raises(ValueError, match="'sse9'.*expected one of"):
        limits.measure(1, isa="sse9")


def test_the_longer_of_arithmetic_and_memory_is_the_limit():
    assert KNOWN.seconds(multiply_adds=100e9, size=5e9) == pytest.approx(1)
    assert KNOWN.seconds(multiply_adds=1e9, size=5e9) == pytest.approx(0.25)


@pytest.mark.parametrize(("dtype", "seconds"), [("float32", 1), ("float64", 2), ("bfloat16", 0.5), ("float16", 1)])
def test_of_16_bit_floats_the_faster_way_that_sums_in_float32_counts(dtype, seconds):
    assert KNOWN.seconds(multiply_adds=100e9, dtype=dtype) == pytest.approx(seconds)
