"""Something goes wrong at any step in any rank: a run ends with the right message, or goes on to the same bits; nothing that was saved is lost.

WHERRY_FAULTS says how many are injected (200).
"""
import os
import random
import re
import subprocess
import sys

import pytest

KINDS = ("killed", "elastic", "stopped", "delayed", "torn", "full")


@pytest.fixture
def run(programs, tmp_path):
    """Runs the program in two processes; returns its exit status and all that was said."""

    def go(kind, rank, step, *options, folder=None, timeout="60"):
        done = subprocess.run(
            [sys.executable, "-m", "wherry_distributed.launch", "--nproc_per_node", "2", "--log_dir", str(tmp_path / "log"), *options,
             str(programs / "injected.py"), str(folder or tmp_path), kind, str(rank), str(step)],
            env=os.environ | {"WHERRY_DISTRIBUTED_TIMEOUT": timeout}, capture_output=True, text=True, timeout=200, cwd=tmp_path, check=False)
        logs = [path.read_text() for path in sorted((tmp_path / "log").glob("workerlog.?"))]
        return done.returncode, done.stdout + done.stderr + "".join(logs)

    return go


def digest(text):
    return re.findall(r"of \d: ([0-9a-f]{64})", text)[-1]


def harm(rng, folder):
    """Cut a file of the checkpoint, change a byte, or take it away."""
    path = rng.choice(sorted(folder.iterdir()))
    raw, how = bytearray(path.read_bytes()), rng.choice(["cut", "changed", "gone"])
    if how == "gone":
        path.unlink()
    elif how == "cut":
        path.write_bytes(raw[: rng.randrange(len(raw))])
    else:
        raw[rng.randrange(len(raw))] ^= 1 << rng.randrange(8)
        path.write_bytes(raw)
    return path.name, how


def inject(run, folder, kind, rng, expected):
    rank, step = rng.randrange(2), rng.randrange(1, 5)
    case = f"{kind} in rank {rank} at step {step}"
    if kind == "torn":
        code, text = run("none", 0, 0)
        assert code == 0 and digest(text) == expected, (case, text)
        name, how = harm(rng, folder / "checkpoint")
        code, text = run("none", 0, 0)
        if code == 0:  # the description is gone: it begins anew; or what was changed is not part of what is read
            assert digest(text) == expected, (case, name, how, text)
        else:
            assert re.search(r"Error: .*load_state_dict: ", text), (case, name, how, text)
        return
    options = ("--elastic",) if kind == "elastic" else ()
    code, text = run("killed" if kind == "elastic" else kind, rank, step, *options, timeout="2" if kind == "stopped" else "60")
    if kind in ("elastic", "delayed"):
        assert code == 0 and digest(text) == expected, (case, text)
        return
    said = {
        "killed": rf"rank {rank} \(pid \d+\) failed: signal SIGKILL", "stopped": rf"rank {rank} \(pid \d+\) does not answer: it is stopped",
        "full": r"OSError.*rank \d.*File too large|File too large",
    }[kind]
    assert code != 0 and re.search(said, text), (case, code, text)
    code, text = run("none", 0, 0)  # what was saved is there
    assert code == 0 and digest(text) == expected and int(re.search(r"from step (\d)", text)[1]) >= step - 1, (case, text)


def baseline(run, tmp_path):
    (tmp_path / "undisturbed").mkdir()
    code, text = run("none", 0, 0, folder=tmp_path / "undisturbed")
    assert code == 0, text
    return digest(text)


@pytest.mark.parametrize("kind", ["elastic", "full"])
def test_one_of_a_kind(run, tmp_path, kind):
    inject(run, tmp_path, kind, random.Random(1), baseline(run, tmp_path))


@pytest.mark.slow
def test_whatever_goes_wrong_is_told_or_goes_on(run, tmp_path, segments, left_behind):
    before, rng, expected = segments(), random.Random(0), baseline(run, tmp_path)
    for number in range(int(os.environ.get("WHERRY_FAULTS", "200"))):
        for path in [*(tmp_path / "checkpoint").glob("*"), tmp_path / "happened"]:
            path.unlink(missing_ok=True)
        inject(run, tmp_path, KINDS[number % len(KINDS)], rng, expected)
    assert not left_behind(before)
