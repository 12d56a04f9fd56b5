"""Programs of static mode under parameter servers, started by the launcher as users start them."""
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import wherry as paddle

pytest.importorskip("zmq")
EXAMPLE = Path(__file__).parent.parent / "examples" / "parameter_server.py"
COMPARED = """
import sys
import numpy as np
import wherry as paddle
from wherry.distributed import fleet

optimizer, servers, *norm = sys.argv[1:]
paddle.enable_static()
fleet.init(is_collective=False)
ids, y = paddle.static.data("ids", [None, 3], "int64"), paddle.static.data("y", [None, 1])
table = paddle.ParamAttr(name="table", initializer=paddle.nn.initializer.Constant(0.1))
rows = paddle.static.nn.sparse_embedding(ids, size=[50, 4], param_attr=table)
first, last = (np.random.RandomState(i).randn(*shape).astype("float32") * 0.3 for i, shape in enumerate([(12, 8), (8, 1)]))
hidden = paddle.static.nn.fc(paddle.reshape(rows, [-1, 12]), 8, activation="relu", weight_attr=paddle.nn.initializer.Assign(first))
loss = paddle.mean((paddle.static.nn.fc(hidden, 1, weight_attr=paddle.nn.initializer.Assign(last)) - y) ** 2)
clip = paddle.nn.ClipGradByValue(0.05) if optimizer == "SGD" else None
if norm:
    clip = getattr(paddle.nn, norm[0])(0.05)
made = getattr(paddle.optimizer, optimizer)(0.1, grad_clip=clip)
fleet.distributed_optimizer(made, fleet.DistributedStrategy()).minimize(loss)
if fleet.is_server():
    fleet.init_server()
    fleet.run_server()
else:
    exe = paddle.static.Executor()
    exe.run(paddle.static.default_startup_program())
    fleet.init_worker()
    random, share, losses = np.random.RandomState(7), 8 // fleet.worker_num(), []
    for step in range(30):
        i = random.randint(0, 50, [8, 3])
        t = (i.sum(1, keepdims=True) / 75).astype("float32")
        mine = slice(fleet.worker_index() * share, (fleet.worker_index() + 1) * share)
        losses.append(float(exe.run(feed={"ids": i[mine], "y": t[mine]}, fetch_list=[loss])[0]))
    if servers == "servers":
        losses = np.mean(fleet.util.all_gather(losses), axis=0).tolist()
    if fleet.is_first_worker():
        print("losses", losses)
    fleet.stop_worker()
"""


def launched(script, folder, *arguments, servers=1, workers=2, expect=0):
    done = subprocess.run(
        [sys.executable, "-m", "wherry", "launch", "--server_num", str(servers), "--worker_num", str(workers), "--log_dir", str(folder / "log"),
         str(script), *arguments],
        cwd=folder, capture_output=True, text=True, timeout=240, check=False)
    logs = {path.name: path.read_text() for path in sorted((folder / "log").iterdir())}
    assert done.returncode == expect, (done.stdout, done.stderr, logs)
    return done, logs


@pytest.mark.parametrize("optimizer", ["SGD", "Adagrad"])
def test_synchronous_training_has_the_losses_of_one_process(optimizer, tmp_path):
    together, alone = compared(tmp_path, optimizer)
    assert together[-1] < together[0] / 2 and np.abs(together - alone).max() < 1e-6


def compared(folder, optimizer, *norm, workers=2):
    script = folder / "train.py"
    script.write_text(COMPARED)
    together, _ = launched(script, folder, optimizer, "servers", *norm, servers=2, workers=workers)
    alone = subprocess.run([sys.executable, script, optimizer, "alone", *norm], capture_output=True, text=True, timeout=120, check=True)
    return [np.array(eval(text.split("losses ")[1].splitlines()[0])) for text in (together.stdout, alone.stdout)]


@pytest.mark.parametrize("norm", ["ClipGradByGlobalNorm", "ClipGradByNorm"])
def test_norms_are_of_all_rows_of_a_table_which_lie_on_several_servers(norm, tmp_path):
    together, alone = compared(tmp_path, "Adagrad", norm, workers=1)
    assert np.abs(together - alone).max() < 1e-6
    plain, _ = compared(tmp_path, "Adagrad", workers=1)
    assert np.abs(plain - alone).max() > 1e-3


@pytest.mark.parametrize("mode", ["async", "geo"])
def test_the_example_learns(mode, tmp_path):
    done, logs = launched(EXAMPLE, tmp_path, "--mode", mode)
    losses = [float(line.split()[-1]) for line in done.stdout.splitlines() if line.startswith("pass")]
    assert len(losses) == 6 and losses[-1] < 0.9 * losses[0]  # how far depends on when updates meet
    assert "Run parameter-server mode" in done.stderr and "PSERVER" in done.stdout and "all parameter server are killed" in done.stderr
    assert sorted(logs) == ["serverlog.0", "workerlog.0", "workerlog.1"]


