"""Forecasts of steps: arithmetic that is known by hand, times that are made up, and the command."""
import itertools
import math
import subprocess
import sys

import pytest

from wherry_distributed import planning
from wherry_distributed.launch import main
from wherry_distributed.planning import Link, Machine, Segment

NEAR, FAR = Link(2e-6, 1 / 2e9), Link(1e-5, 1 / 1e9)
BLOCK = Segment("block", forward=1e-3, fixed=0.0, parameters=4e6, divisible=4e6, output=1e5, sums=2)


def test_links():
    assert NEAR.all_reduce(1, 1e6) == 0
    assert NEAR.all_reduce(8, 1e6) == pytest.approx(3 * 2e-6 + 2 * 7 / 8 * 1e6 / 2e9)
    assert NEAR.gather(8, 1e6) * 2 == NEAR.all_reduce(8, 1e6) and FAR.message(1e3) == pytest.approx(1.1e-5)


@pytest.mark.parametrize("cores", [2, 64])
def test_fit_finds_what_times_were_made_of(cores):
    link = Link(3e-6, 4e-10)
    times = [(p, n, link.all_reduce(p, n) * max(1.0, p / cores)) for p in (2, 4, 8, 16) for n in (1024, 1 << 16, 1 << 20, 1 << 22)]
    found = planning.fit(times, cores)
    assert found.alpha == pytest.approx(3e-6) and found.beta == pytest.approx(4e-10)
    shared = [(p, n, seconds + (0.003 if p > cores else 0)) for p, n, seconds in times]  # what the scheduler takes is not the link's
    found = planning.fit(shared, cores)
    assert found.alpha == pytest.approx(3e-6) and found.beta == pytest.approx(4e-10)
    only_size = planning.fit([(2, n, n * 1e-9) for n in (1 << 20, 1 << 22)], cores)
    assert only_size.alpha >= 0 and only_size.all_reduce(2, 1 << 21) == pytest.approx((1 << 21) * 1e-9)
    with pytest.raises(ValueError, match="two times at least"):
        planning.fit(times[:1], cores)


def test_one_process_computes_and_nothing_else():
    alone = planning.forecast([BLOCK] * 4, Machine(NEAR, FAR), {}, 32)
    assert alone.step == alone.compute == pytest.approx(4 * 32 * 1e-3 * 3) and alone.communication == 0 and alone.layout == "one process"


def test_data_parallel_hides_all_but_the_last_bucket():
    segments = [Segment("wide", 1e-3, 0.0, 100e6, 0.0, 1e3, 0)]
    one = planning.forecast(segments, Machine(NEAR, FAR), {"dp": 4}, 400)
    whole = NEAR.all_reduce(4, 100e6) + 2 * NEAR.alpha * (math.ceil(100e6 / planning.BUCKET) - 1)
    assert one.communication == pytest.approx(whole) and one.compute == pytest.approx(0.3)
    assert one.exposed == pytest.approx(whole * planning.BUCKET / 100e6, rel=1e-6)
    crowded = planning.forecast(segments, Machine(NEAR, FAR, cores=2), {"dp": 4}, 400)  # two ranks share a core: nothing is hidden
    assert crowded.compute == pytest.approx(0.6) and crowded.exposed == crowded.communication == pytest.approx(2 * whole)


def test_steps_say_how_ranks_of_one_host_slow_each_other_down():
    machine, truth = Machine(NEAR, FAR, 1 << 20, 2), Machine(NEAR, FAR, 1 << 20, 2, busy=1.5, turn=0.02)
    times = [(ranks, planning.forecast([BLOCK] * 4, truth, {"dp": ranks}, 64).step) for ranks in (2, 4, 8)]
    found = planning.fit_steps([BLOCK] * 4, machine, 64, times)
    assert (found.busy, found.turn) == pytest.approx((1.5, 0.02), rel=1e-3)
    one = planning.forecast([BLOCK] * 4, truth, {"dp": 8}, 64)
    assert one.parts["turns"] == pytest.approx(0.06) and one.exposed >= 0.06
    quick = planning.fit_steps([BLOCK] * 4, machine, 64, [(2, 1e-3)])
    assert (quick.busy, quick.turn) == (1.0, 0.0)


