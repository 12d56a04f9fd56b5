"""Data sets, and how they combine."""
import numpy as np
import pytest

import wherry_tensor as wt
from wherry_tensor.functions.random import Generator
from wherry_train import io


class Numbers(io.Dataset):
    def __init__(self, count):
        self.count = count

    def __getitem__(self, index):
        if not 0 <= index < self.count:
            raise IndexError(index)
        return index, index * 10

    def __len__(self):
        return self.count


class Stream(io.IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        return iter(range(self.count))


@pytest.mark.parametrize(
    ("use", "error", "message"),
    [
        (lambda: io.Dataset()[0], NotImplementedError, "__getitem__"),
        (lambda: len(io.Dataset()), NotImplementedError, "__len__"),
        (lambda: iter(io.IterableDataset()), NotImplementedError, "__iter__"),
        (lambda: io.IterableDataset()[0], RuntimeError, "should not be called for IterableDataset"),
        (lambda: len(io.IterableDataset()), RuntimeError, "should not be called for IterableDataset"),
        (lambda: io.TensorDataset([wt.ones([2]), wt.ones([3])]), AssertionError, "not have same shape of the 1st dimension"),
        (lambda: io.TensorDataset([wt.to_tensor(1.0)]), TypeError, "no samples"),
        (lambda: io.TensorDataset([]), ValueError, "should not be empty"),
        (lambda: io.TensorDataset(3), TypeError, "are not a list"),
        (lambda: io.ComposeDataset([Numbers(3), Numbers(4)]), AssertionError, "lengths of datasets should be same"),
        (lambda: io.ComposeDataset([Stream(3)]), AssertionError, "with an index"),
        (lambda: io.ComposeDataset([]), AssertionError, "should not be empty"),
        (lambda: io.ChainDataset([Numbers(3)]), AssertionError, "IterableDataset"),
        (lambda: io.ConcatDataset([Stream(3)]), AssertionError, "ChainDataset"),
        (lambda: io.ConcatDataset([Numbers(2)])[5], IndexError, "no sample 5"),
        (lambda: io.ConcatDataset([Numbers(2)])[-5], ValueError, "no sample -5"),
        (lambda: io.random_split(Numbers(5), [2, 2]), ValueError, "add up to 4, expected 5"),
        (lambda: io.random_split(Numbers(5), [2, 3], generator=7), TypeError, "not a generator"),
    ],
)
def test_wrong_use_is_refused_with_a_reason(use, error, message):
    with pytest.raises(error, match=message):
        use()


def test_tensor_dataset_takes_an_entry_of_each_tensor():
    data = io.TensorDataset([wt.to_tensor([[1.0, 2.0], [3.0, 4.0]]), wt.to_tensor([5, 6])])
    x, y = data[1]
    assert len(data) == 2 and x.tolist() == [3.0, 4.0] and y.shape == [] and y.item() == 6


def test_compose_puts_fields_side_by_side():
    assert io.ComposeDataset([Numbers(3), io.Subset("abc", [2, 1, 0])])[1] == (1, 10, "b")


def test_chain_and_concat_put_data_sets_one_after_the_other():
    assert list(io.ChainDataset([Stream(2), Stream(3)])) == [0, 1, 0, 1, 2]
    both = io.ConcatDataset([Numbers(2), Numbers(3)])
    assert [both[i] for i in range(5)] == [(0, 0), (1, 10), (0, 0), (1, 10), (2, 20)] and both[-1] == (2, 20)
    assert list(both) == [both[i] for i in range(len(both))]  # an IndexError ends a for loop
    assert both.cumulative_sizes == io.ConcatDataset.cumsum(both.datasets) == [2, 5]


def test_a_stream_becomes_a_list_although_it_has_no_length():
    assert list(Stream(3)) == [0, 1, 2]


def test_random_split_shares_out_every_sample_and_follows_the_seed():
    wt.seed(3)
    first = io.random_split(Numbers(10), [3, 7])
    wt.seed(3)
    again = io.random_split(Numbers(10), [3, 7])
    assert [len(part) for part in first] == [3, 7]
    assert sorted([*first[0].indices, *first[1].indices]) == list(range(10))
    assert [part.indices for part in first] == [part.indices for part in again]
    assert first[0][0] == (first[0].indices[0], first[0].indices[0] * 10)


def test_random_split_with_a_generator_leaves_the_default_one_alone():
    wt.seed(3)
    expected = wt.rand([2]).tolist()
    wt.seed(3)



    one = io.random_split(Numbers(10), [5, 5], generator=Generator(5))
    assert wt.rand([2]).tolist() == expected
    two = io.random_split(Numbers(10), [5, 5], generator=Generator(5))
    assert one[0].indices == two[0].indices


def test_subset_reads_the_samples_of_its_indices():
    part = io.Subset(Numbers(10), [7, 2])
    assert len(part) == 2 and part[0] == (7, 70)
    with pytest.raises(IndexError):
        part[2]


def test_a_data_set_of_numpy_arrays_is_a_tensor_dataset_too():
    assert io.TensorDataset([np.arange(6).reshape(3, 2)])[1][0].tolist() == [2, 3]
