"""Programs of PyTorch, rewritten."""
import pytest

from wherry_migrate import from_torch
from wherry_migrate.pytorch import table


def rewritten(line, head="import torch\nimport torch.nn as nn\nimport torch.nn.functional as F\nfrom torch import optim\n"):
    return from_torch(head + line + "\n").after.splitlines()[-1]


@pytest.mark.parametrize(("before", "after"), [
    ("y = torch.cat([a, b], dim=1)", "y = paddle.concat([a, b], axis=1)"),
    ("y = torch.zeros(2, 3)", "y = paddle.zeros([2, 3])"),
    ("y = torch.zeros(shape)", "y = paddle.zeros(shape)"),
    ("y = torch.randn(2, device=device)", "y = paddle.randn([2])"),
    ("y = torch.tensor([1.0], requires_grad=True)", "y = paddle.to_tensor([1.0], stop_gradient=False)"),
    ("y = F.softmax(x, dim=-1)", "y = F.softmax(x, axis=-1)"),
    ("net = nn.Linear(4, 3, bias=False)", "net = nn.Linear(4, out_features=3, bias_attr=False)"),
    ("net = nn.Conv2d(1, 4, kernel_size=3)", "net = nn.Conv2D(1, out_channels=4, kernel_size=3)"),
    ("net = nn.LSTM(4, 8, batch_first=True, bidirectional=True)", 'net = nn.LSTM(4, hidden_size=8, time_major=False, direction="bidirect")'),
    ("net = nn.LSTM(4, 8)", "net = nn.LSTM(4, hidden_size=8, time_major=True)"),
    ("net = nn.AvgPool2d(2, padding=1)", "net = nn.AvgPool2D(2, padding=1, exclusive=False)"),
    ("o = optim.Adam(net.parameters(), lr=0.1, betas=(0.5, 0.9))", "o = optim.Adam(parameters=net.parameters(), learning_rate=0.1, beta1=0.5, beta2=0.9)"),
    ("o = optim.SGD(net.parameters(), 0.1, momentum=0.9)", "o = optim.Momentum(parameters=net.parameters(), learning_rate=0.1, momentum=0.9)"),
    ("y = x.view(-1, 4).permute(1, 0)", "y = x.reshape([-1, 4]).transpose([1, 0])"),
    ("n = x.size(0)", "n = x.shape[0]"),
    ("y = x.long()", 'y = x.astype("int64")'),
    ("y = x.sum(dim=1, keepdim=True)", "y = x.sum(axis=1, keepdim=True)"),
    ("o.zero_grad()", "o.clear_grad()"),
    ("y = x.to(torch.float32)", "y = x.to(paddle.float32)"),
])
def test_lines(before, after):
    assert rewritten(before) == after


def test_other_libraries_keep_their_methods():
    head = "import numpy as np\nimport torch\n"
    assert rewritten("y = np.repeat(x, 2)", head) == "y = np.repeat(x, 2)"
    assert from_torch("import numpy as np\ny = np.sum(x, axis=1)\n").warnings == ()


def test_imports_lead_to_the_new_modules():
    after = from_torch("import torch\nimport torch.nn as nn\nfrom torch.utils.data import DataLoader\nx = torch.ones(2)\nd = DataLoader(nn)\n").after
    assert after == "import paddle\nimport paddle.nn as nn\nx = paddle.ones([2])\nd = paddle.io.DataLoader(nn)\n"


def test_what_is_not_known_is_marked_where_it_stands():
    result = from_torch("import torch\n\n\ndef f(net):\n    return torch.jit.script(net)\n")
    assert result.warnings[0].line == 5
    assert "    # from-torch: torch.jit.script: is not in the table of names; it has to be rewritten by hand\n    return torch.jit.script(net)\n" in result.after


def test_what_means_something_else_is_marked():
    result = from_torch("import torch\nv, i = torch.max(x, dim=1)\n")
    assert "paddle.argmax positions" in result.warnings[0].text
    assert "# from-torch: torch.max" in result.after


def test_the_table_has_four_hundred_names_and_more():
    assert len(table()) >= 400
    assert sum(bool(new) for new, _, _ in table().values()) >= 400


def test_what_has_no_successor_says_what_to_do():
    assert all(note for new, _, note in table().values() if not new)
