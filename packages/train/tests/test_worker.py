"""DataLoader with worker processes: order, transport, errors, and that nothing stays behind."""
import contextlib
import gc
import os
import signal
import subprocess
import sys
import textwrap
import time

import numpy as np
import pytest

import wherry_tensor as wt
from wherry_tensor import _core
from wherry_train import io
from wherry_train.io import workers as of_the_loader

pytestmark = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="counts processes and mappings in /proc")


PATIENCE = 120.0  # seconds: nothing takes as long, on a loaded machine neither; what hangs takes longer


@pytest.fixture(autouse=True)
def _forks():
    if _core.devices_against_forks():
        pytest.skip("data sets of this file are local functions, which only a fork takes along; test_workers_and_devices.py starts workers anew")


class From(io.Dataset):
    def __init__(self, function, count=8):
        self.function, self.count = function, count

    def __getitem__(self, index):
        return self.function(index)

    def __len__(self):
        return self.count


class Stream(io.IterableDataset):
    """Numbers that say who made them: worker * 100 + i."""

    def __init__(self, *counts):
        self.counts = counts

    def __iter__(self):
        worker = io.get_worker_info().id
        return iter([worker * 100 + i for i in range(self.counts[worker])])


def loader(function, count=8, **options):
    return io.DataLoader(From(function, count), **{"batch_size": 2, "num_workers": 2, **options})


def children():
    """Processes of this one, also ended ones that nobody waited for."""
    found = []
    for task in os.listdir("/proc/self/task"):
        with open(f"/proc/self/task/{task}/children") as file:
            found += file.read().split()
    return [pid for pid in found if not is_tracker(pid)]


def is_tracker(pid):
    """Whether this is a process that Python itself starts, once, where it does not fork."""
    with open(f"/proc/{pid}/cmdline") as file:
        return "resource_tracker" in file.read()


def segments():
    with open("/proc/self/maps") as maps:
        return sum("wherry_batch" in line for line in maps)


@pytest.fixture(autouse=True)
def nothing_stays():
    before, files = children(), len(os.listdir("/proc/self/fd"))
    yield
    gc.collect()
    assert children() == before
    assert segments() == 0
    assert len(os.listdir("/proc/self/fd")) <= files + 1  # the pipe to Python's resource tracker, once


def image(i):
    return np.full((64, 64, 3), i, "float32"), i


# Batches.


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("workers", [1, 2, 3])
def test_batches_come_in_order_and_whole(shared, workers):
    found = list(loader(image, 11, num_workers=workers, use_shared_memory=shared))
    assert [y.tolist() for _, y in found] == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10]]
    for x, y in found:
        assert x.shape == [len(y), 64, 64, 3]
        assert (x.numpy() == np.broadcast_to(y.numpy()[:, None, None, None], x.shape)).all()


def test_a_slow_worker_does_not_change_the_order():
    def slow(i):
        time.sleep(0.05 * (i % 4 < 2))
        return i

    assert [batch.tolist() for batch in loader(slow)] == [[0, 1], [2, 3], [4, 5], [6, 7]]


@pytest.mark.parametrize("shared", [True, False])
@pytest.mark.parametrize("dtype", ["bool", "int8", "uint8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64"])
def test_every_dtype_travels(dtype, shared):
    def sample(i):
        small = wt.full([3], i, dtype)
        return {"small": small, "large": wt.full([200, 200], i, dtype), "text": f"t{i}", "pair": (i, 1.5)}

    here = list(loader(sample, 4, num_workers=0))
    for expected, found in zip(here, loader(sample, 4, use_shared_memory=shared), strict=True):
        assert found["text"] == expected["text"] and found["pair"][0].tolist() == expected["pair"][0].tolist()
        for name in ("small", "large"):
            assert found[name].dtype is expected[name].dtype and found[name].shape == expected[name].shape
            assert found[name].astype("float64").tolist() == expected[name].astype("float64").tolist()


def test_collate_fn_and_single_samples_in_workers():
    found = list(loader(lambda i: i, 4, collate_fn=lambda samples: (np.ones([100, 100]) * sum(samples), "text")))
    assert [(x.shape, x[0, 0].item(), text) for x, text in found] == [([100, 100], 1.0, "text"), ([100, 100], 5.0, "text")]
    single = list(loader(lambda i: (np.ones([100, 100]) * i, i), 3, batch_size=None))
    assert [(x[0, 0].item(), i) for x, i in single] == [(0.0, 0), (1.0, 1), (2.0, 2)]


def test_fields_of_changing_size_travel():
    sizes = [10, 200, 3, 150, 400, 7, 300, 1]
    found = list(loader(lambda i: (np.full([sizes[i], sizes[i]], i), np.full([90, 90], -i)), batch_size=1))
    for i, (a, b) in enumerate(found):
        assert a.shape == [1, sizes[i], sizes[i]] and (a.numpy() == i).all() and (b.numpy() == -i).all()


