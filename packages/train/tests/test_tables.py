"""summary and flops: texts as real Paddle 2.6.2 prints them, and numbers counted by hand."""
import re

import pytest

import wherry_nn as nn
from wherry_nn import unique_name
from wherry_tensor import flatten, ones, rand
from wherry_tensor import seed as set_seed
from wherry_train import flops, summary


class Small(nn.Layer):
    def __init__(self):
        super().__init__()
        self.features = nn.Sequential(nn.Conv2D(1, 6, 3, padding=1), nn.ReLU(), nn.MaxPool2D(2, 2))
        self.norm = nn.BatchNorm2D(6)
        self.fc = nn.Linear(6 * 16, 10)

    def forward(self, x):
        return self.fc(flatten(self.norm(self.features(x)), 1))


TABLE = """\
---------------------------------------------------------------------------
 Layer (type)       Input Shape          Output Shape         Param #    
===========================================================================
   Conv2D-1        [[1, 1, 8, 8]]        [1, 6, 8, 8]           60       
    ReLU-1         [[1, 6, 8, 8]]        [1, 6, 8, 8]            0       
  MaxPool2D-1      [[1, 6, 8, 8]]        [1, 6, 4, 4]            0       
 BatchNorm2D-1     [[1, 6, 4, 4]]        [1, 6, 4, 4]           24       
   Linear-1          [[1, 96]]             [1, 10]              970      
===========================================================================
Total params: 1,054
Trainable params: 1,042
Non-trainable params: 12
---------------------------------------------------------------------------
Input size (MB): 0.00
Forward/backward pass size (MB): 0.01
Params size (MB): 0.00
Estimated Total Size (MB): 0.01
---------------------------------------------------------------------------

"""  # noqa: W291  Paddle fills the columns


@pytest.mark.parametrize("size", [(1, 1, 8, 8), (-1, 1, 8, 8), (None, 1, 8, 8), [(1, 1, 8, 8)]])
def test_summary_prints_paddles_table(size, capsys):
    with unique_name.guard():
        assert summary(Small(), size) == {"total_params": 1054, "trainable_params": 1042}
    assert capsys.readouterr().out == TABLE


class Several(nn.Layer):
    def __init__(self):
        super().__init__()
        self.embedding = nn.Embedding(10, 4)
        self.lstm = nn.LSTM(4, 5)
        self.twice = nn.Linear(4, 3)
        self.unused = nn.Linear(7, 7)

    def forward(self, x, i):
        y, _ = self.lstm(self.embedding(i))
        return self.twice(x), y, self.twice(x)


def test_summary_of_several_inputs_of_several_dtypes(capsys):
    counts = summary(Several(), [(2, 4), (2, 6)], dtypes=["float32", "int64"])
    rows = [re.sub(r"-\d+", "", line).split("  ") for line in capsys.readouterr().out.splitlines()[3:6]]
    cells = [[cell.strip() for cell in row if cell.strip()] for row in rows]
    assert cells == [
        ["Embedding", "[[2, 6]]", "[2, 6, 4]", "40"],
        ["LSTM", "[[2, 6, 4]]", "[[2, 6, 5], [[1, 2, 5], [1, 2, 5]]]", "220"],
        ["Linear", "[[2, 4]]", "[2, 3]", "15"],
    ]
    assert counts == {"total_params": 275, "trainable_params": 275}


