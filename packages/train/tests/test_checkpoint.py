"""A training that is killed at any moment goes on with the numbers of one that is not."""
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

import wherry_nn as nn
from wherry_tensor import rand, to_tensor
from wherry_train import Checkpoint, load, random_state, save, seed_everything, set_random_state
from wherry_train.io import BatchSampler, DataLoader, Dataset, DistributedBatchSampler, IterableDataset
from wherry_train.optimizer import SGD, Momentum
from wherry_train.state import PlainState

PROGRAM = Path(__file__).with_name("resumed_program.py")


def start(kind, folder, log):
    folder.mkdir(exist_ok=True)
    with open(log, "w") as file:
        return subprocess.Popen(
            [sys.executable, PROGRAM, kind, folder], stdout=file, stderr=subprocess.STDOUT,
            start_new_session=True,  # so that the killed one's workers can be ended with it
        )


def digest_of(kind, folder, log):
    code = start(kind, folder, log).wait(timeout=300)
    assert code == 0, log.read_text()
    return log.read_text().splitlines()[-1]


@pytest.mark.slow
@pytest.mark.parametrize("kind", ["loop", "fit", "workers", "load"])
def test_killed_training_ends_with_the_numbers_of_an_undisturbed_one(kind, tmp_path):
    log = tmp_path / "log"
    expected = digest_of(kind, tmp_path / "whole", log)
    draw = random.Random(kind)
    kills = 0
    for _ in range(8):
        process = start(kind, tmp_path / "cut", log)
        while process.poll() is None and not log.stat().st_size:  # until it trains
            time.sleep(0.002)
        time.sleep(draw.uniform(0, 0.15))
        if process.poll() is not None:
            break
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        kills += 1
    assert kills >= 2, log.read_text()
    assert digest_of(kind, tmp_path / "cut", log) == expected


class Numbers(Dataset):
    def __init__(self, count):
        self.count = count
        self.read = []

    def __getitem__(self, index):
        self.read.append(index)
        return np.array([index], "float32")

    def __len__(self):
        return self.count


def numbers_of(batches):
    return [int(n) for batch in batches for n in (batch[0] if isinstance(batch, list) else batch).numpy().ravel()]


def cut_run(loader_of, path, seed=3):
    """The samples of two epochs, and those of the same run restored in the middle of the second."""
    np.random.seed(seed)
    run = Checkpoint(path)
    whole = []
    for epoch in run.epochs(2):
        for batch in run.batches(loader_of()):
            whole += numbers_of([batch])
            if (epoch, run.step) == (1, 2):
                run.save()
                kept = len(whole)
    after = np.random.rand()
    np.random.seed(77)
    again = Checkpoint(path)
    assert again.restore()
    assert (again.epoch, again.step) == (1, 2)
    rest = [n for _ in again.epochs(2) for n in numbers_of(again.batches(loader_of()))]
    assert np.random.rand() == after
    return whole[kept:], rest


def test_the_order_of_an_epoch_goes_on_and_batches_done_are_not_read_again(tmp_path):
    data = Numbers(9)
    expected, rest = cut_run(lambda: DataLoader(data, batch_size=2, shuffle=True), tmp_path / "a")
    assert rest == expected
    assert data.read[-len(rest):] == rest and len(data.read) == 2 * 9 + len(rest)


@pytest.mark.parametrize("place", [(1, 1), (1, 5), (1, "end"), (2, 3)])
def test_a_sampler_that_counts_epochs_goes_on_in_the_right_one(place, tmp_path):
    shared = DistributedBatchSampler(Numbers(9), 2, shuffle=True)
    np.random.seed(0)
    run = Checkpoint(tmp_path / "b")
    whole = []
    for epoch in run.epochs(3):
        for batch in run.batches(DataLoader(shared.dataset, batch_sampler=shared)):
            whole += numbers_of([batch])
            if (epoch, run.step) == place:
                run.save()
                kept = len(whole)
        if (epoch, "end") == place:
            run.save()
            kept = len(whole)
    fresh = DistributedBatchSampler(Numbers(9), 2, shuffle=True)
    again = Checkpoint(tmp_path / "b")
    again.restore()
    rest = [n for _ in again.epochs(3) for n in numbers_of(again.batches(DataLoader(fresh.dataset, batch_sampler=fresh)))]
    assert rest == whole[kept:]


