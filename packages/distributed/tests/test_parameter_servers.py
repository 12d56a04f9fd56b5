"""Tables of parameter servers, and what servers and clients say to each other."""
import secrets
import signal
import socket
import subprocess
import sys
import threading
import time
from contextlib import ExitStack
from pathlib import Path

import numpy as np
import pytest

import wherry_tensor as wt
from wherry_distributed.job import reserved_ports
from wherry_distributed.ps import entries
from wherry_distributed.ps.client import Client
from wherry_distributed.ps.messages import Keys, packed, unpacked
from wherry_distributed.ps.server import Server
from wherry_distributed.ps.statistics import END_OF_DAY, checked_mode
from wherry_distributed.ps.tables import DenseTable, SparseTable
from wherry_nn.initializer import Constant
from wherry_train import load
from wherry_train import optimizer as optimizers

pytest.importorskip("zmq")
SECRET = secrets.token_hex(8)
KEYS = Keys(SECRET)
IDS = np.array([7, 2, 7, 900])


def sgd():
    return optimizers.SGD(0.5, parameters=[wt.zeros([1])])


def sparse(optimizer=None, name="rows", **options):
    return SparseTable(name, 3, "float32", Constant(1.0), optimizer or sgd(), **options)


# Tables.


@pytest.mark.parametrize("make", [
    sgd, lambda: optimizers.Adagrad(0.5, parameters=[wt.zeros([1])]), lambda: optimizers.Momentum(0.5, parameters=[wt.zeros([1])]),
    lambda: optimizers.Adam(0.5, lazy_mode=True, parameters=[wt.zeros([1])]),
], ids=["SGD", "Adagrad", "Momentum", "Adam"])
def test_a_table_takes_the_steps_of_its_optimizer(make):
    table, weight = DenseTable("w", (2, 3), "float32", make()), wt.ones([2, 3])
    weight.name = "w"
    alone = make()._same_for([weight])
    table.set(np.ones([2, 3], "float32"))
    for step in range(3):
        gradient = np.full([2, 3], step + 1.0, "float32")
        table.push(gradient, 0.25)
        alone._learning_rate = 0.25
        alone.apply_gradients([(weight, wt.to_tensor(gradient))])
    assert np.array_equal(table.pull(), weight.numpy())


def test_rows_are_made_when_they_are_asked_for_and_others_stay():
    table = sparse()
    assert np.array_equal(table.pull(IDS), np.ones([4, 3])) and len(table) == 3
    table.push(IDS, np.ones([4, 3], "float32"), 0.5)
    assert table.pull(np.array([7, 2, 900, 5]))[:, 0].tolist() == [0.0, 0.5, 0.5, 1.0]  # 7 occurs twice
    table.push(np.array([123456]), np.ones([1, 3], "float32"), 0.5)                     # nobody has asked for it
    assert len(table) == 4


def test_a_table_grows_with_the_state_of_its_optimizer():
    table, ids = sparse(optimizers.Adagrad(1.0, parameters=[wt.zeros([1])])), np.arange(5000)
    table.pull(ids[:10])
    table.push(ids[:10], np.ones([10, 3], "float32"), 1.0)
    table.pull(ids)
    table.push(ids, np.ones([5000, 3], "float32"), 1.0)
    found = table.pull(ids)
    assert found[0, 0] == pytest.approx(1 - 1 - 1 / 2**0.5, abs=1e-5) and found[4999, 0] == pytest.approx(0, abs=1e-5)


def test_entries_admit_ids():
    table = sparse(entry=entries.CountFilterEntry(3))
    assert table.pull(IDS)[:, 0].tolist() == [0.0] * 4 and len(table) == 0
    assert table.pull(IDS)[:, 0].tolist() == [1.0, 0.0, 1.0, 0.0]  # 7 was asked for four times
    drawn = sparse(entry=entries.ProbabilityEntry(0.25))
    drawn.pull(np.arange(4000))
    assert 800 < len(drawn) < 1200
    assert np.array_equal(sparse(padding=2).pull(IDS)[:, 0], [1.0, 0.0, 1.0, 1.0])
    for wrong in (lambda: entries.CountFilterEntry(0), lambda: entries.ProbabilityEntry(1.5), lambda: entries.ShowClickEntry(1, "click")):
        with pytest.raises(ValueError, match="Entry"):
            wrong()


def counted(**settings):
    return sparse(optimizers.Adagrad(0.5, parameters=[wt.zeros([1])]), entry=entries.ShowClickEntry("show", "click"), settings=settings)


