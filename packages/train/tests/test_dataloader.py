"""DataLoader in this process: batches, their order, and what is refused."""
from collections import namedtuple

import numpy as np
import pytest

import wherry_tensor as wt
from wherry_train import io

Pair = namedtuple("Pair", "a b")


class From(io.Dataset):
    """Samples made by a function of the index."""

    def __init__(self, function, count=3):
        self.function, self.count = function, count

    def __getitem__(self, index):
        return self.function(index)

    def __len__(self):
        return self.count


class Stream(io.IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        return iter(range(self.count))


def batches(function, count=3, **options):
    return list(io.DataLoader(From(function, count), **{"batch_size": 2, **options}))


def kind(x):
    """Shape and dtype of tensors, in whatever they stand in."""
    if isinstance(x, wt.Tensor):
        return (x.shape, x.dtype.name)
    if isinstance(x, dict):
        return {key: kind(value) for key, value in x.items()}
    return [kind(value) for value in x] if isinstance(x, (list, tuple)) else x


@pytest.mark.parametrize(
    ("sample", "first"),
    [  # what Paddle 2.6.2 makes of two samples
        (lambda i: (np.ones(2, "float32"), i), [([2, 2], "float32"), ([2], "int64")]),
        (lambda i: np.ones(2, "float32"), ([2, 2], "float32")),
        (lambda i: i, ([2], "int64")),
        (lambda i: 1.5, ([2], "float64")),
        (lambda i: [1, 2.5][i % 2], ([2], "float64")),
        (lambda i: True, ([2], "bool")),
        (lambda i: 1j, ([2], "complex128")),
        (lambda i: np.float32(i), ([2], "float32")),
        (lambda i: np.int32(i), ([2], "int32")),
        (lambda i: np.ones(()), ([2], "float64")),
        (lambda i: np.ones((2, 2), "uint8"), ([2, 2, 2], "uint8")),
        (lambda i: wt.to_tensor([1.0, 2.0]), ([2, 2], "float32")),
        (lambda i: wt.to_tensor(1), ([2], "int64")),
        (lambda i: wt.ones([2], "bfloat16"), ([2, 2], "bfloat16")),
        (lambda i: {"a": i, "b": [np.ones(2), 1.0]}, {"a": ([2], "int64"), "b": [([2, 2], "float64"), ([2], "float64")]}),
        (lambda i: Pair(1, 2.0), [([2], "int64"), ([2], "float64")]),
        (lambda i: ("text", 1), [["text", "text"], ([2], "int64")]),
        (lambda i: ((1, (2.0, "a")), [3]), [[([2], "int64"), [([2], "float64"), ["a", "a"]]], [([2], "int64")]]),
    ],
)
def test_fields_are_stacked(sample, first):
    assert kind(batches(sample)[0]) == first


def test_values_stand_where_they_belong():
    x, y = batches(lambda i: (np.full([2, 2], i, "float32"), i * i), batch_size=3)[0]
    assert x[:, 0, 1].tolist() == [0.0, 1.0, 2.0] and y.tolist() == [0, 1, 4]
    strided = batches(lambda i: np.arange(6).reshape(2, 3).T + i)[0]
    assert strided[1].tolist() == (np.arange(6).reshape(2, 3).T + 1).tolist()


def test_a_batch_shares_no_memory_with_the_data_set():
    data = np.zeros([4, 2])
    for options in ({"batch_size": None}, {"collate_fn": lambda samples: samples[0]}):
        batch = next(iter(io.DataLoader(list(data), **options)))
        batch[...] = 7
    assert not data.any()


def test_samples_without_a_batch_become_tensors_where_they_are_arrays():
    assert kind(batches(lambda i: (np.ones(2), i, "t"), batch_size=None)) == [[([2], "float64"), i, "t"] for i in range(3)]


def test_gradients_do_not_flow_into_the_data_set():
    weight = wt.ones([2])
    weight.stop_gradient = False
    assert batches(lambda i: weight)[0].stop_gradient


def test_collate_fn_replaces_stacking():
    assert kind(batches(lambda i: i, collate_fn=lambda samples: np.array(samples, "int64"))) == [([2], "int64"), ([1], "int64")]
    for made in ((np.ones(2), 3), Pair(np.ones(2), 3)):
        assert kind(batches(lambda i: i, collate_fn=lambda samples, made=made: made)[0]) == [([2], "float64"), 3]
    found = batches(lambda i: i, collate_fn=lambda samples: {"x": np.array(samples, "int64"), "s": "s"})
    assert kind(found[0]) == {"x": ([2], "int64"), "s": "s"}
    assert batches(lambda i: i, collate_fn=sum) == [1, 2]


@pytest.mark.parametrize("data", [[1, 2, 3], range(1, 4), np.array([1, 2, 3]), wt.to_tensor([1, 2, 3])])
def test_anything_with_items_and_a_length_is_a_data_set(data):
    assert [batch.tolist() for batch in io.DataLoader(data, batch_size=2)] == [[1, 2], [3]]


def test_order_and_length_are_those_of_the_sampler():
    np.random.seed(3)
    loader = io.DataLoader(range(10), batch_size=4, shuffle=True)
    assert [batch.tolist() for batch in loader] == [[5, 4, 1, 2], [9, 6, 7, 0], [3, 8]] and len(loader) == 3
    assert len(io.DataLoader(range(10), batch_size=4, drop_last=True)) == 2
    given = io.DataLoader(range(10), batch_sampler=[[0, 9], (4,)])
    assert [batch.tolist() for batch in given] == [[0, 9], [4]] and len(given) == 2
    assert [batch.tolist() for batch in given()] == [[0, 9], [4]]  # Paddle's loaders are called, too


def test_streams_are_read_to_their_end():
    assert [batch.tolist() for batch in io.DataLoader(Stream(5), batch_size=2)] == [[0, 1], [2, 3], [4]]
    assert [batch.tolist() for batch in io.DataLoader(Stream(5), batch_size=2, drop_last=True)] == [[0, 1], [2, 3]]
    assert list(io.DataLoader(Stream(3), batch_size=None)) == [0, 1, 2]
    with pytest.raises(ValueError, match="length of IterableDataset not supported"):
        len(io.DataLoader(Stream(3)))


@pytest.mark.parametrize(
    ("sample", "error", "message"),
    [
        (lambda i: None, TypeError, "batch data can only contain.* NoneType"),
        (lambda i: {1}, TypeError, "Got set"),
        (lambda i: np.ones(i + 1), ValueError, r"shape \[2\] and dtype float64 in sample 1 and .*shape \[1\]"),
        (lambda i: wt.ones([i + 1]), ValueError, r"Tensor of shape \[2\]"),
        (lambda i: [1] * (i + 1), ValueError, "list of length 2 in sample 1"),
        (lambda i: {"a": 1} if i == 0 else {"b": 1}, ValueError, r"keys \['b'\] in sample 1"),
        (lambda i: [1, "a"][i % 2], ValueError, "text 'a' in sample 1"),
        (lambda i: np.array("a"), TypeError, "dtype <U1"),
        (lambda i: np.array([None]), TypeError, "dtype object"),
    ],
)
def test_samples_that_make_no_batch_are_named(sample, error, message):
    with pytest.raises(error, match=message):
        batches(sample)


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"num_workers": -1}, AssertionError, "non-negative value"),
        ({"num_workers": "a"}, TypeError, "num_workers is a number"),
        ({"timeout": -1}, AssertionError, "non-negative value"),
        ({"prefetch_factor": 0}, AssertionError, "positive value"),
        ({"batch_size": 0}, AssertionError, "None or a positive value"),
        ({"batch_size": 1.5}, AssertionError, "positive value"),
        ({"collate_fn": 3}, TypeError, "collate_fn is not callable"),
        ({"worker_init_fn": 3}, TypeError, "worker_init_fn is not callable"),
        ({"places": 3}, ValueError, "not a place"),
        ({"batch_size": 2, "batch_sampler": [[0]]}, AssertionError, "should not be set when batch_sampler is given"),
        ({"shuffle": True, "batch_sampler": [[0]]}, AssertionError, "should not be set when batch_sampler is given"),
        ({"dataset": Stream(3), "shuffle": True}, ValueError, "not support shuffle"),
        ({"dataset": Stream(3), "batch_sampler": [[0]]}, ValueError, "not support batch_sampler"),
        ({"dataset": iter("abc")}, TypeError, "this is not a data set"),
        ({"shuffle": 1}, TypeError, "shuffle should be a boolean"),
    ],
)
def test_wrong_arguments_are_refused_at_once(options, error, message):
    with pytest.raises(error, match=message):
        io.DataLoader(**{"dataset": [1, 2, 3], **options})


