"""Programs that start again, with the processes that are left, from their last checkpoint."""
import os
import re
import signal
import socket
import subprocess
import sys
import time

import pytest

from wherry_distributed import launch


def command(programs, tmp_path, *options, name="log", steps=6):
    return [
        sys.executable, "-m", "wherry_distributed.launch", "--log_dir", str(tmp_path / name), *options, str(programs / "elastic.py"),
        str(tmp_path / "checkpoint"), str(steps), str(tmp_path / "killed")]


def losses(*texts):
    """What each step has said last: of how many ranks, and its loss."""
    return {int(step): (int(size), float(loss)) for text in texts for size, step, loss in re.findall(r"of (\d), step (\d+): ([\d.]+)", text)}


def test_a_killed_rank_is_left_out_and_the_others_go_on_from_the_checkpoint(programs, tmp_path, segments, left_behind):
    before = segments()
    begin = time.monotonic()
    done = subprocess.run(
        command(programs, tmp_path, "--nproc_per_node", "3", "--elastic"), capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert re.search(r"rank 2 \(pid \d+\) failed: signal SIGKILL", done.stderr) and "start 1 of at most 3, with 2 processes here" in done.stderr
    found = losses(done.stdout)
    assert [found[i][0] for i in range(6)] == [3, 3, 3, 2, 2, 2] or [found[i][0] for i in range(6)] == [3, 3, 2, 2, 2, 2]
    undisturbed = subprocess.run(
        [*command(programs, tmp_path / "other", "--nproc_per_node", "1")[:-1], str(tmp_path / "killed")],
        capture_output=True, text=True, timeout=60, check=True)
    expected = losses(undisturbed.stdout)
    assert all(abs(found[i][1] - expected[i][1]) < 2e-5 for i in range(6)), (found, expected)
    assert os.path.exists(tmp_path / "log" / "workerlog.2.before.1") and not left_behind(before) and time.monotonic() - begin < 120


def test_what_fails_again_and_again_ends(programs, tmp_path):
    script = tmp_path / "fails.py"
    script.write_text("import os; print('start', os.environ['PADDLE_RESTART_COUNT']); raise SystemExit(7)")
    done = subprocess.run(
        [sys.executable, "-m", "wherry_distributed.launch", "--elastic", "--max_restart", "2", "--log_dir", str(tmp_path / "log"), str(script)],
        capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 7 and re.findall(r"start (\d)\n", done.stdout) == ["0", "1", "2"] and "failed 3 times" in done.stderr


def test_hosts_that_are_left_go_on(programs, tmp_path):
    """Two hosts, by two launchers; one of them is killed with all that it has started, the other goes on alone."""
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        master = f"127.0.0.1:{probe.getsockname()[1]}"
    (tmp_path / "killed").touch()
    hosts = [
        subprocess.Popen(
            command(programs, tmp_path, "--nnodes", "1:2", "--master", master, "--rank", str(node), "--elastic_timeout", "5", "--start_timeout", "60",
                    name=str(node), steps=40),
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) for node in range(2)]
    text = ""
    for line in hosts[0].stdout:
        text += line
        if "of 2, step 4" in line:
            break
    hosts[1].send_signal(signal.SIGKILL)  # its rank sees that its parent is gone
    rest, said = hosts[0].communicate(timeout=90)
    hosts[1].communicate(timeout=30)
    found = losses(text + rest)
    assert hosts[0].returncode == 0, said
    assert "start 1 of at most 3" in said and ("the launcher of node 1 is gone" in said or "failed" in said)
    assert losses(text)[3][0] == 2 and found[39][0] == 1 and found[39][1] < found[0][1]


@pytest.mark.parametrize(("text", "expected"), [("1", (1, 1)), ("2:4", (2, 4)), ("4:2", None), ("a", None), ("0", None), ("1:2:3", None)])
def test_numbers_of_hosts(text, expected, capsys):
    if expected is not None:
        assert launch.bounds(text) == expected
    else:
        assert launch.main(["--nnodes", text, "x.py"]) == 2 and "not a number of hosts" in capsys.readouterr().err
