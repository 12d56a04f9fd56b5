"""What an operator became is written down once; whatever is made from that is what its rule makes."""
import re

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_paddle_files import models, recipes
from wherry_paddle_files.desc import AttrType, parse
from wherry_paddle_files.reading import program_of
from wherry_program.program.capture import capture
from wherry_program.program.ir import Program
from wherry_program.run.executor import compiled
from wherry_tensor.protobuf import ModelFileError


@pytest.fixture(autouse=True)
def written(monkeypatch):
    found = {}
    monkeypatch.setattr(recipes, "_recipes", found)
    return found


def saved(prefix):
    net = nn.Sequential(
        nn.Conv2D(3, 4, 3, padding=1), nn.BatchNorm2D(4), nn.ReLU(), nn.MaxPool2D(2, 2), nn.Conv2D(4, 4, 3, padding=1, groups=4), nn.Hardswish(),
        nn.AvgPool2D(2, 2), nn.Dropout(0.5), nn.Flatten(), nn.Linear(16, 8), nn.LayerNorm(8), nn.GELU(), nn.Linear(8, 3), nn.Softmax(),
    )
    net.eval()
    program = Program()
    x = program.feed([-1, 3, 8, 8], wt.float32, "x")
    with capture(program):
        program.fetches = [net(x)]
    models.save_model(prefix, program, [x], program.fetches)
    with open(f"{prefix}.pdmodel", "rb") as file:
        return file.read()


def text(program):
    """A program, but for the numbers in names that the file does not give."""
    return re.sub(r"tmp_\d+", "tmp", str(program))


def test_the_same_file_again_is_the_same_program(tmp_path, written):
    prefix = str(tmp_path / "net")
    saved(prefix)
    first = models.load_model(prefix)
    count = len(written)
    assert count > 8
    again = models.load_model(prefix)
    assert len(written) == count
    assert text(first) == text(again)
    assert [(n.role, n.scope, n.in_place, n.device) for n in first.nodes] == [(n.role, n.scope, n.in_place, n.device) for n in again.nodes]
    assert [[x.__dict__.keys() for x in n.outputs] for n in first.nodes] == [[x.__dict__.keys() for x in n.outputs] for n in again.nodes]
    assert all(x.made_by is n and again.blocks[0].vars[x.name] is x for n in again.nodes for x in n.outputs)
    x = wt.to_tensor(np.random.default_rng(0).standard_normal((2, 3, 8, 8)).astype("float32"))
    np.testing.assert_array_equal(compiled(first)(x)[0].numpy(), compiled(again)(x)[0].numpy())


def test_operators_that_train_are_read_by_their_own(tmp_path):
    described = parse(saved(str(tmp_path / "net")))
    for training in (False, True, False, True, None):
        recipes._recipes.clear()
        alone = text(program_of(described, training))
        program_of(described, False)
        program_of(described, True)
        assert text(program_of(described, training)) == alone


def test_other_sizes_and_attributes_are_others(tmp_path):
    described = parse(saved(str(tmp_path / "net")))
    program_of(described)
    pool = next(op for op in described.blocks[0].ops if op.type == "pool2d")
    before = program_of(described, sizes={"x": [5, 3, 8, 8]})
    assert before.fetches[0].sizes == (5, 3)
    next(attr for attr in pool.attrs if attr.name == "ceil_mode").value = True
    assert "ceil_mode=True" in str(program_of(described))
    assert "ceil_mode=True" not in str(before)


def test_what_a_rule_refuses_is_refused_each_time(tmp_path):
    described = parse(saved(str(tmp_path / "net")))
    program_of(described)
    conv = next(op for op in described.blocks[0].ops if op.type == "conv2d")
    next(attr for attr in conv.attrs if attr.name == "strides").value = [0, 1]
    for _ in range(3):
        with pytest.raises(ModelFileError, match="conv2d"):
            program_of(described)


def test_signs_of_zero_are_kept_apart(tmp_path, written):
    described = parse(saved(str(tmp_path / "net")))
    op = next(op for op in described.blocks[0].ops if op.type == "hard_swish")
    texts = set()
    op.type = "leaky_relu"
    for alpha in (0.0, -0.0):
        op.attrs = [type(op.attrs[0] if op.attrs else described.blocks[0].ops[1].attrs[0])("alpha", AttrType.FLOAT, alpha)]
        program_of(described)
        texts.add(str(program_of(described)).split("leaky_relu(")[1].split(")")[0])
    assert len(texts) == 2


def test_there_are_not_more_than_a_limit(tmp_path, monkeypatch, written):
    monkeypatch.setattr(recipes, "_MOST_KEPT", 3)
    described = parse(saved(str(tmp_path / "net")))
    first = text(program_of(described))
    assert text(program_of(described)) == first
    assert len(written) <= 3


def test_long_attributes_are_not_kept(tmp_path, written):
    described = parse(saved(str(tmp_path / "net")))
    conv = next(op for op in described.blocks[0].ops if op.type == "conv2d")
    conv.attrs.append(type(conv.attrs[0])("more", AttrType.INTS, [0] * 1000))
    program_of(described)
    assert not any("more" in key for key in written)
