"""The order of samples. Numbers are those of Paddle 2.6.2, which draws from NumPy's generator as well."""
import numpy as np
import pytest

import wherry_tensor as wt
from wherry_tensor.functions.random import Generator
from wherry_train import io


def test_sequence_sampler_keeps_the_order():
    assert list(io.SequenceSampler("abcd")) == [0, 1, 2, 3] and len(io.SequenceSampler("abcd")) == 4


def test_random_sampler_draws_what_paddle_draws():
    np.random.seed(3)
    assert list(io.RandomSampler(range(10))) == [5, 4, 1, 2, 9, 6, 7, 0, 3, 8]
    np.random.seed(3)
    assert list(io.RandomSampler(range(10), replacement=True, num_samples=7)) == [8, 9, 3, 8, 8, 0, 5]
    assert len(io.RandomSampler(range(10), replacement=True, num_samples=20)) == 20


def test_random_sampler_reads_an_iterator_in_place_of_drawing():
    assert list(io.RandomSampler(range(10), generator=iter([5, 4, 3]))) == [5, 4, 3]


def test_random_sampler_draws_from_a_generator():
    def order(**options):
        return list(io.RandomSampler(range(10), generator=Generator(7), **options))

    assert sorted(order()) == list(range(10)) and order() == order()
    drawn = order(replacement=True, num_samples=50)
    assert drawn == order(replacement=True, num_samples=50) and set(drawn) <= set(range(10)) and len(drawn) == 50


def test_subset_random_sampler_reorders_its_indices():
    assert sorted(io.SubsetRandomSampler([9, 4, 6])) == [4, 6, 9]


def test_weighted_sampler_draws_in_proportion_and_as_numpy():
    np.random.seed(3)
    drawn = list(io.WeightedRandomSampler([0.1, 0.3, 0.6], 5))
    assert drawn == [2, 2, 1, 2, 2]
    np.random.seed(3)
    assert list(io.WeightedRandomSampler(np.array([1.0, 3.0, 6.0]), 2, replacement=False)) == [2, 1]
    assert set(io.WeightedRandomSampler(wt.to_tensor([0.0, 2.0, 0.0]), 4)) == {1}


def test_batch_sampler_groups_and_drops():
    assert list(io.BatchSampler(range(5), batch_size=2)) == [[0, 1], [2, 3], [4]]
    dropping = io.BatchSampler(range(5), batch_size=2, drop_last=True)
    assert list(dropping) == [[0, 1], [2, 3]] and len(dropping) == 2
    np.random.seed(3)
    assert list(io.BatchSampler(range(10), shuffle=True, batch_size=4)) == [[5, 4, 1, 2], [9, 6, 7, 0], [3, 8]]
    assert list(io.BatchSampler(sampler=io.SubsetRandomSampler([4]), batch_size=2)) == [[4]]


@pytest.mark.parametrize("count", [1, 5, 11, 12])
@pytest.mark.parametrize("replicas", [1, 2, 3])
@pytest.mark.parametrize("shuffle", [False, True])
def test_distributed_sampler_shares_out_every_sample_evenly(count, replicas, shuffle):
    parts = [
        [i for batch in io.DistributedBatchSampler(range(count), 2, replicas, rank, shuffle) for i in batch]
        for rank in range(replicas)
    ]
    assert len({len(part) for part in parts}) == 1
    assert {i for part in parts for i in part} == set(range(count))


@pytest.mark.parametrize(
    ("options", "batches"),
    [  # of 11 samples in batches of 4, from Paddle 2.6.2
        ({}, [[0, 1, 2, 3], [4, 5, 6, 7], [8, 9, 10]]),
        ({"num_replicas": 3, "rank": 2}, [[8, 9, 10, 0]]),
        ({"num_replicas": 3, "rank": 1, "drop_last": True}, [[4, 5, 6, 7]]),
        ({"shuffle": True}, [[4, 9, 2, 10], [6, 1, 7, 8], [3, 0, 5]]),
        ({"shuffle": True, "num_replicas": 2, "rank": 0}, [[6, 0, 4, 10], [9, 3]]),
    ],
)
def test_distributed_sampler_has_paddles_batches(options, batches):
    sampler = io.DistributedBatchSampler(range(11), 4, **options)
    assert list(sampler) == batches and len(sampler) == len(batches)


def test_distributed_sampler_reorders_each_epoch_and_follows_set_epoch():
    sampler = io.DistributedBatchSampler(range(11), 4, shuffle=True)
    first, second = list(sampler), list(sampler)
    sampler.set_epoch(0)
    assert first != second and list(sampler) == first
    sampler.set_epoch(7)
    assert list(sampler) == [[8, 5, 0, 2], [1, 10, 7, 3], [6, 9, 4]]


@pytest.mark.parametrize(
    ("make", "error", "message"),
    [
        (lambda: list(io.Sampler("ab")), NotImplementedError, "__iter__"),
        (lambda: io.RandomSampler(3), TypeError, "len"),
        (lambda: io.RandomSampler("ab", replacement=1), TypeError, "expect boolean value"),
        (lambda: io.RandomSampler("ab", num_samples=1), ValueError, "while replacement is False"),
        (lambda: io.RandomSampler("ab", True, 0), ValueError, "positive integer"),
        (lambda: io.WeightedRandomSampler([1.0], 0), ValueError, "positive integer"),
        (lambda: io.WeightedRandomSampler([1.0], 2.5), ValueError, "positive integer"),
        (lambda: io.WeightedRandomSampler([1.0], 2, 1), ValueError, "boolean"),
        (lambda: io.WeightedRandomSampler([1.0, -1.0], 2), AssertionError, "positive value"),
        (lambda: io.WeightedRandomSampler([0.0, 0.0], 2), AssertionError, "not all 0"),
        (lambda: io.WeightedRandomSampler([[1.0]], 2), AssertionError, r"shape \[1, 1\]"),
        (lambda: io.WeightedRandomSampler([1.0, 0.0], 2, False), AssertionError, "less than num_samples"),
        (lambda: io.SubsetRandomSampler([]), ValueError, "greater than 0"),
        (lambda: io.BatchSampler(), AssertionError, "either dataset or sampler"),
        (lambda: io.BatchSampler("ab", io.SequenceSampler("ab")), AssertionError, "not both"),
        (lambda: io.BatchSampler(io.IterableDataset()), AssertionError, "IterableDataset"),
        (lambda: io.BatchSampler("ab", batch_size=0), AssertionError, "positive integer"),
        (lambda: io.BatchSampler("ab", batch_size=1.5), ValueError, "positive integer"),
        (lambda: io.BatchSampler("ab", shuffle=1), AssertionError, "boolean"),
        (lambda: io.BatchSampler("ab", drop_last=1), TypeError, "boolean"),
        (lambda: io.BatchSampler(sampler=3), AssertionError, "Sampler"),
        (lambda: io.BatchSampler(sampler=[0], shuffle=True), AssertionError, "shuffle should be False"),
        (lambda: io.DistributedBatchSampler("ab", 1, 0), AssertionError, "positive integer"),
        (lambda: io.DistributedBatchSampler("ab", 1, 2, 2), AssertionError, r"\[0, 2\)"),
        (lambda: io.DistributedBatchSampler("ab", 1, rank=-1), ValueError, "non-negative"),
    ],
)
def test_wrong_arguments_are_refused_at_once(make, error, message):
    with pytest.raises(error, match=message):
        make()
