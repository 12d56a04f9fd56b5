"""A step over many parameters is one launch, with the bits that parameter by parameter gives."""
import numpy as np
import pytest

import wherry_tensor
from wherry_nn import clip as nn
from wherry_tensor import ops, to_tensor
from wherry_tensor.cuda_graphs import CUDAGraph
from wherry_tensor.foreach import on_each
from wherry_train import amp, optimizer, regularizer

SIZES = [(3, 5), (64,), (70, 70), (1,), (0,), (4096,), (9000,)]
UPDATES = {
    "SGD": {}, "Momentum": {"momentum": 0.9, "use_nesterov": True, "weight_decay": 0.01},
    "Adam": {"weight_decay": 0.1}, "AdamW": {"weight_decay": 0.1},
    "Adagrad": {"weight_decay": 0.1, "initial_accumulator_value": 0.1}, "Adadelta": {"weight_decay": 0.1}, "Adamax": {"weight_decay": 0.1},
    "RMSProp": {"momentum": 0.9, "weight_decay": 0.1}, "RMSProp, centered": {"centered": True, "momentum": 0.9},
    "Lamb": {}, "Lamb, as long as the rate": {"lamb_weight_decay": 0.0},
}  # fmt: skip


def launches(emulator, call):
    """By kernel, what a call launches."""
    wherry_tensor.device.synchronize("gpu")
    with emulator.measure() as found:
        kept = call()
        wherry_tensor.device.synchronize("gpu")
    del kept
    counts = {}
    for one in found:  # of all types together
        name = one.kernel.removeprefix("void ").removeprefix("wherry::cuda::").partition("<")[0]
        counts[name] = counts.get(name, 0) + one.launches
    return counts


def parameters(device, rng, dtype="float32", sizes=SIZES):
    wherry_tensor.set_device(device)
    made = [to_tensor(rng.standard_normal(shape).astype(dtype), stop_gradient=False) for shape in sizes]
    for one in made:
        one.grad = to_tensor(rng.standard_normal(one.shape).astype(dtype))
    return made


def updating(name, made, **more):
    return getattr(optimizer, name.partition(",")[0])(learning_rate=0.1, parameters=made, **{**UPDATES[name], **more})


def steps(device, name, one_by_one=False, count=2):
    made = parameters(device, np.random.default_rng(4))
    groups = [[one] for one in made] if one_by_one else [made]
    chosen = [updating(name, group) for group in groups]
    for _ in range(count):
        for one in chosen:
            one.step()
    return [one.numpy() for one in made] + [value.numpy() for one in chosen for value in one.state_dict().values() if value.ndim or value.size]


@pytest.mark.parametrize("name", list(UPDATES))
def test_a_step_over_many_parameters_has_the_bits_of_one_by_one(gpu, name):
    n, near = len(SIZES), 1e-6 if "centered" in name else 1e-7  # centered: a difference of what is nearly equal
    together, alone, cpu = steps("gpu", name), steps("gpu", name, one_by_one=True), steps("cpu", name)
    for own, other, expected in zip(together[:n], alone[:n], cpu[:n], strict=True):
        np.testing.assert_array_equal(own, other)
        np.testing.assert_allclose(own, expected, rtol=1e-6, atol=near)


@pytest.mark.parametrize(
    ("name", "count", "expected"),
    [(name, 20, {"update_kernel": 1}) for name in ("SGD", "Momentum", "Adagrad", "Adadelta", "RMSProp", "RMSProp, centered")]
    + [(name, 20, {"update_kernel": 1, "next_powers": 1}) for name in ("Adam", "AdamW", "Adamax")]
    + [("Lamb", 20, dict.fromkeys(("lamb_moments", "lamb_rates", "lamb_update"), 1)), ("SGD", 300, {"update_kernel": 3}),
       ("Lamb", 300, dict.fromkeys(("lamb_moments", "lamb_rates", "lamb_update"), 3))],
)  # fmt: skip
def test_a_step_is_one_launch_for_each_128_parameters(gpu, emulator, name, count, expected):
    made = parameters("gpu", np.random.default_rng(0), sizes=[(k % 7 + 1,) for k in range(count)])
    chosen = updating(name, made)
    chosen.step()  # which makes the accumulators
    assert launches(emulator, chosen.step) == expected


@pytest.mark.parametrize("name", list(UPDATES))
def test_clipping_penalties_rates_and_groups_mean_what_they_mean_on_the_cpu(gpu, name):
    def trained(device):
        made = parameters(device, np.random.default_rng(1), sizes=[(40,), (3, 5), (9,), (64,), (7,), (130,)])
        made[1].optimize_attr, made[1].regularizer = {"learning_rate": 0.5}, None
        made[2].optimize_attr, made[2].regularizer = {"learning_rate": 1.0}, regularizer.L1Decay(0.1)
        made[3].need_clip = False
        groups = [{"params": made[:4]}, {"params": made[4:], "learning_rate": 0.25, "weight_decay": 0.2}]
        chosen = updating(name, groups if "Lamb" not in name else made, grad_clip=nn.ClipGradByGlobalNorm(1.0))
        for _ in range(3):
            chosen.step()
        return [one.numpy() for one in made]

    near = 1e-5 if "centered" in name else 1e-6
    for own, expected in zip(trained("gpu"), trained("cpu"), strict=True):
        np.testing.assert_allclose(own, expected, rtol=1e-5, atol=near)


