"""What a notebook shows: a cell that fails ends at the user's line, and names the layer."""
import re

import pytest

nbclient = pytest.importorskip("nbclient", reason="nbclient, which runs notebooks, is not installed")
nbformat = pytest.importorskip("nbformat", reason="nbformat, which holds notebooks, is not installed")


@pytest.fixture(scope="module")
def shown():
    """The text of each cell's output or error, without colours."""
    cells = [
        "import wherry as paddle\nfrom wherry import nn",
        "net = nn.Sequential(nn.Linear(4, 5), nn.Sequential(nn.Linear(5, 2)), nn.Linear(3, 2))",
        "net(paddle.ones([1, 4]))",
        "paddle.ones([2, 3]) + paddle.ones([2, 4])",
        "paddle.sum(paddle.ones([2]), axes=0)",
        "nn.functional.conv2d(paddle.ones([1, 3, 8, 8]), paddle.ones([4, 5, 3, 3]))",
        "nn.BatchNorm2d",
        "1 / 0",
    ]
    notebook = nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])
    nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3", allow_errors=True).execute()
    texts = []
    for cell in notebook.cells:
        lines = [line for output in cell.outputs for line in output.get("traceback", [output.get("text", "")])]
        texts.append(re.sub(r"\x1b\[[0-9;]*m", "", "\n".join(lines)))
    return texts


def test_cells_that_work_show_no_error(shown):
    assert shown[0] == shown[1] == ""


@pytest.mark.parametrize(
    ("cell", "said"),
    [
        (2, ["(InvalidArgument) linear:", "in_features=3, got 2", "in layer '2': Linear(in_features=3, out_features=2"]),
        (3, ["(InvalidArgument) add: shapes [2, 3] and [2, 4] do not broadcast"]),
        (4, ["unexpected keyword argument 'axes'", "Did you mean 'axis'?"]),
        (5, ["(InvalidArgument) conv2d:"]),
        (6, ["Did you mean 'BatchNorm2D'?"]),
        (7, ["ZeroDivisionError"]),
    ],
)
def test_tracebacks_end_at_the_cell(shown, cell, said):
    text = shown[cell]
    for one in said:
        assert one in text
    assert "Could not get source" not in text and ".pyx" not in text and ".pxi" not in text
    assert "wherry_tensor/" not in text and "wherry_nn/" not in text and "During handling" not in text
    assert len(re.findall(r"^(?:Cell In|File )", text, flags=re.MULTILINE)) == 1