def test_other_iterables_are_read_up_to_the_place(tmp_path):
    class Stream(IterableDataset):
        def __iter__(self):
            return iter(np.random.permutation(8).astype("float32")[:, None])

    expected, rest = cut_run(lambda: DataLoader(Stream(), batch_size=2), tmp_path / "a")
    assert rest == expected
    expected, rest = cut_run(lambda: [to_tensor([float(i)]) for i in range(5)], tmp_path / "b")
    assert rest == expected == [2, 3, 4]


def test_a_batch_sampler_of_ones_own_goes_on(tmp_path):
    class Pairs(BatchSampler):
        def __init__(self):
            pass

        def __iter__(self):
            for _ in range(4):
                yield np.random.permutation(6)[:2].tolist()

        def __len__(self):
            return 4

    # Its numbers are drawn while batches are read, so both runs have to draw at the same moments.
    np.random.seed(1)
    run = Checkpoint(tmp_path / "c")
    loader = DataLoader(Numbers(6), batch_sampler=Pairs())
    whole = []
    for _ in run.epochs(1):
        for batch in run.batches(loader):
            whole += numbers_of([batch])
            if run.step == 3:
                run.save()
    again = Checkpoint(tmp_path / "c")
    again.restore()
    assert [n for _ in again.epochs(1) for n in numbers_of(again.batches(loader))] == whole[6:]


def test_a_run_saved_at_the_end_of_an_epoch_goes_on_with_the_next(tmp_path):
    run = Checkpoint(tmp_path / "run")
    for epoch in run.epochs(3):
        for _ in run.batches([1, 2]):
            pass
        if epoch == 1:
            run.save()
            break
    again = Checkpoint(tmp_path / "run")
    again.restore()
    assert list(again.epochs(3)) == [2]
    assert again.epoch == 3


def test_a_run_that_ends_stays_at_its_end(tmp_path):
    run = Checkpoint(tmp_path / "run")
    for _ in run.epochs(2):
        for _ in run.batches([1]):
            pass
    run.save()
    again = Checkpoint(tmp_path / "run")
    again.restore()
    assert list(again.epochs(2)) == []


def test_objects_and_random_numbers_come_back(tmp_path):
    net = nn.Linear(2, 2)
    optimizer = SGD(0.5, parameters=net.parameters())
    run = Checkpoint(tmp_path / "folder" / "run", net=net, optimizer=optimizer)
    assert not run.restore()
    run.save()
    weight = net.weight.numpy()
    expected = rand([3]).numpy(), np.random.randn(3), random.random()
    net.weight.set_value(np.zeros([2, 2], "float32"))
    assert run.restore()
    np.testing.assert_array_equal(net.weight.numpy(), weight)
    for wanted, found in zip(expected, (rand([3]).numpy(), np.random.randn(3), random.random())):
        np.testing.assert_array_equal(found, wanted)


def test_random_state_is_plain_data_that_brings_all_generators_back():
    np.random.randn()  # leaves a second normal number in store
    state = random_state()
    expected = rand([2]).numpy().tolist(), np.random.randn(), np.random.rand(), random.gauss(0, 1), random.random()
    set_random_state(state)
    assert (rand([2]).numpy().tolist(), np.random.randn(), np.random.rand(), random.gauss(0, 1), random.random()) == expected


def test_saving_leaves_no_other_file(tmp_path):
    run = Checkpoint(tmp_path / "run")
    for _ in range(3):
        run.save()
    assert [path.name for path in tmp_path.iterdir()] == ["run"]


def test_wrong_files_and_objects_are_refused(tmp_path):
    with pytest.raises(TypeError, match="optimizer has no state to keep. Got int"):
        Checkpoint(tmp_path / "run", optimizer=3)
    with pytest.raises(RuntimeError, match="there is no file"):
        Checkpoint().save()
    save({"weight": rand([2])}, str(tmp_path / "weights"))
    with pytest.raises(ValueError, match="is not a checkpoint of a training. Got a dict of .*weight"):
        Checkpoint(tmp_path / "weights").restore()
    Checkpoint(tmp_path / "run", net=nn.Linear(1, 1)).save()
    with pytest.raises(ValueError, match="Got a file with net, expected model"):
        Checkpoint(tmp_path / "run", model=nn.Linear(1, 1)).restore()


