"""Operations of programs."""
import pytest

import wherry_nn as nn
from wherry_graph import jit, static
from wherry_nn import functional as F
from wherry_program.program.counting import operations
from wherry_program.program.input_spec import InputSpec
from wherry_train.tables import flops, summary


@pytest.fixture
def program():
    static.enable_static()
    main = static.Program()
    with static.program_guard(main, static.Program()):
        yield main
    static.disable_static()


# What Paddle 2.6.2 counts for the same programs.
CASES = {
    "conv2d": (lambda: static.nn.conv2d(static.data("x", [None, 1, 8, 8]), 2, 3), 648 + 72),
    "groups": (lambda: static.nn.conv2d(static.data("x", [2, 4, 8, 8]), 6, 3, groups=2, bias_attr=False), 3888),
    "fc": (lambda: static.nn.fc(static.data("x", [None, 4]), 3), 12 + 3),
    "batch_norm": (lambda: static.nn.batch_norm(static.data("x", [2, 3, 4, 4])), 96),
    "max_pool2d": (lambda: F.max_pool2d(static.data("x", [2, 3, 4, 4]), 2), 60),
    "adaptive_avg_pool2d": (lambda: F.adaptive_avg_pool2d(static.data("x", [2, 3, 4, 4]), 2), 60),
    "add": (lambda: static.data("x", [2, 4]) + static.data("y", [2, 4]), 4),
    "relu": (lambda: F.relu(static.data("x", [2, 4])), 0),
}


@pytest.mark.parametrize("name", CASES)
def test_a_program_is_counted_for_one_sample(program, name):
    build, expected = CASES[name]
    build()
    assert flops(program, [1]) == expected


def test_the_table_names_weights(program, capsys):
    static.nn.fc(static.data("x", [None, 4]), 3, name="first")
    assert flops(program, [1, 4], print_detail=True) == 15
    assert "first.w_0" in capsys.readouterr().out
    assert [row[2] for row in operations(program)] == [12, 3]


def test_a_loaded_layer_is_counted_and_shown(tmp_path, capsys):
    net = nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 2))
    jit.save(net, str(tmp_path / "net"), input_spec=[InputSpec([None, 4], "float32")])
    loaded = jit.load(str(tmp_path / "net"))
    assert flops(loaded, [1, 4]) == 4 * 8 + 8 + 8 * 2 + 2
    assert summary(loaded, (1, 4)) == {"total_params": 58, "trainable_params": 58}
