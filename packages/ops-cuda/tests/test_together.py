"""A step over many parameters is one launch, with the bits that parameter by parameter gives."""
import numpy as np
import pytest

import wherry_tensor
from wherry_tensor import ops, to_tensor
from wherry_train import optimizer

SIZES = [(3, 5), (64,), (70, 70), (1,), (0,), (4096,), (9000,)]
UPDATES = {
    "SGD": {}, "Momentum": {"momentum": 0.9, "use_nesterov": True, "weight_decay": 0.01},
    "Adam": {"weight_decay": 0.1}, "AdamW": {"weight_decay": 0.1},
}  # fmt: skip


def launches(emulator, call):
    """By kernel, what a call launches."""
    wherry_tensor.device.synchronize("gpu")
    with emulator.measure() as found:
        kept = call()
        wherry_tensor.device.synchronize("gpu")
    del kept
    return {one.kernel.removeprefix("void ").removeprefix("wherry::cuda::").partition("<")[0]: one.launches for one in found}


def parameters(device, rng, dtype="float32", sizes=SIZES):
    wherry_tensor.set_device(device)
    made = [to_tensor(rng.standard_normal(shape).astype(dtype), stop_gradient=False) for shape in sizes]
    for one in made:
        one.grad = to_tensor(rng.standard_normal(one.shape).astype(dtype))
    return made


def steps(device, name, one_by_one=False, count=2):
    made = parameters(device, np.random.default_rng(4))
    groups = [[one] for one in made] if one_by_one else [made]
    chosen = [getattr(optimizer, name)(learning_rate=0.1, parameters=group, **UPDATES[name]) for group in groups]
    for _ in range(count):
        for one in chosen:
            one.step()
    return [one.numpy() for one in made] + [value.numpy() for one in chosen for value in one.state_dict().values() if value.ndim or value.size]


@pytest.mark.parametrize("name", list(UPDATES))
def test_a_step_over_many_parameters_has_the_bits_of_one_by_one(gpu, name):
    n = len(SIZES)
    together, alone, cpu = steps("gpu", name), steps("gpu", name, one_by_one=True), steps("cpu", name)
    for own, other, expected in zip(together[:n], alone[:n], cpu[:n], strict=True):
        np.testing.assert_array_equal(own, other)
        np.testing.assert_allclose(own, expected, rtol=1e-6, atol=1e-7)


@pytest.mark.parametrize(
    ("name", "count", "expected"),
    [("SGD", 20, {"update_kernel": 1}), ("Momentum", 20, {"update_kernel": 1}), ("Adam", 20, {"update_kernel": 1, "next_powers": 1}),
     ("AdamW", 20, {"update_kernel": 1, "next_powers": 1}), ("SGD", 300, {"update_kernel": 3})],
)  # fmt: skip
def test_a_step_is_one_launch_for_each_128_parameters(gpu, emulator, name, count, expected):
    made = parameters("gpu", np.random.default_rng(0), sizes=[(k % 7 + 1,) for k in range(count)])
    chosen = getattr(optimizer, name)(learning_rate=0.1, parameters=made)
    chosen.step()  # which makes the accumulators
    assert launches(emulator, chosen.step) == expected


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