@pytest.mark.parametrize("name", ["Momentum", "AdamW", "Lamb"])
def test_masters_of_half_parameters_are_updated_in_one_launch(gpu, emulator, name):
    found = {}
    for device in "cpu", "gpu":
        made = parameters(device, np.random.default_rng(2), "float16")
        chosen = updating(name, made, multi_precision=True)
        chosen.step()
        if device == "gpu":
            update = "lamb_update" if name == "Lamb" else "update_kernel"
            assert launches(emulator, chosen.step)[update] == 1
        else:
            chosen.step()
        found[device] = [one.numpy() for one in [*made, *chosen.state_dict()["master_weights"].values()]]
    for own, expected in zip(found["gpu"], found["cpu"], strict=True):
        near = 1e-3 if own.dtype == np.float16 else 1e-6
        np.testing.assert_allclose(own, expected, rtol=near, atol=near)


@pytest.mark.parametrize("name", ["Adamax", "Lamb"])
def test_a_captured_step_has_the_same_bits(gpu, name):
    found = []
    for captured in True, False:
        made = parameters("gpu", np.random.default_rng(3))
        chosen = updating(name, made)
        chosen.step()
        if captured:
            graph = CUDAGraph()
            graph.capture_begin()
            chosen.step()
            graph.capture_end()
        for _ in range(2):
            graph.replay() if captured else chosen.step()
        found.append([one.numpy() for one in made])
    for own, expected in zip(*found, strict=True):
        np.testing.assert_array_equal(own, expected)


def test_calls_that_meet_in_memory_stay_in_their_order(gpu, emulator):
    for device in "gpu", "cpu":
        wherry_tensor.set_device(device)
        a, b, g = (to_tensor(np.full(40, value, "float32")) for value in (1, 2, 4))
        ops.sgd.each_into(([a, a, b],), ([a, a, b], [g, g, a], to_tensor(np.array(0.5, "float32"))), (0.0,))  # twice the same, then its result
        assert (a.numpy() == -3).all() and (b.numpy() == 3.5).all()


def test_gradients_that_are_no_rows_of_memory_are_copied_first(gpu):
    wherry_tensor.set_device("gpu")
    whole = np.arange(24, dtype="float32").reshape(4, 6)
    params = [to_tensor(np.zeros((6, 4), "float32")) for _ in range(5)]
    grads = [to_tensor(whole + k).transpose([1, 0]) for k in range(5)]
    ops.sgd.each_into((params,), (params, grads, to_tensor(np.array(-1, "float32"))), (0.0,))
    for k, one in enumerate(params):
        np.testing.assert_array_equal(one.numpy(), (whole + k).T)


@pytest.mark.parametrize(("narrow", "wide"), [("float16", "float32"), ("bfloat16", "float32"), ("float32", "float32"), ("float64", "float64")])
def test_casts_and_products_of_many_tensors_are_one_launch_with_the_bits_of_one_by_one(gpu, emulator, narrow, wide):
    if narrow not in ops.cast.kernel_dtypes("gpu"):
        pytest.skip("these kernels were compiled without bfloat16, which is computed as float16 is: WHERRY_CUDA_ALL_DTYPES=1 compiles it")
    rng = np.random.default_rng(5)
    special = np.array([np.nan, np.inf, -np.inf, -0.0, 6e-8, 65504, 1e-30], "float32")
    given = [to_tensor(x).astype(narrow) for x in [*(rng.standard_normal(shape).astype("float32") for shape in SIZES), special]]
    factor = to_tensor(np.array(1 / 3, wide))
    from_narrow, to_narrow = (getattr(wherry_tensor, dtype) for dtype in (wide, narrow))
    products = on_each(ops.cast, given, attrs=(from_narrow,), dtype=from_narrow)

    def there_and_back():
        ops.multiply.each_into((products,), (products, factor), ())
        return on_each(ops.cast, products, attrs=(to_narrow,), dtype=to_narrow)

    alone = [ops.cast(ops.multiply(one, factor), dtype=to_narrow) for one in products]
    together = there_and_back()
    for own, other, start in zip(together, alone, given, strict=True):
        np.testing.assert_array_equal(own.numpy(), other.numpy())
        on_cpu = ops.multiply(start.cpu().astype(wide), factor.cpu()).astype(narrow)
        np.testing.assert_array_equal(own.numpy(), on_cpu.numpy())
    if narrow != wide:
        assert launches(emulator, there_and_back) == {"scale_kernel": 2}