def test_a_batch_that_is_kept_is_not_written_over():
    kept = []
    for x, y in loader(image, 40, prefetch_factor=1):
        kept.append((x if len(kept) % 2 else x[1:], y))  # also a view keeps the memory
    for x, y in kept:
        assert (x.numpy()[-1] == y[-1].item()).all()


def test_memory_is_used_again_when_a_batch_is_gone():
    for n, (x, _) in enumerate(loader(image, 200, num_workers=1)):
        if n > 5:
            assert segments() <= 8
        del x


def test_batches_outlive_their_loader():
    found = list(loader(image))
    gc.collect()
    assert [x.sum().item() / x[0].size for x, _ in found] == [1.0, 5.0, 9.0, 13.0]


def test_a_batch_may_be_changed_in_place():
    for x, _ in loader(image):
        x[...] = -1.0
        assert x.mean().item() == -1.0


def test_large_lists_of_indices_do_not_block():
    found = list(loader(lambda i: i, 400_000, batch_size=100_000, num_workers=1, prefetch_factor=4))
    assert [batch.shape for batch in found] == [[100_000]] * 4


# Streams.


def test_each_worker_reads_its_own_stream_and_they_take_turns():
    def read(*counts, **options):
        return [batch.tolist() for batch in io.DataLoader(Stream(*counts), num_workers=2, **{"batch_size": 2, **options})]

    assert read(3, 3) == [[0, 1], [100, 101], [2], [102]]
    assert read(3, 3, drop_last=True) == [[0, 1], [100, 101]]
    assert read(5, 1) == [[0, 1], [100], [2, 3], [4]]
    assert read(0, 4) == [[100, 101], [102, 103]]
    assert read(0, 0) == []


# Workers.


def test_workers_know_who_they_are():
    def ask(i):
        info = io.get_worker_info()
        return np.array([info.id, info.num_workers, len(info.dataset), info.seed >> 32, info.seed & 0xFFFFFFFF])

    found = np.concatenate([batch.numpy() for batch in loader(ask, 4, batch_size=1)])
    assert found[:, 0].tolist() == [0, 1, 0, 1] and set(found[:, 1]) == {2} and set(found[:, 2]) == {4}
    assert len(set(map(tuple, found[:, 3:]))) == 1
    assert io.get_worker_info() is None


def test_workers_compute_on_one_thread_each():
    count = wt.get_num_threads()
    wt.set_num_threads(3)
    try:
        assert [batch.item() for batch in loader(lambda i: np.array(wt.get_num_threads()), 4, batch_size=1)] == [1] * 4
        assert wt.get_num_threads() == 3
    finally:
        wt.set_num_threads(count)


def test_random_numbers_differ_between_workers_and_follow_the_seed():
    import random

    def draw(i):
        return np.array([np.random.randint(1 << 30), random.getrandbits(30), int(wt.randint(0, 1 << 30, [1]))])

    def epoch(seed):
        np.random.seed(seed)
        return np.concatenate([batch.numpy() for batch in loader(draw, 4, batch_size=1)])

    first = epoch(7)
    assert (first == epoch(7)).all() and not (first == epoch(8)).any()
    assert all(len(set(column)) == 4 for column in first.T)


def test_shuffling_draws_what_paddle_draws_with_workers():
    np.random.seed(3)
    found = [batch.tolist() for batch in io.DataLoader(range(10), batch_size=4, shuffle=True, num_workers=2)]
    assert found == [[5, 4, 1, 2], [8, 6, 7, 0], [3, 9]]  # from Paddle 2.6.2


def test_worker_init_fn_runs_first_in_each_worker():
    def prepare(worker):
        os.environ["WHERRY_TEST_WORKER"] = str(worker)

    found = loader(lambda i: int(os.environ["WHERRY_TEST_WORKER"]), 4, batch_size=1, worker_init_fn=prepare)
    assert [batch.item() for batch in found] == [0, 1, 0, 1]


def test_persistent_workers_stay_for_the_next_epoch():
    staying = loader(lambda i: os.getpid(), persistent_workers=True)
    epochs = [{pid for batch in staying for pid in batch.tolist()} for _ in range(3)]
    assert epochs[0] == epochs[1] == epochs[2] and len(epochs[0]) == 2
    passing = loader(lambda i: os.getpid())
    assert not {pid for batch in passing for pid in batch.tolist()} & {pid for batch in passing for pid in batch.tolist()}


