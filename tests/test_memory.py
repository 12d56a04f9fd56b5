"""Nothing grows while a training loop runs."""
import gc

import wherry
from wherry_tensor import _core


def resident_bytes() -> int:
    with open("/proc/self/statm") as file:
        return int(file.read().split()[1]) * 4096


def test_training_loop_of_a_hundred_thousand_steps_does_not_grow():
    wherry.seed(0)
    x = wherry.randn([4, 8])
    w = wherry.randn([8, 3])
    w.stop_gradient = False

    def step():
        loss = (wherry.tanh(x @ w) ** 2).mean()
        loss.backward()
        with wherry.no_grad():
            w.subtract_(w.grad * 0.01)
        w.clear_grad()

    def run(steps: int) -> tuple[int, int]:
        for _ in range(steps):
            step()
        gc.collect()
        return resident_bytes(), _core.memory_stats()["allocated"]

    resident, allocated = run(5_000)  # caches fill
    resident_after, allocated_after = run(100_000)
    assert allocated_after <= allocated
    # A page here and there belongs to Python's own allocator; one leaked small object per step would be megabytes.
    assert resident_after - resident < 1_000_000
