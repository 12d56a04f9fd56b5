"""How many threads kernels use by default."""
import os
import subprocess
import sys
import threading

import numpy as np
import pytest

import wherry_tensor as w
from wherry_tensor.threads import cgroup_cores, default_num_threads


def program(text, **environment):
    """What `text`, run in a fresh process, prints."""
    inherited = {k: v for k, v in os.environ.items() if k not in ("OMP_NUM_THREADS", "FLAGS_paddle_num_threads")}
    done = subprocess.run([sys.executable, "-c", text], capture_output=True, text=True, env=inherited | environment)
    assert done.returncode == 0, done.stderr
    return done.stdout.strip()


COUNT = "import wherry_tensor as w; print(w.get_num_threads())"


def fake_system(root, groups, files):
    """A root folder with `proc/self/cgroup` and files below `sys/fs/cgroup`."""
    for name, text in {"proc/self/cgroup": groups, **{f"sys/fs/cgroup/{k}": v for k, v in files.items()}}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return str(root)


def test_groups_of_version_two_limit_together_with_those_above_them(tmp_path):
    root = fake_system(tmp_path, "0::/jobs/mine\n", {
        "cpu.max": "max 100000\n", "jobs/cpu.max": "300000 100000\n", "jobs/mine/cpu.max": "800000 100000\n",
    })
    assert cgroup_cores(root) == 3


def test_a_part_of_a_core_counts_as_one(tmp_path):
    assert cgroup_cores(fake_system(tmp_path, "0::/\n", {"cpu.max": "150000 100000\n"})) == 2
    assert cgroup_cores(fake_system(tmp_path, "0::/\n", {"cpu.max": "5000 100000\n"})) == 1


def test_groups_of_version_one(tmp_path):
    root = fake_system(tmp_path, "4:memory:/a\n3:cpu,cpuacct:/docker/abc\n0::/\n", {
        # In a container the mount holds the container's own group, not the path that the host sees.
        "cpu,cpuacct/cpu.cfs_quota_us": "400000\n", "cpu,cpuacct/cpu.cfs_period_us": "100000\n",
    })
    assert cgroup_cores(root) == 4


@pytest.mark.parametrize("groups, files", [
    ("", {}),
    ("0::/\n", {"cpu.max": "max 100000\n"}),
    ("0::/\n", {"cpu.max": "\n"}),
    ("0::/\n", {"cpu.max": "100000 0\n"}),
    ("1:cpu:/\n", {"cpu/cpu.cfs_quota_us": "-1\n", "cpu/cpu.cfs_period_us": "100000\n"}),
    ("nonsense\n0::/../..\n", {"cpu.max": "a b c\n"}),
])
def test_without_a_limit_there_is_none(tmp_path, groups, files):
    assert cgroup_cores(fake_system(tmp_path, groups, files)) is None


def test_the_default_is_the_least_of_affinity_and_groups(tmp_path, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    assert default_num_threads(str(tmp_path)) == 8
    assert default_num_threads(fake_system(tmp_path, "0::/\n", {"cpu.max": "200000 100000\n"})) == 2
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {5}, raising=False)
    assert default_num_threads(str(tmp_path)) == 1


@pytest.mark.skipif(not hasattr(os, "sched_setaffinity"), reason="needs os.sched_setaffinity")
def test_the_cores_of_the_affinity_are_used():
    one = min(os.sched_getaffinity(0))
    assert program(f"import os; os.sched_setaffinity(0, [{one}]); {COUNT}") == "1"
    if not os.path.exists("/sys/fs/cgroup/cpu.max"):
        assert program(COUNT) == str(len(os.sched_getaffinity(0)))


@pytest.mark.parametrize("environment, expected", [
    ({"OMP_NUM_THREADS": "5"}, 5),
    ({"OMP_NUM_THREADS": " 6 ,2"}, 6),
    ({"FLAGS_paddle_num_threads": "3"}, 3),
    ({"OMP_NUM_THREADS": "5", "FLAGS_paddle_num_threads": "3"}, 3),
])
def test_the_environment_is_stronger(environment, expected):
    assert program(COUNT, **environment) == str(expected)
    assert program("import wherry_tensor as w; w.set_num_threads(7); print(w.get_num_threads())", **environment) == "7"


@pytest.mark.parametrize("nonsense", ["", "0", "-2", "many", "1.5"])
def test_nonsense_in_the_environment_is_as_if_nothing_were_set(nonsense, monkeypatch):
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    expected = default_num_threads()
    monkeypatch.setenv("OMP_NUM_THREADS", nonsense)
    assert default_num_threads() == expected


def test_the_flag_reads_what_is_in_force():
    before = w.get_num_threads()
    try:
        w.set_num_threads(3)
        assert w.get_flags("FLAGS_paddle_num_threads") == {"FLAGS_paddle_num_threads": 3}
        w.set_flags({"FLAGS_paddle_num_threads": 2})
        assert w.get_num_threads() == 2
    finally:
        w.set_num_threads(before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs os.fork")
def test_a_forked_child_has_one_thread_and_may_ask_for_more():
    assert program(
        "import os, wherry_tensor as w\n"
        "w.set_num_threads(4)\n"
        "if os.fork() == 0:\n"
        "    print(w.get_num_threads()); w.set_num_threads(2); print(w.get_num_threads(), flush=True); os._exit(0)\n"
        "os.wait(); print(w.get_num_threads())"
    ).split() == ["1", "2", "4"]


def test_results_of_several_threads_at_once_are_those_of_one():
    from wherry_tensor import ops

    before = w.get_num_threads()
    x = w.to_tensor(np.random.default_rng(0).standard_normal((300, 300)).astype("float32"))

    def work():
        return ops.matmul(x, x, transpose_x=False, transpose_y=False).numpy(), ops.exp(x).numpy()

    w.set_num_threads(1)
    product, powers = work()
    w.set_num_threads(3)
    wrong = []

    def check():
        for _ in range(30):
            found = work()
            if not (np.array_equal(found[0], product) and np.array_equal(found[1], powers)):
                wrong.append(found)

    threads = [threading.Thread(target=check) for _ in range(4)]
    try:
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    finally:
        w.set_num_threads(before)
    assert not wrong