def damaged(path, change):
    state = load(path)
    change(state)
    save(state, path)


def replaced(**parts):
    return lambda state: state.update(parts)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (replaced(epoch="3"), "is not a checkpoint"),
        (replaced(objects=[1]), "is not a checkpoint"),
        (lambda state: state.pop("stopped"), "is not a checkpoint"),
        (lambda state: state.update(step=4, at_epoch=None), "is not a checkpoint"),
        (replaced(random={"wherry": [1]}), "the random generators .* does not fit"),
        (lambda state: state["objects"]["net"].update(weight=rand([3, 3])), r"weight of shape \[3, 3\] for \[2, 2\]"),
        (lambda state: state["objects"]["net"].pop("bias"), "nothing for bias"),
        (lambda state: state["objects"]["net"].update(more=rand([1])), "more, which the layer does not have"),
        (lambda state: state["objects"]["counter"].update(seen="many"), "the state of counter .* ValueError"),
        (lambda state: state["objects"].update(counter=None), "the state of counter"),
    ],
)
def test_wrong_content_is_refused_before_anything_is_restored(change, message, tmp_path):
    class Counter:
        seen = 3

        def state_dict(self):
            return {"seen": self.seen}

        def set_state_dict(self, state):
            self.seen = None  # half way
            self.seen = int(state["seen"])

    net, counter = nn.Linear(2, 2), Counter()
    optimizer = Momentum(0.5, parameters=net.parameters())
    net(rand([1, 2])).sum().backward()
    optimizer.step()
    run = Checkpoint(tmp_path / "run", optimizer=optimizer, counter=counter, net=net)
    run.epoch, counter.seen = 7, 8
    run.save()
    run.epoch, counter.seen = 1, 2
    net.weight.set_value(np.ones([2, 2], "float32"))
    net(rand([1, 2])).sum().backward()
    optimizer.step()
    before = [net.weight.tolist(), {k: v.tolist() for k, v in optimizer.state_dict().items()}, counter.seen, run.epoch]
    damaged(tmp_path / "run", change)
    generators = random_state()
    with pytest.raises(ValueError, match=message):
        run.restore()
    assert [net.weight.tolist(), {k: v.tolist() for k, v in optimizer.state_dict().items()}, counter.seen, run.epoch] == before
    assert random_state() == generators


def test_plain_state_takes_data_and_no_methods():
    class Watcher(PlainState):
        def __init__(self):
            self.count = 1
            self.compare = np.greater

        def look(self):
            return "looks"

    watcher = Watcher()
    assert watcher.state_dict() == {"count": 1}
    for name in ("look", "set_state_dict", "__class__", "__dict__", "compare", "no name", 3):
        with pytest.raises(ValueError, match="is not a data attribute of Watcher. Got it as a key, expected any of count"):
            watcher.set_state_dict({"count": 5, name: 2})
    with pytest.raises(ValueError, match="'count' holds more than plain data"):
        watcher.set_state_dict({"count": print})
    assert watcher.count == 1 and watcher.look() == "looks" and watcher.compare is np.greater
    watcher.set_state_dict({"count": 5, "later": [1]})
    assert watcher.count == 5 and watcher.later == [1]


def test_one_seed_for_everything():
    def numbers():
        loader = DataLoader(Numbers(16), batch_size=4, shuffle=True)
        return [rand([2]).tolist(), np.random.rand(), random.random(), numbers_of(loader), nn.Linear(2, 2).weight.tolist()]

    for seed in (0, 5, 2**64 - 1):
        seed_everything(seed)
        first = numbers()
        seed_everything(seed)
        assert numbers() == first
    seed_everything(2**32)
    large = np.random.rand()
    seed_everything(0)
    assert np.random.rand() != large
    for wrong in (-1, 2**64, 1.5, "1", None, True):
        with pytest.raises(TypeError, match="the seed is not an int of 64 bits"):
            seed_everything(wrong)