def test_an_epoch_that_is_left_does_not_reach_into_the_next():
    staying = loader(image, 12, persistent_workers=True)
    left = iter(staying)
    next(left)
    assert [y.tolist() for _, y in staying] == [[0, 1], [2, 3], [4, 5], [6, 7], [8, 9], [10, 11]]
    with pytest.raises(RuntimeError, match="begun another epoch"):
        next(left)
    streams = io.DataLoader(Stream(3, 3), batch_size=2, num_workers=2, persistent_workers=True)
    next(iter(streams))
    assert [batch.tolist() for batch in streams] == [[0, 1], [100, 101], [2], [102]]


def test_two_loaders_run_side_by_side():
    pairs = zip(loader(image), loader(lambda i: -i), strict=True)
    assert [(y.tolist(), z.tolist()) for (_, y), z in pairs] == [([i, i + 1], [-i, -i - 1]) for i in (0, 2, 4, 6)]


def test_workers_of_other_systems_are_started_anew(monkeypatch):
    monkeypatch.setattr(of_the_loader.sys, "platform", "elsewhere")
    data = io.TensorDataset([wt.arange(6), wt.ones([6, 100, 100])])
    found = list(io.DataLoader(data, batch_size=4, num_workers=1))
    assert [(y.tolist(), x.shape) for y, x in found] == [([0, 1, 2, 3], [4, 100, 100]), ([4, 5], [2, 100, 100])]


# What goes wrong.


class Odd(Exception):
    def __init__(self, a, b):
        super().__init__(a)


def fail(error):
    def sample(i):
        if i == 5:
            raise error
        return image(i)

    return sample


@pytest.mark.parametrize("persistent", [False, True])
def test_an_exception_comes_back_with_its_traceback(persistent):
    found = iter(loader(fail(KeyError("lost")), persistent_workers=persistent))
    assert next(found)[1].tolist() == [0, 1] and next(found)[1].tolist() == [2, 3]
    with pytest.raises(KeyError, match="lost") as caught:
        next(found)
    note = "\n".join(caught.value.__notes__)
    assert "DataLoader worker 0 (pid " in note and "in sample" in note and "raise error" in note
    with pytest.raises(StopIteration):
        next(found)


def test_an_exception_that_cannot_travel_is_told():
    with pytest.raises(RuntimeError, match=r"(?s)can not be sent.*in sample.*Odd"):
        list(loader(fail(Odd(1, 2))))


def test_a_sample_that_cannot_travel_is_told():
    with pytest.raises((AttributeError, TypeError, Exception), match="pickle|lambda"):
        list(loader(lambda i: i, collate_fn=lambda samples: (lambda: 0)))


def test_an_exception_of_worker_init_fn_comes_back():
    def prepare(worker):
        raise OSError("no camera")

    with pytest.raises(OSError, match="no camera"):
        list(loader(image, worker_init_fn=prepare))


def test_an_exception_while_streaming_comes_back():
    class Broken(io.IterableDataset):
        def __iter__(self):
            yield 1
            raise ValueError("end of tape")

    with pytest.raises(ValueError, match="end of tape"):
        list(io.DataLoader(Broken(), num_workers=2))


@pytest.mark.parametrize(
    ("die", "how"),
    [
        (lambda: os.kill(os.getpid(), signal.SIGKILL), "was killed by SIGKILL"),
        (lambda: os.kill(os.getpid(), signal.SIGTERM), "was killed by SIGTERM"),
        (lambda: os._exit(3), "exited with code 3"),
        (lambda: os._exit(0), "exited with code 0"),
    ],
)
@pytest.mark.parametrize("persistent", [False, True])
def test_a_dying_worker_is_reported_at_once(die, how, persistent):
    def sample(i):
        if i == 4:
            die()
        time.sleep(0.01)
        return image(i)

    found = iter(loader(sample, 40, persistent_workers=persistent))
    start = time.monotonic()
    with pytest.raises(RuntimeError, match=rf"workers exit unexpectedly, pids: \d+.*{how}"):
        for _ in found:
            pass
    assert time.monotonic() - start < PATIENCE


def test_a_worker_that_dies_while_nobody_looks_is_reported():
    staying = loader(lambda i: os.getpid(), persistent_workers=True)
    pids = {pid for batch in staying for pid in batch.tolist()}
    os.kill(pids.pop(), signal.SIGKILL)
    time.sleep(0.1)
    with pytest.raises(RuntimeError, match="SIGKILL"):
        list(staying)
    assert len(list(staying)) == 4  # with new workers


def test_a_worker_that_hangs_meets_the_timeout():
    def sample(i):
        if i == 4:
            time.sleep(10 * PATIENCE)
        return i

    start = time.monotonic()
    with pytest.raises(RuntimeError, match="no batch came for 0.5 seconds"):
        list(loader(sample, timeout=0.5))
    assert time.monotonic() - start < PATIENCE


