"""Thresholds of distributions."""
import numpy as np
import pytest

from wherry_quant.thresholds import Histogram, earth_mover, percentile, relative_entropy, squared_error

RNG = np.random.default_rng(0)


def counted(*parts, bins=2048):
    histogram = Histogram(bins)
    for part in parts:
        histogram.add(part)
    return histogram


def test_the_range_doubles_and_no_value_is_lost():
    small, large = RNG.random(1000).astype(np.float32), 50 * RNG.random(1000).astype(np.float32)
    found = counted(small, large)
    assert found.counts.sum() == 2000 and found.largest == large.max()
    expected, _ = np.histogram(np.concatenate([small, large]), bins=2048, range=(0, 2048 * found.width))
    assert np.abs(np.cumsum(found.counts) - np.cumsum(expected)).max() <= 2  # values on an edge


def test_zeros_before_the_first_value_count():
    found = counted(np.zeros(10), np.ones(5))
    assert found.counts[0] == 10 and found.counts.sum() == 15


def test_values_that_are_no_numbers_are_refused():
    with pytest.raises(ValueError, match="no magnitude"):
        counted(np.array([1.0, np.nan]))


def test_a_percentile_leaves_out_what_is_rare():
    values = np.concatenate([RNG.random(9990), np.full(10, 100.0)]).astype(np.float32)
    found = counted(values)
    assert 0.9 < percentile(found.counts, found.width, 0.999) < 1.2
    assert percentile(found.counts, found.width, 1.0) >= 100 - found.width


@pytest.mark.parametrize("bits", [8, 4])
def test_errors_are_smallest_at_the_threshold(bits):
    values = np.abs(RNG.standard_normal(20_000)).astype(np.float32)
    found, high = counted(values), 2 ** (bits - 1) - 1

    def loss(scale, norm):
        return norm(values - np.minimum(np.rint(values / scale * high), high) * scale / high).mean()

    for search, norm in (squared_error, np.square), (earth_mover, np.abs):
        scale = search(found.counts, found.width, bits)
        assert loss(scale, norm) <= 1.02 * min(loss(s * values.max(), norm) for s in np.linspace(0.1, 1, 60))


def test_relative_entropy_clips_a_long_tail():
    values = np.concatenate([RNG.standard_normal(50_000), [40.0]]).astype(np.float32)
    found = counted(values)
    assert relative_entropy(found.counts, found.width, 8) < 30


def test_nothing_that_was_counted_has_no_threshold():
    assert squared_error(np.zeros(64), 1.0, 8) == 0.0 and percentile(np.zeros(64), 1.0, 0.5) == 0.0
