"""Checkpoints of several processes."""
import json
import os

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_distributed import load_state_dict, save_state_dict, training_state
from wherry_train import load
from wherry_train.optimizer import Adam
from wherry_train.optimizer.lr import StepDecay


def test_any_number_of_processes_goes_on_from_what_another_number_has_saved(launch, tmp_path):
    _, logs = launch("checkpoints.py", "save", tmp_path, count=4)
    assert all(log.endswith(f"all right {rank}\n") for rank, log in enumerate(logs))
    _, logs = launch("checkpoints.py", "load", tmp_path, count=2)
    assert all(log.endswith(f"all right {rank}\n") for rank, log in enumerate(logs))
    whole = load(str(tmp_path / "tensor and stages"))  # all of it in this process
    assert whole["step"] == 3 and whole["extra"].dtype == wt.bfloat16 and whole["extra"].tolist() == [1.5, 2.0]
    assert whole["model"]["1.up.weight"].shape == [8, 32] and whole["optimizer"]["1.up.weight.moment1"].shape == [8, 32]
    assert whole["optimizer"]["LR_Scheduler"]["last_epoch"] == 3


@pytest.mark.slow
def test_eight_processes_go_on_from_four(launch, tmp_path):
    launch("checkpoints.py", "save", tmp_path, count=4)
    _, logs = launch("checkpoints.py", "load", tmp_path, count=8)
    assert all(log.endswith(f"all right {rank}\n") for rank, log in enumerate(logs))


@pytest.fixture
def saved(tmp_path):
    state = {"a": wt.arange(6).reshape([2, 3]), "inner": {"b": wt.ones([2]), "c": "text"}, "empty": wt.zeros([0, 3]), "number": wt.to_tensor(2.5)}
    save_state_dict(state, tmp_path)
    return tmp_path


def test_a_checkpoint_of_one_process_comes_back(saved):
    found = load(str(saved))
    assert found["a"].tolist() == [[0, 1, 2], [3, 4, 5]] and found["inner"]["c"] == "text" and found["empty"].shape == [0, 3]
    assert found["number"].item() == 2.5 and load(str(saved), return_numpy=True)["inner"]["b"].dtype == np.float32
    task = save_state_dict({"a": wt.ones([1])}, saved, async_save=True)
    task.wait()
    assert task.is_completed() and list(load(str(saved))) == ["a"]
    assert len(os.listdir(saved)) == 2  # files of the save before are gone


@pytest.mark.parametrize("harm", ["bit", "short", "gone", "description", "number", "shape", "path"])
def test_a_damaged_checkpoint_is_refused(saved, harm):
    (pieces,) = saved.glob("*.distcp")
    description = saved / "metadata.json"
    read = json.loads(description.read_text())
    if harm == "bit":
        raw = bytearray(pieces.read_bytes())
        raw[3] ^= 1
        pieces.write_bytes(raw)
    elif harm == "short":
        pieces.write_bytes(pieces.read_bytes()[:20])
    elif harm == "gone":
        pieces.unlink()
    elif harm == "description":
        description.write_text(description.read_text()[:-9])
    elif harm == "number":  # still a description, of something else
        text = description.read_text()
        description.write_text(text.replace('"text"', '"test"'))
        assert description.read_text() != text
    elif harm == "shape":
        del read["crc"]
        read["tensors"][0]["pieces"][0]["shape"] = [1, 3]
        description.write_text(json.dumps(read))
    else:
        del read["crc"]
        read["tensors"][0]["pieces"][0]["file"] = "../secret.distcp"
        description.write_text(json.dumps(read))
    with pytest.raises(ValueError, match="damaged|not complete|not all of"):
        load(str(saved))


@pytest.mark.parametrize("harm", ["deep", "huge", "huge range", "number", "offset", "name", "under a tensor", "again and again", "another dtype"])
def test_a_description_that_contradicts_itself_is_refused_before_memory_is_taken(saved, harm):
    from wherry_train.pickle_reader import FileFormatError

    description = saved / "metadata.json"
    read = json.loads(description.read_text())
    del read["crc"]
    entry = next(each for each in read["tensors"] if each["name"] == ["a"])
    piece = entry["pieces"][0]
    if harm == "huge":
        entry["shape"] = piece["shape"] = [1 << 40, 1 << 21]
    elif harm == "huge range":
        entry["shape"], entry["pieces"] = [1 << 45], [{key: piece[key] for key in ("file", "at", "crc")} | {"first": 0, "count": 1 << 45}]
    elif harm == "number":
        entry["shape"] = [1 << 70, 0]
    elif harm == "offset":
        piece["at"] = 1 << 61
    elif harm == "name":
        entry["name"] = [1]
    elif harm == "under a tensor":
        read["plain"].append([["a", "b"], 1])
    elif harm == "again and again":
        save_state_dict({"a": wt.ones([1000, 100])}, saved)
        read = json.loads(description.read_text())
        del read["crc"]
        read["tensors"] += [{**read["tensors"][0], "name": [f"x{i}"]} for i in range(20)]
    elif harm == "another dtype":
        read["tensors"].append({**entry, "name": ["x"], "dtype": "int8", "pieces": [{**piece, "shape": [2, 3]}]})
    text = json.dumps(read)
    description.write_text("[" * 100_000 if harm == "deep" else text)
    with pytest.raises(FileFormatError, match="damaged|more memory"):
        load(str(saved))


def test_what_cannot_be_saved_is_refused_and_nothing_changes(saved):
    with pytest.raises((TypeError, OSError), match="cannot be part of a checkpoint"):
        save_state_dict({"a": object()}, saved)
    with pytest.raises(TypeError, match="expected a dict"):
        save_state_dict([1], saved)
    assert "a" in load(str(saved))
    with pytest.raises(ValueError, match="there is no checkpoint"):
        load_state_dict({"a": wt.ones([1])}, saved / "elsewhere")


def test_a_training_goes_on_where_it_was_saved(tmp_path):
    def job(seed):
        wt.seed(seed)
        net = nn.Linear(3, 2)
        return net, Adam(StepDecay(0.1, 1), parameters=net.parameters())

    def step(net, optimizer):
        net(wt.ones([4, 3])).square().mean().backward()
        optimizer.step()
        optimizer.clear_grad()
        optimizer._learning_rate.step()
        return net.weight.numpy()

    net, optimizer = job(1)
    step(net, optimizer)
    save_state_dict(training_state(net, optimizer), tmp_path)
    expected = step(net, optimizer)
    net, optimizer = job(2)
    load_state_dict(training_state(net, optimizer), tmp_path)
    np.testing.assert_array_equal(step(net, optimizer), expected)