@pytest.mark.parametrize("persistent", [False, True])
def test_an_iterator_that_is_dropped_takes_its_workers_along(persistent):
    dropped = loader(lambda i: (time.sleep(0.01), image(i))[1], 100, persistent_workers=persistent)
    batch = next(iter(dropped))
    start = time.monotonic()
    del dropped
    gc.collect()
    assert time.monotonic() - start < PATIENCE
    assert batch[1].tolist() == [0, 1]
    del batch


def test_breaking_out_of_a_loop_ends_the_workers():
    for _ in loader(image, 100):
        break
    gc.collect()
    assert not children()


# Other programs, which end in other ways.


def program(tmp_path, body):
    path = tmp_path / "program.py"
    path.write_text(
        textwrap.dedent(
            """
            import os, signal, sys, time
            import numpy as np
            from wherry_train import io

            class Slow(io.Dataset):
                def __getitem__(self, i):
                    time.sleep(0.02)
                    return np.full((64, 64, 3), i, "float32")

                def __len__(self):
                    return 10**6

            if __name__ == "__main__":
                # A program that a shell starts in the background ignores it.
                signal.signal(signal.SIGINT, signal.default_int_handler)
                loader = io.DataLoader(Slow(), batch_size=2, num_workers=2, persistent_workers=len(sys.argv) > 1)
                batches = iter(loader)
                next(batches)
                print(*[process.pid for process in batches._workers.processes], flush=True)
            """
        )
        + textwrap.indent(textwrap.dedent(body), "    ")
    )
    return [sys.executable, str(path)]


@contextlib.contextmanager
def running(command, **options):
    """A program, which is killed when it is still there at the end."""
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options) as run:
        try:
            yield run
        finally:
            run.kill()


def gone(pids):
    until = time.monotonic() + PATIENCE
    while time.monotonic() < until:
        if not any(os.path.exists(f"/proc/{pid}") for pid in pids):
            return True
        time.sleep(0.05)
    return False


def test_ctrl_c_ends_everything_with_one_traceback(tmp_path):
    command = program(tmp_path, "for batch in batches: pass")
    with running(command, start_new_session=True) as run:
        pids = run.stdout.readline().split()
        time.sleep(0.2)
        os.killpg(run.pid, signal.SIGINT)
        _, errors = run.communicate(timeout=PATIENCE)
    assert errors.count("Traceback") == 1 and errors.rstrip().endswith("KeyboardInterrupt")
    assert gone(pids)


@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_workers_do_not_outlive_a_program_that_is_killed(tmp_path, number):
    command = program(tmp_path, "other = iter(io.DataLoader(Slow(), num_workers=1))\nnext(other)\nfor batch in batches: pass")
    with running(command) as run:
        pids = run.stdout.readline().split()
        time.sleep(0.3)
        run.send_signal(number)
        run.communicate(timeout=PATIENCE)
    assert gone(pids)


@pytest.mark.parametrize("ending", ["", "sys.exit(0)", "raise ValueError('over')", "os._exit(0)"])
@pytest.mark.parametrize("persistent", [[], ["persistent"]])
def test_a_program_may_end_in_the_middle_of_an_epoch(tmp_path, ending, persistent):
    run = subprocess.run([*program(tmp_path, ending or "pass"), *persistent], capture_output=True, text=True, timeout=PATIENCE)
    assert run.stderr.count("Traceback") == ("raise" in ending)
    assert gone(run.stdout.split())


@pytest.mark.parametrize("workers", [0, 1])
def test_a_sample_that_stops_the_iteration_does_not_end_the_epoch(workers):
    with pytest.raises(RuntimeError, match="raised StopIteration for a sample"):
        list(loader(fail(StopIteration()), num_workers=workers))
    with pytest.raises(RuntimeError, match="raised StopIteration for a sample"):
        list(loader(image, num_workers=workers, collate_fn=lambda samples: next(iter([]))))


def test_a_worker_is_told_that_it_has_no_workers():
    with pytest.raises(RuntimeError, match=r"Got num_workers=1 inside of worker 0 of another DataLoader, expected 0"):
        list(loader(lambda i: next(iter(loader(image, num_workers=1))), num_workers=1))
    inner = loader(lambda i: next(iter(loader(image, num_workers=0)))[1], num_workers=1)
    assert next(iter(inner)).tolist() == [[0, 1], [0, 1]]


def test_the_number_of_workers_has_a_bound():
    for options in ({"num_workers": 2**64 - 1}, {"num_workers": 2000}, {"num_workers": 1, "prefetch_factor": 10**9}):
        with pytest.raises(ValueError, match="is too large.*at most 1024"):
            loader(image, **options)
    for timeout in (float("inf"), float("nan")):
        with pytest.raises(ValueError, match="expected finite seconds"):
            loader(image, timeout=timeout)
