"""What the samples cannot say about normalizations and attention: large tensors, threads, drawn masks."""
import numpy as np
import pytest

import wherry_tensor
from wherry_tensor import ops


@pytest.fixture
def threads():
    before = wherry_tensor.get_num_threads()
    yield wherry_tensor.set_num_threads
    wherry_tensor.set_num_threads(before)


def _tensor(rng, *shape):
    return wherry_tensor.to_tensor(rng.standard_normal(shape).astype(np.float32))


def _each_thread_count(threads, action):
    results = []
    for count in 1, 2, 3, 5:
        threads(count)
        wherry_tensor.seed(3)
        out = action()
        results.append(b"".join(each.numpy().tobytes() for each in (out if isinstance(out, tuple) else (out,))))
    return len(set(results)) == 1


def test_layer_norm_gradients_do_not_depend_on_the_number_of_threads(threads):
    rng = np.random.default_rng(0)
    x, ct, scale = _tensor(rng, 2000, 130), _tensor(rng, 2000, 130), _tensor(rng, 130)
    _, mean, rstd = ops.layer_norm(x, scale, None, epsilon=1e-5, begin_axis=1)
    assert _each_thread_count(threads, lambda: ops.layer_norm_vjp(ct, x, scale, mean, rstd, begin_axis=1))


@pytest.mark.parametrize(
    "shape, data_format",
    [((20, 6, 30, 30), "NCHW"), ((9, 40, 30, 31), "NCHW"), ((9, 32, 96, 96), "NCHW"), ((20, 30, 30, 6), "NHWC"), ((3000, 70), "NCHW")],
)
def test_batch_norm_does_not_depend_on_the_number_of_threads(threads, shape, data_format):
    rng = np.random.default_rng(0)
    x, ct = _tensor(rng, *shape), _tensor(rng, *shape)

    def both():
        out, mean, variance = ops.batch_norm(x, None, None, epsilon=1e-5, data_format=data_format)
        return out, mean, *ops.batch_norm_vjp(ct, x, None, mean, variance, epsilon=1e-5, data_format=data_format)

    assert _each_thread_count(threads, both)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("shape", [(7, 40, 5, 9), (3, 33, 8, 16), (2, 64, 100, 101)])
def test_a_channel_is_normalized_in_one_way_however_many_there_are(dtype, shape):
    rng = np.random.default_rng(0)
    x, ct = (_tensor(rng, *shape).astype(dtype) for _ in range(2))
    wide = "float64" if dtype == "float64" else "float32"
    scale, bias = (_tensor(rng, shape[1]).astype(wide) for _ in range(2))

    def results(some):
        form = {"epsilon": 1e-5, "data_format": "NCHW"}
        out, mean, variance = ops.batch_norm(x[:, some].contiguous(), scale[some], bias[some], **form)
        cts = ops.batch_norm_vjp(ct[:, some].contiguous(), x[:, some].contiguous(), scale[some], mean, variance, **form)
        return [y.astype("float64").numpy() for y in (out, mean, variance, *cts)]

    few = [results(slice(k, k + 3)) for k in (0, 24)]  # so few that all of their values make no large tensor
    for k, part in zip((0, 24), few, strict=True):
        for a, b in zip(results(slice(None)), part, strict=True):
            many = a[:, k : k + b.shape[1]] if a.ndim > 1 else a[k : k + len(b)]
            np.testing.assert_array_equal(many, b)


@pytest.mark.parametrize(
    "shape, data_format",
    [
        ((9, 40, 30, 31), "NCHW"), ((4, 36, 1, 7), "NCHW"), ((9, 32, 96, 96), "NCHW"), ((5, 6, 4, 4), "NCHW"), ((70, 5), "NCHW"),
        ((3, 4, 5, 37), "NHWC"),
    ],
)
@pytest.mark.parametrize("scaled, biased", [(True, True), (False, False), (False, True)])
def test_batch_norm_with_relu_has_the_bits_of_the_two(shape, data_format, scaled, biased):
    rng = np.random.default_rng(0)
    x, ct = _tensor(rng, *shape), _tensor(rng, *shape)
    channels = shape[1 if data_format == "NCHW" else -1]
    scale, bias = _tensor(rng, channels) if scaled else None, _tensor(rng, channels) if biased else None
    form = {"epsilon": 1e-5, "data_format": data_format}
    norm, mean, variance = ops.batch_norm(x, scale, bias, **form)
    out = ops.relu(norm)
    for a, b in zip(ops.batch_norm_relu(x, scale, bias, **form), (out, mean, variance), strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())
    cts = ops.batch_norm_vjp(ops.relu_vjp(ct, out), x, scale, mean, variance, **form)
    for a, b in zip(ops.batch_norm_relu_vjp(ct, x, scale, bias, mean, variance, **form), cts, strict=True):
        np.testing.assert_array_equal(a.numpy(), b.numpy())