def test_rows_that_are_shown_and_clicked_stay():
    table, ids = counted(), np.array([1, 2, 3, 2])
    assert np.array_equal(table.pull(ids), np.ones([4, 3]))
    shows, clicks = np.array([[1.0], [4], [10], [1]]), np.array([[1.0], [0], [0], [0]])
    table.push(ids, np.hstack([shows, clicks, np.full([4, 3], 0.5)]).astype("float32"), 0.5)
    assert table.statistics.scores(3).tolist() == pytest.approx([1.0, 0.5, 1.0])  # clicks + (shows - clicks) / 10
    before, state = table.pull(np.array([1, 3])), table.state()
    assert table.shrink() == 1 and len(table) == 2 and 2 not in table.slots                # 0.49 < 0.8 <= 0.98
    assert np.array_equal(table.pull(np.array([1, 3])), before)
    again = counted()
    again.take(table.state(), np.array([True, True]))
    for each in (table, again):  # the optimizer's state went with the rows
        each.push(np.array([3, 3]), np.array([[1, 0, 1, 1, 1], [0, 0, 1, 1, 1]], "float32"), 0.5)
    assert np.array_equal(table.pull(np.array([1, 3])), again.pull(np.array([1, 3])))
    assert np.array_equal(table.state()["statistics"], again.state()["statistics"])
    assert table.shrink(0.0) == 0
    for _ in range(31):
        assert len(table) == 2
        ended = table.state(END_OF_DAY)
        table.saved(ended["ids"], ended["statistics"], END_OF_DAY)
        table.shrink(0.0)
    assert not len(table)                                                                  # after thirty days that nobody has seen them
    assert np.array_equal(table.pull(np.array([1, 3])), np.ones([2, 3])) and len(state["ids"]) == 3
    assert counted(delete_threshold=0.0).shrink() == 0 and sparse().shrink() == 0
    with pytest.raises(ValueError, match=r"expected \[1, 5\]"):
        table.push(np.array([1]), np.ones([1, 3], "float32"), 0.5)


def saved(server, folder, mode):
    """The ids that a save writes, and those whose growth it ends."""
    server.save(folder, mode)
    server.handle(b"", [bytes(f) for f in packed({"verb": "saved", "number": 1, "worker": 0})])
    return load(str(folder / "rows.0-of-1.pstable"), return_numpy=True)["ids"].tolist()


def test_rows_whose_score_has_grown_are_saved_on_top_of_all(tmp_path):
    table = counted()
    server = Server("127.0.0.1:0", 0, 1, 1, [table], KEYS)

    def shown(ids, shows, clicks):
        counts = np.array([shows, clicks], "float32").T
        table.push(np.array(ids), np.hstack([counts, np.ones([len(ids), 3], "float32")]), 0.5)

    table.pull(np.array([1, 2, 3]))
    shown([1, 2, 3], [2, 20, 10], [2, 0, 0])     # scores 2, 2 and 1, of which 1.5 is needed
    assert saved(server, tmp_path / "all", 0) == [1, 2, 3] and saved(server, tmp_path / "first", 1) == [1, 2]
    assert saved(server, tmp_path / "none", 1) == [] and saved(server, tmp_path / "worthy", 2) == [1, 2]
    shown([1, 2, 3], [1, 2, 4], [0, 0, 0])       # grown by 0.1, 0.2 and 0.4, of which 0.25 is needed; 3 has 1.4 by now
    assert saved(server, tmp_path / "still_none", 1) == []
    shown([2, 3], [1, 1], [0, 0])
    server.save(tmp_path / "second", 1)
    shown([2], [7], [0])                         # comes between: it counts for the next
    server.handle(b"", [bytes(f) for f in packed({"verb": "saved", "number": 1, "worker": 0})])
    assert load(str(tmp_path / "second" / "rows.0-of-1.pstable"), return_numpy=True)["ids"].tolist() == [2, 3]
    assert table.statistics.values[:, 3] == pytest.approx([0.1, 0.7, 0.0])
    again = counted()
    other = Server("127.0.0.1:0", 0, 1, 1, [again], KEYS)
    other.load(tmp_path / "all")
    shown([1, 2, 3], [0, 0, 0], [0, 0, 0])
    before = again.pull(np.array([1]))
    other.load(tmp_path / "second")
    state = load(str(tmp_path / "second" / "rows.0-of-1.pstable"), return_numpy=True)
    assert len(again) == 3 and np.array_equal(again.pull(np.array([2, 3])), state["weight"]) and np.array_equal(again.pull(np.array([1])), before)
    assert np.array_equal(again.state()["optimizer"]["moment"][1:], state["optimizer"]["moment"])
    with pytest.raises(ValueError, match="where rows.0-of-1.pstable has all of them, expected another folder"):
        server.save(tmp_path / "all", 1)
    with pytest.raises(ValueError, match="no such mode. Got 7, expected 0"):
        checked_mode(7, "save")
    for key in list(state):                      # of Wherry 0.5, which counted no growth
        state[key] = state[key][:, :3] if key == "statistics" else state[key]
    again.take(state, np.array([True, True]))
    assert np.array_equal(again.statistics.values[1:3, :3], state["statistics"]) and not again.statistics.values[1:3, 3].any()


