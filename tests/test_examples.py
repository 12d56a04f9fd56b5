"""Every example runs from a clean folder, ends well and says what it found."""
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parent.parent / "examples"
CASES = [
    ("digits_from_scratch.py", ["--epochs", "8"], "weights saved to digits.npz"),
    ("digits_model.py", ["--quick"], "predicts the same 360 x 10 numbers"),
    ("digits_loop.py", ["--quick"], "test accuracy"),
    ("character_model.py", ["--quick", "--kind", "lstm"], "bits per character of unseen text"),
    ("character_model.py", ["--quick", "--kind", "transformer"], "bits per character of unseen text"),
    ("write_text.py", ["--minutes", "0.05"], "bits per character of unseen text"),
    ("segment_shapes.py", ["--quick"], "drawn (left) and found (right)"),
    ("data_parallel.py", [], "1 process(es): 9"),
    ("gpt_hybrid.py", ["--steps", "20"], "1 process(es): 1 x data"),
    ("elastic.py", ["--steps", "20"], "step 20: loss"),
    ("fine_tune.py", ["--quick"], "as loaded:  100.00%"),
    ("quantize_digits.py", ["--quick"], "5 of 5 products run in integers"),
    ("small_weights.py", ["--quick"], "int4, groups of 32"),
]


def run(name, arguments, folder):
    return subprocess.run(
        [sys.executable, EXAMPLES / name, *arguments], cwd=folder, capture_output=True, text=True, timeout=300
    )


@pytest.mark.parametrize("name, arguments, says", [
    pytest.param(*case, id=" ".join([case[0], *case[1][-1:]]), marks=[pytest.mark.slow] if "transformer" in case[1] else []) for case in CASES
])
def test_example_ends_well(name, arguments, says, tmp_path):
    pytest.importorskip("sklearn")
    done = run(name, arguments, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert says in done.stdout


def test_every_example_has_a_case():
    programs = {path.name for path in EXAMPLES.glob("*.py") if "__main__" in path.read_text()}
    # It learns for minutes, from packages of 140 MB; web/tests/test_classifier.py tests what it made.
    # Parameter servers are started by the launcher, in test_parameter_servers.py.
    assert programs == {name for name, _, _ in CASES} | {"picture_features.py", "parameter_server.py"}


def test_a_loop_with_a_checkpoint_goes_on_where_it_was(tmp_path):
    pytest.importorskip("sklearn")
    whole = run("digits_loop.py", ["--quick"], tmp_path).stdout.splitlines()
    process = subprocess.Popen(
        [sys.executable, "-u", EXAMPLES / "digits_loop.py", "--quick", "--checkpoint", "run.ckpt"], cwd=tmp_path,
        stdout=subprocess.PIPE, text=True,
    )
    with process:
        process.stdout.readline()  # the first epoch is over
        process.kill()
    again = run("digits_loop.py", ["--quick", "--checkpoint", "run.ckpt"], tmp_path).stdout.splitlines()
    assert again[0].startswith("goes on with epoch")
    # The mean loss of an epoch that was cut in two is of its second part; the accuracy is of the weights.
    assert [line.split("test accuracy")[1] for line in again[-1:]] == [line.split("test accuracy")[1] for line in whole[-1:]]
