import re
import subprocess
import sys
from pathlib import Path

import pytest

from wherry.__main__ import main


def test_ops_prints_every_op_and_column(capsys):
    assert main(["ops"]) == 0
    text = capsys.readouterr().out
    for column in ("infer", "decompose", "reference", "samples", "cpu", "vjp", "autocast"):
        assert column in text.splitlines()[0]
    assert "\nsoftmax " in text
    assert "normalization:" in text


def test_card_of_an_op_says_where_its_rules_are(capsys):
    assert main(["ops", "softmax"]) == 0
    text = capsys.readouterr().out
    assert text.startswith("softmax(x, axis: int) -> out")
    assert "normalization.py:" in text
    assert "float32" in text


def test_unknown_op_suggests_what_was_meant(capsys):
    assert main(["ops", "sotfmax"]) == 1
    assert "Did you mean 'softmax'" in capsys.readouterr().err


def test_ops_of_a_device_and_what_a_device_needs(capsys):
    assert main(["ops", "--device", "cpu"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^add +kernel +.*float32", shown, re.M)
    assert re.search(r"^conv3d +decomposition +", shown, re.M)
    assert re.search(r"^reshape +view$", shown, re.M)
    assert main(["ops", "--required"]) == 0
    shown = capsys.readouterr().out
    assert re.search(r"^matmul +the product that the rest is built of$", shown, re.M)
    assert 50 <= int(re.search(r"^(\d+) of \d+ ops, and \d+ that are seldom used; all others decompose", shown, re.M)[1]) <= 75
    assert main(["ops", "--device", "abacus"]) == 1
    assert "no device of this name. Got 'abacus', expected one of cpu" in capsys.readouterr().err



def test_run_of_a_missing_script_says_so(capsys, tmp_path):
    assert main(["run", str(tmp_path / "absent.py")]) == 2
    assert "there is no such script" in capsys.readouterr().err


@pytest.fixture
def run(tmp_path):
    def run(script: str, *arguments: str) -> subprocess.CompletedProcess[str]:
        path = tmp_path / "script.py"
        path.write_text(script)
        return subprocess.run(
            [sys.executable, "-m", "wherry", "run", str(path), *arguments], capture_output=True, text=True
        )

    return run


def test_script_that_imports_paddle_runs_on_wherry(run, tmp_path):
    (tmp_path / "beside.py").write_text("import paddle\nvalue = paddle.to_tensor([1.0, 2.0]).sum()\n")
    done = run(
        "import sys\n"
        "import paddle\n"
        "import paddle.linalg as linalg\n"
        "from paddle.autograd import PyLayer\n"
        "import wherry, wherry.autograd, beside\n"
        "assert paddle is wherry and PyLayer is wherry.autograd.PyLayer and linalg is wherry.linalg\n"
        "assert wherry.__spec__.name == 'wherry'\n"
        "print(__name__, sys.argv[1:], float(beside.value))\n",
        "--epochs", "3",
    )
    assert done.stdout == "__main__ ['--epochs', '3'] 3.0\n", done.stderr


def test_missing_module_is_named_as_the_script_wrote_it(run):
    done = run("import paddle.no_such_module\n")
    assert done.returncode == 1
    assert "no module named 'paddle.no_such_module'" in done.stderr


def test_paddle_is_not_aliased_outside_run():
    program = "import wherry, sys; assert 'paddle' not in sys.modules; print('unharmed')"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert done.stdout == "unharmed\n"


def test_run_draws_paddles_random_numbers(run, monkeypatch):
    script = "import paddle\npaddle.seed(42)\nprint(paddle.rand([2]).tolist())\n"
    theirs = "[0.8496642708778381, 0.8275496363639832]\n"  # as Paddle 2.6.2 prints it
    assert run(script).stdout == theirs
    monkeypatch.setenv("FLAGS_paddle_random", "0")
    assert run(script).stdout not in ("", theirs)


def test_run_clips_logits_as_paddle_does(run, monkeypatch):
    script = "import paddle\nprint(float(paddle.nn.functional.cross_entropy(paddle.to_tensor([[200.0, 0.0]]), paddle.to_tensor([1]))))\n"
    assert run(script).stdout == "64.0\n"
    monkeypatch.setenv("FLAGS_paddle_clip", "0")
    assert run(script).stdout == "200.0\n"


def test_a_reader_that_leaves_early_hears_no_complaint():
    process = subprocess.Popen([sys.executable, "-m", "wherry", "ops"], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    process.stdout.close()  # as `head` does when it has enough
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(60) == 0


def test_the_manual_page_has_every_command(capsys):
    page = (Path(__file__).parent.parent / "man" / "wherry.1").read_text().replace("\\-", "-")
    with pytest.raises(SystemExit):
        main(["--help"])
    commands = re.findall(r"(?m)^    ([a-z-]+)(?: |$)", capsys.readouterr().out)
    assert len(commands) >= 11
    assert [name for name in commands if not re.search(rf"(?m)^\.BR? {name}( |$)", page)] == []
