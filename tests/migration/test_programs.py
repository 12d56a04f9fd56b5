"""Programs of Paddle 1.8 and of PyTorch before and after: what was rewritten gives the losses that others compute.

Paddle 1.8 itself is not to be had any more, so its programs are compared after they were rewritten, under Paddle 2.6.2 (PARITY_PYTHON) and here. Programs
of PyTorch run as they are under PyTorch (TORCH_PYTHON) and rewritten here, from the same weights.
"""
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("libcst", reason="wherry-migrate rewrites programs with LibCST, which is not installed")
from wherry_migrate import from_torch, upgrade  # noqa: E402

HERE = Path(__file__).parent
PADDLE, TORCH = os.environ.get("PARITY_PYTHON"), os.environ.get("TORCH_PYTHON")
SAVES = "import torch\n\n\ndef begin(net):\n    torch.save(net.state_dict(), 'beginning.pt')\n    return net\n"
LOADS = ("import paddle\n\n\ndef begin(net):\n    state = paddle.load('beginning.pt')\n"
         "    paddle.nn.utils.from_torch(state, net)\n    return net\n")


def losses(command, folder):
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=300)
    assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
    found = [float(number) for number in re.findall(r"(?:loss|sum) ([-\d.e+]+)", done.stdout)]
    assert len(found) > 5
    return found


@pytest.mark.parametrize("name", ["paddle1_eager", "paddle1_static"])
def test_a_program_of_paddle_1_trains_after_it_was_rewritten(tmp_path, name):
    result = upgrade((HERE / f"{name}.py").read_text())
    assert result.warnings == ()
    assert "fluid" not in result.after
    (tmp_path / "after.py").write_text(result.after)
    ours = losses([sys.executable, "-m", "wherry", "run", "after.py"], tmp_path)
    assert ours[-2 if name.endswith("eager") else -1] < ours[0]
    if PADDLE is None:
        pytest.skip("losses were not compared: PARITY_PYTHON names no Python with Paddle 2.6.2")
    program = "import zlib, runpy; import paddle; runpy.run_path('after.py', run_name='__main__')"
    # Eight steps of float32: what is left is rounding.
    assert ours == pytest.approx(losses([PADDLE, "-c", program], tmp_path), rel=1e-4, abs=1e-5)


@pytest.mark.parametrize("name", ["torch_images", "torch_sequences"])
def test_a_program_of_pytorch_gives_the_same_losses_here(tmp_path, name):
    source = (HERE / f"{name}.py").read_text()
    result = from_torch(source)
    code = "\n".join(line for line in result.after.split('"""')[2].splitlines() if "# from-torch:" not in line)
    assert not re.search(r"\btorch\b", code)
    if TORCH is None:
        pytest.skip("TORCH_PYTHON names no Python with PyTorch")
    (tmp_path / "before.py").write_text(source)
    (tmp_path / "after.py").write_text(result.after)
    (tmp_path / "beginning.py").write_text(SAVES)
    theirs = losses([TORCH, "before.py"], tmp_path)
    (tmp_path / "beginning.py").write_text(LOADS)
    ours = losses([sys.executable, "-m", "wherry", "run", "after.py"], tmp_path)
    assert ours == pytest.approx(theirs, rel=2e-4, abs=2e-5)


def test_every_new_name_and_argument_of_the_tables_is_there():
    """Names of both tables, and the arguments that they lead to, in Wherry's signatures."""
    import inspect

    import wherry
    from wherry_migrate import paddle1, pytorch

    faults = []
    for table, rule_of in ((paddle1.table(), paddle1.rule_of), (pytorch.table(), pytorch.rule_of)):
        for name in table:
            rule = rule_of(name)
            if rule.new is None:
                continue
            value = wherry
            for part in rule.new.split(".")[1:]:
                value = getattr(value, part, None)
            if value is None:
                faults.append(f"{name}: there is no {rule.new}")
                continue
            try:
                parameters = inspect.signature(value).parameters
            except (TypeError, ValueError):
                continue
            if any(one.kind is one.VAR_KEYWORD for one in parameters.values()):
                continue
            wanted = [new for old in rule.positional if (new := rule.rename.get(old, old))] if rule.rename else []
            faults += [f"{name}: {rule.new} has no argument {new}" for new in [*wanted, *rule.add] if new not in parameters and new not in ("betas",)]
    assert not faults, "\n".join(faults)
