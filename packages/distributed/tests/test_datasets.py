"""Data sets of text files, and programs that write their lines."""
import io
import sys
from types import SimpleNamespace

import numpy as np
import pytest

import wherry_distributed as dist
from wherry_distributed.data_generator import MultiSlotDataGenerator, MultiSlotStringDataGenerator
from wherry_distributed.datasets import Sequences
from wherry_tensor import float32, int64

VARIABLES = [
    SimpleNamespace(name="label", dtype=int64, lod_level=0, shape=[-1, 1]), SimpleNamespace(name="dense", dtype=float32, lod_level=0, shape=[-1, 2]),
    SimpleNamespace(name="ids", dtype=int64, lod_level=1, shape=[-1, 1]),
]


def make(kind, folder, texts, **options):
    paths = []
    for i, text in enumerate(texts):
        path = folder / f"part-{i}"
        path.write_text(text)
        paths.append(str(path))
    dataset = kind()
    dataset.init(**{"batch_size": 2, "use_var": VARIABLES, **options})
    dataset.set_filelist(paths)
    return dataset


TEXTS = ["1 1 2 0.5 0.25 3 7 8 9\n1 0 2 1.5 1.25 1 4\n", "1 1 2 2.5 2.25 2 5 6\n"]


def test_batches_are_feeds(tmp_path):
    feeds = list(make(dist.QueueDataset, tmp_path, TEXTS))
    assert [feed["label"].tolist() for feed in feeds] == [[[1], [0]], [[1]]]
    assert feeds[0]["dense"].dtype == np.float32 and feeds[1]["dense"].tolist() == [[2.5, 2.25]]
    ids = feeds[0]["ids"]
    assert isinstance(ids, Sequences) and ids.values.tolist() == [[7], [8], [9], [4]] and ids.lengths == [3, 1]


def test_a_pipe_command_makes_the_lines(tmp_path):
    found = list(make(dist.QueueDataset, tmp_path, ["x 1\ny 0\n"], pipe_command="awk '{print 1, $2, 2, 0.5, NR, 1, 3}'", batch_size=8))
    assert found[0]["label"].tolist() == [[1], [0]] and found[0]["dense"].tolist() == [[0.5, 1], [0.5, 2]]
    with pytest.raises(OSError, match=r"exit status 3 of 'exit 3'.*Run it by hand"):
        list(make(dist.QueueDataset, tmp_path, TEXTS, pipe_command="exit 3"))


@pytest.mark.parametrize("line, message", [
    ("1 x 2 0.5 0.25 1 7", "'label'.*line 1"), ("1 1 3 0.5 0.25 1 1 7", "'dense'.*expected 2 values"), ("1 1 2 0.5 0.25 0", "'ids'.*one or more"),
    ("1 1 2 0.5 0.25 1 7 8", "more fields than use_var. Got 8 words"), ("1 1", "'dense'"), ("1 99999999999999999999 2 0.5 0.25 1 7", "'label'"),
])
def test_a_line_that_does_not_fit_is_named(line, message, tmp_path):
    dataset = make(dist.InMemoryDataset, tmp_path, [line + "\n"])
    with pytest.raises(ValueError, match=message):
        dataset.load_into_memory()
    assert dataset.get_memory_data_size() == 0


def test_samples_are_shuffled_in_memory(tmp_path):
    text = "".join(f"1 {i} 2 {i} {i} 1 {i}\n" for i in range(50))
    dataset = make(dist.InMemoryDataset, tmp_path, [text], batch_size=50)
    dataset.preload_into_memory()
    dataset.wait_preload_done()
    dataset.local_shuffle()
    (feed,) = dataset
    labels = feed["label"][:, 0]
    assert sorted(labels) == list(range(50)) and list(labels) != sorted(labels) and np.array_equal(feed["dense"][:, 1], labels)
    dataset.slots_shuffle(["ids"])
    (feed,) = dataset
    assert sorted(feed["ids"].values[:, 0]) == list(range(50)) and not np.array_equal(feed["ids"].values[:, 0], feed["label"][:, 0])
    dataset.global_shuffle()
    assert dataset.get_shuffle_data_size() == dataset.get_memory_data_size() == 50
    dataset.release_memory()
    assert list(dataset) == []


def test_mistakes_are_named(tmp_path):
    dataset = dist.InMemoryDataset()
    for options, text in [({"batch": 3}, "no setting batch"), ({"batch_size": 0}, "batch_size is not a positive int")]:
        with pytest.raises(ValueError, match=text):
            dataset.init(**options)
    with pytest.raises(NotImplementedError, match="input_type=1"):
        dataset.init(input_type=1)
    with pytest.raises(ValueError, match="the files are a list"):
        dataset.set_filelist("a")
    dataset.init(use_var=VARIABLES)
    dataset.set_filelist([str(tmp_path / "none")])
    with pytest.raises(ValueError, match="cannot be read"):
        dataset.load_into_memory()
    with pytest.raises(RuntimeError, match="nothing is being loaded"):
        dataset.wait_preload_done()
    dataset.preload_into_memory()
    with pytest.raises(ValueError, match="cannot be read"):
        dataset.wait_preload_done()
    with pytest.raises(ValueError, match="YYYYMMDD"):
        dataset.set_date("2021")
    with pytest.raises(ValueError, match="no such field. Got 'x'"):
        dataset.slots_shuffle(["x"])
    with pytest.raises(NotImplementedError, match="deep matching"):
        dataset.tdm_sample("tree")


def test_generators_write_the_lines(monkeypatch, capsys):
    class Words(MultiSlotDataGenerator):
        def generate_sample(self, line):
            words = [int(x) for x in line.split()]
            return lambda: iter([[("words", words[:-1]), ("label", words[-1:])]])

    monkeypatch.setattr(sys, "stdin", io.StringIO("1 2 3\n4 5 6 7\n"))
    Words().run_from_stdin()
    assert capsys.readouterr().out == "2 1 2 1 3\n3 4 5 6 1 7\n"  # as Paddle 2.6 writes them
    texts = MultiSlotStringDataGenerator()
    texts.generate_sample = lambda line: lambda: iter([[("w", ["a", "b"])], None])
    texts.run_from_memory()
    assert capsys.readouterr().out == "2 a b\n"
    wrong = [([("w", [])], "can not be empty"), ("w", "must be in list or tuple"), ([("w", "a")], "a pair"), ([("w", ["a"])], "ints or floats")]
    for sample, text in wrong:
        with pytest.raises(ValueError, match=text):
            MultiSlotDataGenerator()._gen_str(sample)
    generator = MultiSlotDataGenerator()
    generator._gen_str([("a", [1])])
    with pytest.raises(ValueError, match="others than before"):
        generator._gen_str([("b", [1])])
    with pytest.raises(NotImplementedError, match="rewrite"):
        MultiSlotDataGenerator().generate_sample("x")