def test_counts_of_workers_add_up_where_gradients_are_averaged():
    server, update = Server("127.0.0.1:0", 0, 1, 2, [counted()], KEYS), np.array([[2, 1, 4, 4, 4]], "float32")
    ids = np.array([5])
    for worker in range(2):
        server.handle(b"", [bytes(f) for f in packed({"verb": "pull_rows", "number": worker + 1, "worker": worker, "table": "rows"}, [ids])])
        header = {"verb": "push", "number": worker + 9, "worker": worker, "dense": [], "sparse": ["rows"], "rate": 0.5, "together": True,
                  "incarnation": str(worker)}
        answers = server.handle(b"", [bytes(f) for f in packed(header, [ids, update])])
    assert len(answers) == 2 and not any("error" in header for _, header, _ in answers)
    assert server.sparse["rows"].state()["statistics"][:, :2].tolist() == [[4.0, 2.0]]


def test_settings_of_counts_are_checked():
    from wherry_distributed.fleet import DistributedStrategy

    strategy = DistributedStrategy()
    strategy.fleet_desc_configs = {"table": {"sparse_delete_threshold": 0.25}}
    for wrong, error in (({"sparse_embedx_dim": 3}, NotImplementedError), ({"sparse_show_click_decay_rate": 1.5}, ValueError),
                         ({"sparse_click_coeff": "1"}, TypeError), (3, TypeError)):
        with pytest.raises(error, match="strategy: "):
            strategy.fleet_desc_configs = {"table": wrong}
    assert strategy.fleet_desc_configs == {"table": {"sparse_delete_threshold": 0.25}}


@pytest.mark.parametrize("servers", [1, 2, 3])
def test_what_one_number_of_servers_saved_another_takes(servers, tmp_path):
    def job(count):
        def tables(i):
            rows = sparse(optimizers.Adagrad(0.5, parameters=[wt.zeros([1])]), "a/b")
            return [rows, *([DenseTable("w", (2,), "float32", sgd())] if i == 0 else [])]

        return [Server("127.0.0.1:0", i, count, 1, tables(i), KEYS) for i in range(count)]

    before, ids = job(2), np.arange(11)
    for i, server in enumerate(before):
        mine = ids[ids % 2 == i]
        server.sparse["a/b"].pull(mine)
        server.sparse["a/b"].push(mine, mine[:, None].repeat(3, 1).astype("float32"), 0.5)
    before[0].dense["w"].set(np.array([3.0, 4.0], "float32"))
    for server in before:
        server.save(tmp_path)
    after = job(servers)
    for server in after:
        server.load(tmp_path)
    assert sum(len(server.sparse["a/b"]) for server in after) == 11 and after[0].dense["w"].pull().tolist() == [3.0, 4.0]
    for of in (before, after):
        for i, server in enumerate(of):
            mine = ids[ids % len(of) == i]
            server.sparse["a/b"].push(mine, np.ones([len(mine), 3], "float32"), 0.5)
    found = [np.concatenate([server.sparse["a/b"].pull(ids[ids % len(of) == i]) for i, server in enumerate(of)]) for of in (before, after)]
    order = [np.concatenate([ids[ids % len(of) == i] for i in range(len(of))]).argsort() for of in (before, after)]
    assert np.array_equal(found[0][order[0]], found[1][order[1]])