def test_there_is_no_worker_in_this_process():
    assert io.get_worker_info() is None


def test_from_generator_reads_samples_lists_and_batches():
    def samples():
        for i in range(5):
            yield np.full([2], i), i

    make = io.DataLoader.from_generator
    assert [y.tolist() for _, y in make().set_sample_generator(samples, 2)] == [[0, 1], [2, 3]]
    assert [y.tolist() for _, y in make().set_sample_generator(samples, 2, drop_last=False)] == [[0, 1], [2, 3], [4]]
    assert [y.tolist() for _, y in make(drop_last=False).set_sample_generator(samples, 4)()] == [[0, 1, 2, 3], [4]]
    lists = make().set_sample_list_generator(lambda: [[(1, 2.0), (3, 4.0)]])
    assert [[field.tolist() for field in batch] for batch in lists] == [[[1, 3], [2.0, 4.0]]]
    whole = make().set_batch_generator(lambda: [(np.ones([2, 2]), wt.zeros([2]))])
    assert [[field.shape for field in batch] for batch in whole] == [[[2, 2], [2]]]
    assert len(list(whole)) == 1  # each epoch calls the function again
    with pytest.raises(RuntimeError, match="nothing to read"):
        iter(make())
    with pytest.raises(RuntimeError, match="iterable=False"):
        make(iterable=False)
    for call in (make().start, make().reset):
        with pytest.raises(RuntimeError, match="loaders that a program reads"):
            call()
    with pytest.raises(TypeError, match="reader is not callable"):
        make().set_batch_generator([1])
    with pytest.raises(TypeError, match="QueueDataset"):
        io.DataLoader.from_dataset([1], None)