def test_summary_lists_parameters_of_the_network_itself(capsys):
    class Scaled(nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(2, 2)
            self.scale = self.create_parameter([2])

        def forward(self, x):
            return self.linear(x) * self.scale

    assert summary(Scaled(), (1, 2)) == {"total_params": 8, "trainable_params": 8}
    assert "Scaled-1" in capsys.readouterr().out


@pytest.mark.parametrize("input", [ones([3, 4]), {"x": ones([3, 4])}])
def test_summary_takes_inputs_as_they_are(input, capsys):
    class Either(nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 2)

        def forward(self, x):
            return self.linear(x["x"] if isinstance(x, dict) else x)

    assert summary(Either(), input=input)["total_params"] == 10
    assert "[[3, 4]]" in capsys.readouterr().out


def test_the_network_is_left_as_it_was(capsys):
    net = Several()
    net.train()
    net.lstm.eval()
    set_seed(3)
    expected = rand([2]).numpy().tolist()
    set_seed(3)
    summary(net, [(2, 4), (2, 6)], dtypes=["float32", "int64"])
    with pytest.raises(TypeError):
        summary(net, (2, 4))
    assert rand([2]).numpy().tolist() == expected
    assert (net.training, net.lstm.training, net.twice.training) == (True, False, True)
    assert not any(layer._forward_post_hooks for layer in net.sublayers(include_self=True))


@pytest.mark.parametrize("call, error, says", [
    (lambda: summary(Small()), ValueError, "input_size and input cannot be None at the same time"),
    (lambda: summary(Small, (1, 2)), TypeError, "must be a Layer"),
    (lambda: summary(Small(), "1, 2"), TypeError, "expected a tuple of ints"),
    (lambda: summary(Small(), (1, 0, 8, 8)), ValueError, "greater than zero, but got 0"),
    (lambda: summary(Small(), (-2, 1, 8, 8)), ValueError, "but got -2"),
    (lambda: summary(Small(), input=3), ValueError, "Input is not tensor"),
    (lambda: flops(Small(), "x"), TypeError, "flops: input_size is not a shape"),
])
def test_what_makes_no_sense_is_refused(call, error, says):
    with pytest.raises(error, match=says):
        call()


FLOPS = [  # layer, shape of the input, operations
    (lambda: nn.Conv2D(4, 8, 3), (2, 4, 9, 9), 2 * 8 * 49 * (4 * 9 + 1)),
    (lambda: nn.Conv2D(4, 8, 3, groups=2, bias_attr=False), (2, 4, 9, 9), 2 * 8 * 49 * 2 * 9),
    (lambda: nn.Conv1D(4, 8, 3), (2, 4, 9), 2 * 8 * 7 * (4 * 3 + 1)),
    (lambda: nn.Conv2DTranspose(4, 8, 3), (2, 4, 9, 9), 2 * 8 * 121 * (4 * 9 + 1)),
    (lambda: nn.Linear(5, 7), (3, 5), 3 * 7 * 5),
    (lambda: nn.BatchNorm2D(4), (2, 4, 3, 3), 2 * 72),
    (lambda: nn.LeakyReLU(), (2, 3), 6),
    (lambda: nn.ReLU(), (2, 3), 0),
    (lambda: nn.AvgPool2D(2), (2, 3, 8, 8), 96),
    (lambda: nn.AdaptiveAvgPool2D(2), (2, 3, 8, 8), 24 * (16 + 1)),
    (lambda: nn.MaxPool2D(2), (2, 3, 8, 8), 0),
    (lambda: nn.Sigmoid(), (2, 3), 0),
]


@pytest.mark.parametrize("layer, shape, expected", FLOPS, ids=[str(i) for i in range(len(FLOPS))])
def test_flops_counts_as_paddle_does(layer, shape, expected, capsys):
    assert flops(nn.Sequential(layer()), shape) == expected
    assert flops(layer(), list(shape)) == expected  # Paddle counts nothing for a lone layer
    assert f"Total Flops: {expected} " in capsys.readouterr().out


DETAIL = """\
+----------------+--------------+--------------+--------+-------+
|   Layer Name   | Input Shape  | Output Shape | Params | Flops |
+----------------+--------------+--------------+--------+-------+
|    conv2d_0    | [1, 1, 8, 8] | [1, 6, 8, 8] |   60   |  3840 |
|    re_lu_0     | [1, 6, 8, 8] | [1, 6, 8, 8] |   0    |   0   |
|  max_pool2d_0  | [1, 6, 8, 8] | [1, 6, 4, 4] |   0    |   0   |
| batch_norm2d_0 | [1, 6, 4, 4] | [1, 6, 4, 4] |   24   |  192  |
|    linear_0    |   [1, 96]    |   [1, 10]    |  970   |  960  |
+----------------+--------------+--------------+--------+-------+
"""


def test_flops_prints_paddles_table(capsys):
    with unique_name.guard():
        flops(Small(), [1, 1, 8, 8], print_detail=True)
    assert DETAIL in capsys.readouterr().out


def test_flops_takes_counters_of_ones_own(capsys):
    seen = []

    def count(layer, inputs, output):
        seen.append((inputs[0].shape, output.shape))
        layer.total_ops += inputs[0].numel()  # a tensor

    with unique_name.guard():
        net = Small()
        assert flops(net, [1, 1, 8, 8], custom_ops={nn.MaxPool2D: count}) == 3840 + 384 + 192 + 960
    lines = capsys.readouterr().out.splitlines()
    assert lines[2] == f"Customize Function has been applied to {nn.MaxPool2D}"
    assert seen == [([1, 6, 8, 8], [1, 6, 4, 4])]
    assert "total_ops" not in str(list(net.state_dict())) and not hasattr(net.features[2], "total_ops")


def test_flops_of_what_is_no_network_warns():
    with pytest.warns(UserWarning, match="must be an instance of paddle.nn.Layer"):
        assert flops(3, (1, 2)) == -1