def test_parts_of_a_table_belong_to_one_save(tmp_path):
    for i in range(2):
        Server("127.0.0.1:0", i, 2, 1, [sparse()], KEYS).save(tmp_path)
    (tmp_path / "rows.1-of-2.pstable").unlink()
    with pytest.raises(ValueError, match=r"not those of one save. Got \['rows.0-of-2.pstable'\]"):
        Server("127.0.0.1:0", 0, 1, 1, [sparse()], KEYS).load(tmp_path)
    with pytest.raises(ValueError, match="'w' is not among the saved tables"):
        Server("127.0.0.1:0", 0, 1, 1, [DenseTable("w", (2,), "float32", sgd())], KEYS).load(tmp_path)


# Messages.


def test_messages_come_back():
    arrays = [np.arange(6).reshape(2, 3), np.array(2.5, "float32"), np.zeros([0, 3], "float32"), np.ones([4, 4], "float32").T[1:]]
    header, found = unpacked(packed({"verb": "x"}, arrays))
    assert header == {"verb": "x"}
    for a, b in zip(arrays, found, strict=True):
        assert a.dtype == b.dtype and a.shape == b.shape and np.array_equal(a, b)
    with pytest.raises(ValueError, match="no tables of this dtype"):
        packed({}, [np.array(["text"])])


@pytest.mark.parametrize("frames", [
    [], [b""], [b"{"], [b"[]"], [b"{}"], [b'{"arrays": 3}'], [b'{"arrays": [["float32", 2]]}'], [b'{"arrays": [["float32", 2]]}', b"1234"],
    [b'{"arrays": [["float32", -1]]}', b""], [b'{"arrays": [["object", 1]]}', b"12345678"], [b'{"arrays": [["float32", 1e9]]}', b""],
    [b'{"arrays": [["float32", 4611686018427387904, 4]]}', b""], [b'{"arrays": [[]]}', b""], [b"[" * 100000], [b" " * (2 << 20)],
])
def test_what_is_not_a_message_is_refused(frames):
    with pytest.raises(ValueError, match="parameter server"):
        unpacked(frames)
    (answer,) = Server("127.0.0.1:0", 0, 1, 1, [sparse()], KEYS).handle(b"x", frames)
    assert "parameter server" in answer[1]["error"]


def test_mutated_requests_get_an_answer():
    random = np.random.RandomState(0)
    server = Server("127.0.0.1:0", 0, 1, 1, [sparse(), DenseTable("w", (3,), "float32", sgd())], KEYS)
    requests = [
        packed({"verb": "hello", "number": 1, "worker": 0, "workers": 1, "tables": {}}),
        packed({"verb": "pull", "number": 2, "worker": 0, "names": ["w"]}),
        packed({"verb": "set", "number": 3, "worker": 0, "names": ["w"]}, [np.ones(3, "float32")]),
        packed({"verb": "pull_rows", "number": 4, "worker": 0, "table": "rows"}, [IDS]),
        packed({"verb": "push", "number": 5, "worker": 0, "incarnation": "a", "dense": ["w"], "sparse": ["rows"], "rate": 0.5, "together": False},
               [np.ones(3, "float32"), IDS, np.ones([4, 3], "float32")]),
        packed({"verb": "gather", "number": 6, "worker": 0, "name": "a", "value": [1]}), packed({"verb": "take", "number": 7, "worker": 0}),
    ]
    answered = 0
    for i in range(3000):
        frames = [bytearray(frame) for frame in requests[i % len(requests)]]
        for _ in range(random.randint(1, 4)):
            frame = frames[random.randint(len(frames))]
            if len(frame):
                frame[random.randint(len(frame))] = random.randint(256)
        answered += len(server.handle(b"x", [bytes(frame) for frame in frames]))
    assert answered > 2500


# A job.


def filled_table():
    table = DenseTable("w", (3,), "float32", sgd())
    table.set(np.full(3, 10.0, "float32"))
    return table


@pytest.fixture
def server(programs, tmp_path):
    """Starts a server at a port, which listens then; ended with the test."""
    with ExitStack() as held:
        started, (port,) = [], reserved_ports(1, held)

        def start(*filled, workers=1):
            with open(tmp_path / f"serverlog.{len(started)}", "w") as log:
                process = subprocess.Popen(
                    [sys.executable, str(programs / "served.py"), str(port), SECRET, str(workers), *filled], stdout=log, stderr=subprocess.STDOUT)
            started.append(process)
            while process.poll() is None:
                with socket.socket() as line:
                    if line.connect_ex(("127.0.0.1", port)) == 0:
                        return process, f"127.0.0.1:{port}"
                time.sleep(0.02)
            raise AssertionError(f"the server has ended: {Path(log.name).read_text()}")

        yield start
        for process in started:
            process.kill()
            process.wait()