def test_stages_are_even_and_wait_for_each_other():
    costs = [3, 1, 1, 1, 2, 2, 1, 1]
    parts = planning.stages([Segment(str(c), c, 0.0, 1.0, 0.0, 1.0, 0) for c in costs], 4)
    cuts = (sorted(cut) for cut in itertools.combinations(range(1, len(costs)), 3))
    least = min(max(sum(costs[a:b]) for a, b in itertools.pairwise([0, *cut, len(costs)])) for cut in cuts)
    assert len(parts) == 4 and max(sum(s.forward for s in part) for part in parts) == least == 4
    assert [s.name for part in parts for s in part] == [str(c) for c in costs]
    one = planning.forecast([BLOCK] * 4, Machine(NEAR, FAR), {"pp": 4}, 16, batches=16)
    assert one.compute == pytest.approx(16 * 3e-3) and one.bubble == pytest.approx(3 * 3e-3)


def test_tensor_parallel_divides_and_adds_up():
    one = planning.forecast([BLOCK], Machine(NEAR, FAR), {"mp": 4}, 8)
    assert one.compute == pytest.approx(8 * 3e-3 / 4) and one.parts["layers"] == pytest.approx(4 * NEAR.all_reduce(4, 8e5))
    assert one.memory < planning.forecast([BLOCK], Machine(NEAR, FAR), {"dp": 4}, 32).memory


def test_the_best_layout_fits_and_is_the_quickest():
    segments = [BLOCK] * 16
    ranked = planning.best(segments, Machine(NEAR, FAR), 1024, 4096)
    assert all(math.prod(one.degrees.values()) == 1024 and one.degrees["mp"] <= 8 and one.degrees["pp"] <= 16 for one in ranked)
    assert [one.step for one in ranked] == sorted((one.step for one in ranked), key=lambda s: float(f"{s:.3g}"))
    whole = sum(s.parameters for s in segments)
    tight = planning.best(segments, Machine(NEAR, FAR, memory=whole / 2), 1024, 4096)
    assert tight[0].memory <= whole / 2 and tight[0].step >= ranked[0].step and tight[0].degrees["dp"] < 1024
    with pytest.raises(ValueError, match="no layout fits into memory"):
        planning.best(segments, Machine(NEAR, FAR, memory=10.0), 8, 64)
    with pytest.raises(ValueError, match="no layout has a sample for each rank"):
        planning.best([Segment("one", 1.0, 0.0, 1.0, 0.0, 1.0, 0)], Machine(NEAR, FAR), 64, 2)


@pytest.mark.parametrize(("text", "options", "said"), [
    ("def layers(): return []", [], "no example"),
    (None, [], "no such file"),
    ("def layers(): return []\ndef example(n): return n, n", [], "no number of samples"),
    ("def layers(): return []\ndef example(n): return n, n\nBATCH = 8", ["--calibrate", "many"], "--calibrate are numbers of ranks"),
])
def test_wrong_files_are_told(tmp_path, capsys, text, options, said):
    path = tmp_path / "model.py"
    if text is not None:
        path.write_text(text)
    assert main(["--plan", str(path), "--ranks", "8", *options]) == 2
    assert said in capsys.readouterr().err


MODEL = """
import wherry_nn as nn, wherry_ops_cpu.column, wherry_tensor as wt
wherry_ops_cpu.column.register()
BATCH = 64
def layers():
    return [nn.Embedding(16, 8), nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Linear(32, 8)), nn.Linear(8, 16)]
def example(n):
    tokens = wt.randint(0, 16, [n, 5])
    return tokens, tokens
def loss(scores, labels):
    return nn.functional.cross_entropy(scores.reshape([-1, 16]), labels.reshape([-1]))
"""


def test_the_command_measures_and_prints(tmp_path):
    (tmp_path / "model.py").write_text(MODEL)
    done = subprocess.run(
        [sys.executable, "-m", "wherry_distributed.launch", "--plan", "model.py", "--ranks", "16", "--calibrate", "2", "--check", "2", "--top", "3"],
        capture_output=True, text=True, timeout=120, cwd=tmp_path, check=False)
    assert done.returncode == 0, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0].startswith("3 segments, ") and "16 ranks, of " in done.stdout and any(line.startswith("best: ") for line in lines)
    check = next(line for line in lines if line.startswith("check: data parallel on 2 ranks"))
    assert "forecast" in check and check.endswith("%")