def test_products_that_meet_in_memory_stay_in_their_order(gpu):
    for device in "gpu", "cpu":
        wherry_tensor.set_device(device)
        a, b, c = (to_tensor(np.full(40, value, "float32")) for value in (1, 2, 3))
        by = to_tensor(np.array([4], "float32"))
        ops.multiply.each_into(([b, c, by, c],), ([a, b, by, c], [by, by, by, by]), ())  # c reads b, the last c the square of 4
        assert (b.numpy() == 4).all() and by.numpy() == 16 and (c.numpy() == 16 * 16).all()


def test_what_goes_alone_comes_after_what_was_kept(gpu):
    for device in "gpu", "cpu":
        wherry_tensor.set_device(device)
        first, turned, half = to_tensor(np.full((3, 4), 2, "float32")), to_tensor(np.zeros((4, 3), "float32")), to_tensor(np.zeros(1, "float16"))
        rate = to_tensor(np.array([1], "float32"))
        by = to_tensor(np.array(3, "float32"))
        ops.multiply.each_into(([first, turned],), ([first, first.transpose([1, 0])], by), ())
        assert (first.numpy() == 6).all() and (turned.numpy() == 18).all()
        # The second step goes by the rate that the first one has made.
        ops.sgd.each_into(([rate, half],), ([rate, half], [rate, to_tensor(np.ones(1, "float16"))], [by, rate]), (0.0,))
        assert rate.numpy() == -2 and half.numpy() == 2


@pytest.mark.parametrize("dtype", ["float16", "float32"])
def test_a_scaler_divides_all_gradients_in_a_few_launches(gpu, emulator, dtype):
    found = {}
    for device in "cpu", "gpu":
        made = parameters(device, np.random.default_rng(6), dtype)
        chosen, scaler = optimizer.SGD(learning_rate=0.1, parameters=made), amp.GradScaler(init_loss_scaling=4.0)

        def divide(scaler=scaler, chosen=chosen):
            scaler.unscale_(chosen)

        if device == "gpu":
            assert launches(emulator, divide)["scale_kernel"] == (3 if dtype == "float16" else 1)
        else:
            divide()
        found[device] = [one.grad.numpy() for one in made]
        made[-1].grad = to_tensor(np.full(9000, np.inf, dtype))
        before = made[0].numpy()
        scaler.update()
        scaler.step(chosen)
        np.testing.assert_array_equal(made[0].numpy(), before)  # skipped
    for own, expected in zip(found["gpu"], found["cpu"], strict=True):
        np.testing.assert_array_equal(own, expected)


@pytest.mark.parametrize("way", [nn.ClipGradByGlobalNorm(1.0), nn.ClipGradByNorm(0.5)])
def test_gradients_are_shortened_in_one_launch(gpu, emulator, way):
    found = {}
    for device in "cpu", "gpu":
        made = parameters(device, np.random.default_rng(7))
        made[2].need_clip = False
        pairs = [(one, one.grad) for one in made]
        if device == "gpu":
            assert launches(emulator, lambda pairs=pairs: way(pairs))["scale_kernel"] == 1
        found[device] = [grad.numpy() for _, grad in way(pairs)]
    for own, expected in zip(found["gpu"], found["cpu"], strict=True):
        np.testing.assert_allclose(own, expected, rtol=1e-6)


def test_results_beside_and_other_dtypes_among_them_are_right_too(gpu):
    wherry_tensor.set_device("gpu")
    dtypes = "float32", "float64", "float32", "float16"
    params, grads = ([to_tensor(np.ones(8, dtype)) for dtype in dtypes] for _ in range(2))
    outs = [params[0], params[1], to_tensor(np.zeros(8, "float32")), params[3]]
    ops.sgd.each_into((outs,), (params, grads, to_tensor(np.array(0.5, "float32"))), (0.0,))
    assert [float(one.numpy()[0]) for one in outs] == [0.5] * 4
    assert params[2].numpy()[0] == 1


def test_what_a_step_asks_of_memory_is_what_it_has_to(gpu, emulator):
    made = parameters("gpu", np.random.default_rng(0), sizes=[(512, 16)] * 8)
    chosen = optimizer.Adam(learning_rate=0.1, parameters=made)
    chosen.step()
    wherry_tensor.device.synchronize("gpu")
    with emulator.measure() as found:
        chosen.step()
        wherry_tensor.device.synchronize("gpu")
    update = next(one for one in found if "update_kernel" in one.kernel)
    moved, least = 32 * (update.loads.sectors + update.stores.sectors), 7 * 4 * 8 * 512 * 16
    assert moved <= 1.02 * least
    assert update.loads.least / update.loads.sectors > 0.99
