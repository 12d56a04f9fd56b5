"""paddle.batch, paddle.reader."""
import os

import pytest

from wherry_train import reader
from wherry_train.reader import ComposeNotAligned


def seven():
    return iter(range(7))


def five():
    return iter(range(5))


def fails():
    yield 1
    raise OSError("disk")


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (reader.batch(seven, 3), [[0, 1, 2], [3, 4, 5], [6]]),
        (reader.batch(seven, 3, drop_last=True), [[0, 1, 2], [3, 4, 5]]),
        (reader.batch(seven, 2.5), [[0, 1], [2, 3], [4, 5], [6]]),
        (reader.compose(seven, seven), [(i, i) for i in range(7)]),
        (reader.compose(lambda: [(1, 2)], five, check_alignment=False), [(1, 2, 0)]),
        (reader.chain(five, lambda: [9]), [0, 1, 2, 3, 4, 9]),
        (reader.firstn(seven, 2), [0, 1]),
        (reader.map_readers(lambda a, b: a + b, seven, five), [0, 2, 4, 6, 8]),
        (reader.buffered(seven, 2), list(range(7))),
        (reader.xmap_readers(lambda x: x * 2, seven, 3, 2, order=True), [0, 2, 4, 6, 8, 10, 12]),
    ],
)
def test_samples_are_paddles_and_can_be_read_twice(made, expected):
    assert list(made()) == expected
    assert list(made()) == expected


def test_shuffled_samples_stay_within_their_stretch():
    samples = list(reader.shuffle(seven, 3)())
    assert [sorted(samples[:3]), sorted(samples[3:6]), samples[6:]] == [[0, 1, 2], [3, 4, 5], [6]]


def test_cached_samples_are_read_once():
    runs = []
    cached = reader.cache(lambda: runs.append(1) or iter([1, 2]))
    assert list(cached()) == list(cached()) == [1, 2]
    assert runs == [1]


def test_threads_and_processes_give_every_sample_once():
    assert sorted(reader.xmap_readers(lambda x: x * 2, seven, 2, 4)()) == [0, 2, 4, 6, 8, 10, 12]
    assert sorted(reader.multiprocess_reader([seven, five])()) == sorted([*range(7), *range(5)])


@pytest.mark.parametrize("made", [reader.buffered(fails, 2), reader.xmap_readers(lambda x: x, fails, 2, 2)])
def test_what_fails_in_a_thread_is_raised_where_samples_are_read(made):
    with pytest.raises(OSError, match="disk"):
        list(made())


def test_what_fails_in_a_process_is_named():
    with pytest.raises(RuntimeError, match="OSError: disk"):
        list(reader.multiprocess_reader([fails])())
    with pytest.raises(RuntimeError, match="ended before it had sent"):
        list(reader.multiprocess_reader([lambda: os._exit(3)])())


def test_readers_of_different_lengths_are_refused():
    with pytest.raises(ComposeNotAligned, match="outputs of readers are not aligned"):
        list(reader.compose(seven, five)())


@pytest.mark.parametrize("size", [0, -1, "a", None])
def test_a_batch_holds_at_least_one_sample(size):
    with pytest.raises(ValueError, match="batch_size should be a positive integer value"):
        reader.batch(seven, size)


def test_a_list_is_no_reader():
    with pytest.raises(TypeError, match="a reader is not callable"):
        reader.chain([1, 2])