def test_training_goes_on_with_another_number_of_servers(tmp_path):
    _, before = launched(EXAMPLE, tmp_path, "--epochs", "3", "--save", str(tmp_path / "tables"))
    done, _ = launched(EXAMPLE, tmp_path, "--epochs", "1", "--load", str(tmp_path / "tables"), servers=2)
    last = [float(line.split()[-1]) for line in before["workerlog.0"].splitlines() if line.startswith("pass")][-1]
    assert float(next(line for line in done.stdout.splitlines() if line.startswith("pass")).split()[-1]) < last + 0.02


SERVED = """
import sys
import numpy as np
import wherry as paddle
from wherry.distributed import fleet

paddle.enable_static()
fleet.init(is_collective=False)
static = paddle.static
ids, y = static.data("ids", [None, 2], "int64"), static.data("y", [None, 1])
show, click = static.data("show", [None, 1]), static.data("click", [None, 1])
entry = paddle.distributed.ShowClickEntry("show", "click")
rows = static.nn.sparse_embedding(ids, size=[10**9, 4], entry=entry, param_attr=paddle.ParamAttr(name="table"))
out = static.nn.fc(paddle.reshape(rows, [-1, 8]), 1)
strategy = fleet.DistributedStrategy()
strategy.fleet_desc_configs = {"table": {"sparse_delete_threshold": 0.5}}
fleet.distributed_optimizer(paddle.optimizer.Adagrad(0.1), strategy).minimize(paddle.mean((out - y) ** 2))
if fleet.is_server():
    fleet.init_server()
    fleet.run_server()
else:
    exe = static.Executor()
    exe.run(static.default_startup_program())
    fleet.init_worker()
    one = np.ones([4, 1], "float32")
    i = np.array([[0, 1], [0, 3], [2, 3], [0, 5]])  # 0 is shown most, 5 clicked
    for _ in range(2):
        exe.run(feed={"ids": i, "y": one, "show": one, "click": one * np.array([[0], [0], [0], [1]], "float32")})
    fleet.barrier_worker()
    if fleet.is_first_worker():  # alone, as programs do
        fleet.save_persistables(exe, sys.argv[1] + "/base")
        fleet.save_persistables(exe, sys.argv[1] + "/first", mode=1)
    fleet.barrier_worker()
    exe.run(feed={"ids": np.array([[0, 3]]), "y": one[:1], "show": 9 * one[:1], "click": one[:1]})
    fleet.save_one_table(0, sys.argv[1] + "/second", mode=1)
    fleet.load_model(sys.argv[1] + "/first")
    fleet.load_one_table(0, sys.argv[1] + "/second")
    fleet.shrink()
    if fleet.is_first_worker():
        asked = np.array([[0, 5], [5, 0]])
        fleet.save_inference_model(exe, sys.argv[1], ["ids"], [out])
        feed = {"ids": asked, "y": one[:2], "show": one[:2], "click": one[:2]}
        found = exe.run(static.default_main_program().clone(for_test=True), feed=feed, fetch_list=[out])[0]
        np.save(sys.argv[1] + "/expected.npy", found)
    else:
        fleet.save_inference_model(exe, sys.argv[1], ["ids"], [out])
    fleet.stop_worker()
"""


def test_rows_of_servers_become_a_parameter_of_a_model_for_inference(tmp_path):
    script, folder = tmp_path / "served.py", tmp_path / "model"
    script.write_text(SERVED)
    launched(script, tmp_path, str(folder), servers=2)
    paddle.enable_static()
    try:
        exe = paddle.static.Executor()
        program, feeds, fetches = paddle.static.load_inference_model(str(folder / "model"), exe)
        found = exe.run(program, feed={feeds[0]: np.array([[0, 5], [5, 0]])}, fetch_list=fetches)[0]
        unknown = exe.run(program, feed={feeds[0]: np.array([[10**12, 2], [-1, 7]])}, fetch_list=fetches)[0]
        ids = np.array(paddle.static.global_scope().find_var("table.ids").get_tensor())
    finally:
        paddle.disable_static()
    np.testing.assert_allclose(found, np.load(folder / "expected.npy"), atol=1e-6)
    # both workers count: 0 was shown twelve times, 3 eight, 5 clicked; 1 and 2 were shown four times, which is worth less than 0.5
    assert ids.tolist() == [0, 3, 5] and unknown[0] == unknown[1]

    def saved(name):
        return sorted(i for path in (folder / name).glob("table.*") for i in paddle.load(str(path), return_numpy=True)["ids"].tolist())

    assert (saved("base"), saved("first"), saved("second")) == ([0, 1, 2, 3, 5], [0, 5], [0, 3])
    assert not list((folder / "second").glob("fc*"))  # one table alone