def test_relu_behind_batch_norm_makes_zero_of_nan():
    x = wherry_tensor.to_tensor(np.full((2, 3, 4), np.nan, np.float32))
    assert not ops.batch_norm_relu(x, None, None, epsilon=1e-5, data_format="NCHW")[0].numpy().any()


@pytest.mark.parametrize("batch", [1, 12])
def test_attention_does_not_depend_on_the_number_of_threads(threads, batch):
    rng = np.random.default_rng(0)
    q, k, v = (_tensor(rng, batch, 1, 200, 24) for _ in range(3))

    def both():
        out, lse = ops.attention(q, k, v, None, scale=0.2, causal=True)
        return out, lse, *ops.attention_vjp(out, q, k, v, None, out, lse, scale=0.2, causal=True)

    assert _each_thread_count(threads, both)


def test_dropout_mask_does_not_depend_on_the_number_of_threads(threads):
    x = wherry_tensor.to_tensor(np.ones(300_001, np.float32))
    assert _each_thread_count(threads, lambda: ops.dropout(x, p=0.3, upscale=True))


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("p, upscale", [(0.1, True), (0.3, False), (1.0, True), (0.0, True)])
def test_dropout_with_a_summand_has_the_bits_and_takes_the_numbers_of_two_ops(dtype, p, upscale):
    rng = np.random.default_rng(0)
    for n in 1, 1003, 50_001:
        x, y = (ops.cast(_tensor(rng, n), dtype=getattr(wherry_tensor, dtype)) for _ in range(2))
        results = []
        for together in True, False:
            wherry_tensor.seed(3)
            out, mask = ops.dropout_add(x, y, p=p, upscale=upscale) if together else ops.dropout(x, p=p, upscale=upscale)
            out = out if together else ops.add(out, y)
            results.append([ops.cast(each, dtype=wherry_tensor.float64).numpy().tobytes() for each in (out, mask, wherry_tensor.rand([2]))])
        assert results[0] == results[1]


def test_dropout_with_a_summand_does_not_depend_on_the_number_of_threads(threads):
    x, y = (_tensor(np.random.default_rng(0), 300_001) for _ in range(2))
    assert _each_thread_count(threads, lambda: ops.dropout_add(x, y, p=0.3, upscale=True))


def test_dropout_keeps_its_share_and_its_mean():
    x = wherry_tensor.to_tensor(np.ones(10**6, np.float32))
    wherry_tensor.seed(1)
    out, mask = ops.dropout(x, p=0.3, upscale=True)
    assert mask.numpy().mean() == pytest.approx(0.7, abs=2e-3)  # four standard deviations
    assert out.numpy().mean() == pytest.approx(1.0, abs=3e-3)
    assert set(np.unique(out.numpy())) == {np.float32(0), np.float32(1 / 0.7)}


def test_large_results_that_pass_the_caches_are_those_of_small_ones():
    # 10 MB: written with stores that go around the caches; row by row it is not.
    x = np.random.default_rng(2).standard_normal((2600, 1024)).astype(np.float32)
    whole = wherry_tensor.to_tensor(x)
    for function in (
        lambda t: ops.softmax(t, axis=1),
        lambda t: ops.log_softmax(t, axis=1),
        lambda t: ops.layer_norm(t, None, None, epsilon=1e-5, begin_axis=1)[0],
    ):
        all_rows = function(whole).numpy()
        for row in 0, 1, 1300, 2599:
            one = function(wherry_tensor.to_tensor(x[row : row + 1])).numpy()
            np.testing.assert_array_equal(all_rows[row : row + 1], one)


def test_cross_entropy_names_the_first_bad_label():
    labels = np.zeros((5000, 1), np.int64)
    labels[[1234, 4000]] = 7
    logits = wherry_tensor.to_tensor(np.zeros((5000, 3), np.float32))
    with pytest.raises(IndexError, match=r"label 7 \(element 1234\) is out of range. Got 7, expected .* \[0, 3\)"):
        ops.cross_entropy(logits, wherry_tensor.to_tensor(labels), None, soft_label=False, ignore_index=-100, axis=1)