def test_a_worker_trains_and_ends_the_job(server):
    process, endpoint = server()
    client = Client([endpoint], 0, 1, KEYS, timeout=60)
    assert not client.hello([{"w": "float32[3]"}])
    with pytest.raises(RuntimeError, match="'w' has no value"):
        client.pull([["w"]])
    client.set([{"w": np.zeros(3, "float32")}])
    assert client.hello([{"w": "float32[3]"}])
    with pytest.raises(RuntimeError, match="another program. Got 'w' float32\\[4\\], expected float32\\[3\\]"):
        client.hello([{"w": "float32[4]"}])
    client.pull_rows("rows", IDS, 3, "float32")
    for _ in range(200):
        client.push([{"w": np.ones(3, "float32")}], {"rows": (IDS, np.ones([4, 3], "float32"))}, 0.5, together=False, wait=False)
    client.flush()
    assert client.pull([["w"]])["w"].tolist() == [-100.0] * 3 and client.rows() == {"rows": 3}
    assert client.pull_rows("rows", IDS, 3, "float32")[:, 0].tolist() == [-199.0, -99.0, -199.0, -99.0]
    with pytest.raises(RuntimeError, match="there is no table 'others'"):
        client.pull_rows("others", IDS, 3, "float32")
    client.close()
    process.wait(60)
    assert process.returncode == 0


def test_a_stranger_is_not_answered(server):
    process, endpoint = server()
    stranger = Client([endpoint], 0, 1, Keys("another"), timeout=1.5)
    with pytest.raises(RuntimeError, match="same PADDLE_JOB_SECRET"):
        stranger.hello([{}])
    stranger.close(stop=False)
    client = Client([endpoint], 0, 1, KEYS, timeout=60)
    client.hello([{}])
    client.close()
    process.wait(60)


def test_without_a_secret_there_is_no_job(monkeypatch):
    monkeypatch.delenv("PADDLE_JOB_SECRET", raising=False)
    with pytest.raises(RuntimeError, match="PADDLE_JOB_SECRET"):
        Keys()


def test_a_server_that_comes_again_is_found_again(server):
    process, endpoint = server("filled")
    client = Client([endpoint], 0, 1, KEYS, timeout=60)
    client.hello([{}])
    process.send_signal(signal.SIGKILL)
    process.wait()
    found = []
    waiting = threading.Thread(target=lambda: found.append(client.pull([["w"]])))
    waiting.start()
    process, _ = server("filled")
    waiting.join(60)
    assert found[0]["w"].tolist() == [10.0] * 3
    client.close()
    process.wait(60)


def test_updates_of_all_workers_are_one_step_and_late_ones_are_named(server):
    process, endpoint = server("filled", workers=2)
    clients = [Client([endpoint], i, 2, KEYS, timeout=60) for i in range(2)]
    for client in clients:
        client.hello([{}])

    def step(i):
        clients[i].push([{"w": np.full(3, i + 1.0, "float32")}], {}, 2.0, together=True, wait=True)

    workers = [threading.Thread(target=step, args=(i,)) for i in range(2)]
    for each in workers:
        each.start()
    for each in workers:
        each.join(60)
    assert clients[0].pull([["w"]])["w"].tolist() == [7.0] * 3  # 10 - 2 * (1 + 2) / 2
    clients[0].timeout = 1.5
    with pytest.raises(RuntimeError, match=r"Of 2 workers these have not come: \[1\]"):
        step(0)
    gathered = []
    clients[0].timeout = 60
    other = threading.Thread(target=lambda: gathered.append(clients[1].gather("all", "b")))
    other.start()
    assert clients[0].gather("all", "a") == ["a", "b"]
    other.join(60)
    for client in clients:
        client.close()
    process.wait(60)
    assert process.returncode == 0 and gathered == [["a", "b"]]


def test_an_update_that_is_sent_again_counts_once():
    server = Server("127.0.0.1:0", 0, 1, 1, [filled_table()], KEYS)
    header = {"verb": "push", "number": 5, "worker": 0, "incarnation": "a", "dense": ["w"], "sparse": [], "rate": 1.0, "together": False}
    push = packed(header, [np.ones(3, "float32")])
    for _ in range(3):
        server.handle(b"x", push)
    assert server.dense["w"].pull().tolist() == [9.0] * 3