def test_a_worker_that_fails_ends_the_job_with_its_traceback(tmp_path):
    script = tmp_path / "fails.py"
    script.write_text(COMPARED.replace("    for step in range(30):", "    for step in range(1 // (1 - fleet.worker_index())):"))
    done, _ = launched(script, tmp_path, "SGD", "servers", expect=1)
    assert "worker 1 (pid" in done.stderr and "ZeroDivisionError" in done.stderr


def test_what_servers_cannot_do_is_refused(tmp_path):
    script = tmp_path / "geo.py"
    script.write_text(COMPARED.replace("fleet.DistributedStrategy()", "strategy").replace(
        "clip = ", "strategy = fleet.DistributedStrategy()\nstrategy.a_sync, strategy.a_sync_configs = True, {'k_steps': 5}\nclip = ", 1))
    done, logs = launched(script, tmp_path, "SGD", "servers", expect=1)
    assert "rows of sparse_embedding are on servers" in "".join(logs.values())
    for options, text in [(["--server_num", "1"], "--worker_num None"), (["--servers", "a", "--worker_num", "1"], "no such address. Got 'a'"),
                          (["--servers", "10.254.1.2:80", "--worker_num", "1"], "PADDLE_JOB_SECRET")]:
        done = subprocess.run(
            [sys.executable, "-m", "wherry", "launch", *options, str(script)], capture_output=True, text=True, timeout=60, check=False,
            env={name: value for name, value in os.environ.items() if name != "PADDLE_JOB_SECRET"})
        assert done.returncode == 2 and text in done.stderr, done.stderr


def test_one_process_needs_no_servers(tmp_path):
    with pytest.raises(RuntimeError, match="not a parameter server"):
        paddle.distributed.fleet.init_server()
    with pytest.raises(NotImplementedError, match="no parameter servers"):
        paddle.enable_static()
        try:
            x = paddle.static.data("x", [None], "int64")
            paddle.static.nn.sparse_embedding(x, [3, 2], entry=paddle.distributed.CountFilterEntry(2))
        finally:
            paddle.disable_static()


@pytest.fixture
def static():
    paddle.enable_static()
    with paddle.static.program_guard(paddle.static.Program(), paddle.static.Program()):
        yield paddle.static
    paddle.disable_static()


def test_an_executor_trains_from_data_sets(static, tmp_path, capsys):
    (tmp_path / "a").write_text("1 1 2 0.5 0.25 3 7 8 9\n1 0 2 1.5 1.25 1 4\n1 1 2 2.5 2.25 2 5 6\n")
    label, dense = static.data("label", [None, 1], "int64"), static.data("dense", [None, 2])
    ids = static.data("ids", [None, 1], "int64", lod_level=1)
    total = paddle.sum(dense) + paddle.cast(paddle.sum(ids), "float32")
    dataset = paddle.distributed.InMemoryDataset()
    dataset.init(batch_size=2, thread_num=1, use_var=[label, dense, ids], pipe_command="cat", input_type=0)
    dataset.set_filelist([str(tmp_path / "a")])
    dataset.load_into_memory()
    exe = static.Executor()
    exe.train_from_dataset(static.default_main_program(), dataset, fetch_list=[total], fetch_info=["total"], print_period=1)
    assert capsys.readouterr().out == "total: 31.5\ntotal: 15.75\n"  # as Paddle 2.6 prints of the same files
    loader = paddle.io.DataLoader.from_dataset(dataset, static.cpu_places(), drop_last=True)
    assert [exe.run(feed=feed, fetch_list=[total])[0].item() for feed in loader] == [31.5]


def test_a_program_reads_its_loader(static):
    x, y = static.data("x", [None, 2]), static.data("y", [None, 1], "int64")
    total = paddle.sum(x)
    loader = paddle.io.DataLoader.from_generator(feed_list=[x, y], capacity=4, iterable=False)
    loader.set_sample_generator(lambda: ((np.full([2], i, "float32"), np.array([i])) for i in range(5)), batch_size=2)
    exe = static.Executor()
    with pytest.raises(RuntimeError, match="not started"):
        exe.run(fetch_list=[total])
    for _ in range(2):
        loader.start()
        found = []
        with pytest.raises(paddle.base.core.EOFException, match="no next data"):
            while True:
                found.append(exe.run(fetch_list=[total])[0].item())
        loader.reset()
        assert found == [2.0, 10.0]
    with pytest.raises(RuntimeError, match="the program reads this loader"):
        iter(loader)
    feeds = paddle.io.DataLoader.from_generator(feed_list=[x, y], capacity=4)
    feeds.set_batch_generator(lambda: iter([(np.ones([3, 2], "float32"), np.zeros([3, 1], "int64"))]))
    assert [exe.run(feed=feed, fetch_list=[total])[0].item() for feed in feeds] == [6.0]
    feeds.set_batch_generator(lambda: iter([np.ones([3, 2], "float32")]))
    with pytest.raises(ValueError, match="other fields than feed_list. Got 1, expected 2"):
        next(iter(feeds))
