"""`fleet`: strategies, roles, numbering, files."""
import warnings

import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor as wt
from wherry_distributed import fleet
from wherry_distributed.fleet import strategy as strategies
from wherry_distributed.fleet.files import FSFileExistsError, FSFileNotExistsError
from wherry_distributed.mixed_precision import MixPrecisionLayer, MixPrecisionOptimizer, MixPrecisionScaler
from wherry_distributed.recomputing import recompute, recompute_sequential
from wherry_distributed.topology import degrees_of
from wherry_train import amp
from wherry_train.optimizer import SGD


@pytest.mark.parametrize("count", [2, pytest.param(3, marks=pytest.mark.slow)])
def test_what_a_strategy_asks_for_is_done(launch, count):
    _, logs = launch("strategies.py", count=count)
    assert all(log.endswith(f"all right {rank}\n") for rank, log in enumerate(logs))


def other(value):
    """Another value of the same type."""
    if isinstance(value, bool):
        return not value
    if isinstance(value, (int, float)):
        return value + 1
    if isinstance(value, dict):
        return {"table": {"sparse_click_coeff": 2.0}}
    return "other" if isinstance(value, str) else ["other"] if isinstance(value, list) else object()


@pytest.mark.parametrize("name", [*strategies.SWITCHES, *strategies.REFUSED, *strategies.QUIET])
def test_every_field_acts_or_says_that_it_does_not(name):
    made = fleet.DistributedStrategy()
    value = other(getattr(made, name))
    if name in strategies.REFUSED:
        with pytest.raises(NotImplementedError, match=f"strategy: {name} is not there"):
            setattr(made, name, value)
    elif name in strategies.QUIET:
        with pytest.warns(UserWarning, match=f"strategy: {name} has no effect") as seen:
            setattr(made, name, value)
        assert seen[0].filename == __file__
    elif name == "hybrid_parallel_order":
        with pytest.raises(ValueError, match="not an order"):
            setattr(made, name, value)
    else:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            setattr(made, name, value)
        assert getattr(made, name) == value and f"{name}=" in repr(made)


@pytest.mark.parametrize(("group", "name"), [(group, name) for group, values in strategies.CONFIGS.items() for name in values])
def test_every_setting_acts_or_says_that_it_does_not(group, name):
    made = fleet.DistributedStrategy()
    known = getattr(made, group)[name]
    if isinstance(known, dict):
        setattr(made, group, {name: {next(iter(known)): known[next(iter(known))]}})
        return
    if name in strategies.IDLE.get(group, {}):
        with pytest.warns(UserWarning, match="has no effect"):
            setattr(made, group, {name: other(known)})
    else:
        setattr(made, group, {name: other(known)})
    assert getattr(made, group)[name] == other(known) == getattr(getattr(made, group), name)
    with pytest.raises((TypeError, ValueError)):
        getattr(made, group)[name] = object()


def test_what_does_not_exist_is_refused():
    made = fleet.DistributedStrategy()
    with pytest.raises(AttributeError, match="Did you mean 'recompute'"):
        made.recompte = True
    with pytest.raises(AttributeError, match="no attribute 'nothing'"):
        made.nothing  # noqa: B018
    with pytest.raises(ValueError, match="no setting"):
        made.amp_configs = {"speed": 3}
    with pytest.raises(AttributeError, match="no setting"):
        made.amp_configs.speed  # noqa: B018
    with pytest.raises(TypeError, match="expected bool"):
        made.amp = 3
    with pytest.raises(TypeError, match="expected a dict"):
        made.amp_configs = 3


def test_a_strategy_is_written_as_text_and_read(tmp_path):
    made = fleet.DistributedStrategy()
    made.amp, made.localsgd_configs, made.recompute_configs = True, {"k_steps": 7}, {"checkpoints": ["a", 'b"c']}
    made.hybrid_configs = {"mp_degree": 2}
    made.save_to_prototxt(str(tmp_path / "s"))
    read = fleet.DistributedStrategy()
    read.load_from_prototxt(str(tmp_path / "s"))
    assert repr(read) == repr(made) and read.hybrid_configs["mp_degree"] == 2 and read.recompute_configs["checkpoints"] == ["a", 'b"c']
    for damaged in ("amp", "amp_configs {", "}", "amp: true }"):
        (tmp_path / "d").write_text(damaged)
        with pytest.raises(ValueError, match="load_from_prototxt"):
            read.load_from_prototxt(str(tmp_path / "d"))


def test_processes_are_numbered_along_the_axes():
    grid = fleet.CommunicateTopology(["data", "pipe", "model"], [2, 2, 2])
    assert grid.get_comm_list("model") == [[0, 1], [2, 3], [4, 5], [6, 7]] and grid.get_comm_list("data") == [[0, 4], [1, 5], [2, 6], [3, 7]]
    assert grid.get_fused_ranks(["data", "model"]) == [[0, 1, 4, 5], [2, 3, 6, 7]] and grid.get_axis_list("pipe", 1) == [2, 3, 6, 7]
    assert grid.get_rank(data=1, pipe=0, model=1) == 5 and tuple(grid.get_coord(5)) == (1, 0, 1) and grid.get_rank_from_stage(5, pipe=1) == 7
    assert grid.world_size() == 8 and grid.get_dim("pipe") == grid.get_dim_size("pipe") == 2
    for call in (lambda: grid.get_dim("odd"), lambda: grid.get_coord(8), lambda: grid.get_rank(data=2, pipe=0, model=0),
                 lambda: fleet.CommunicateTopology(["data"], [0]), lambda: fleet.HybridCommunicateGroup(grid)):
        with pytest.raises(ValueError, match="expected"):
            call()


def test_degrees_fill_the_processes():
    made = fleet.DistributedStrategy()
    made.hybrid_configs = {"mp_degree": 2, "pp_degree": 2}
    assert degrees_of(made, 8) == [2, 2, 1, 1, 2]
    made.hybrid_parallel_order = ["mp", "pp", "dp", "sharding", "sep"]
    assert degrees_of(made, 8) == [2, 2, 2, 1, 1]
    for size in (6, 2):
        with pytest.raises(ValueError, match="do not divide the processes"):
            degrees_of(made, size)
    made.hybrid_configs = {"dp_degree": 3}
    with pytest.raises(ValueError, match="expected 8"):
        degrees_of(made, 8)


def test_roles_are_read_from_the_environment_or_said():
    role = fleet.PaddleCloudRoleMaker(is_collective=True)
    assert (role._worker_index(), role._worker_num(), role._is_worker(), role._is_server()) == (0, 1, True, False) and "role: 1" in role.to_string()
    user = fleet.UserDefinedRoleMaker(current_id=0, role=fleet.Role.WORKER, worker_num=1, worker_endpoints=["a:1"])
    assert user._get_trainer_endpoints() == ["a:1"]
    with pytest.raises(ValueError, match="a server needs server_endpoints"):
        fleet.UserDefinedRoleMaker(role=fleet.Role.SERVER)
    with pytest.raises(ValueError, match="worker_num=3"):
        fleet.UserDefinedRoleMaker(worker_num=3)


def test_files_of_this_machine(tmp_path):
    files, a, b = fleet.LocalFS(), str(tmp_path / "a"), str(tmp_path / "b")
    files.touch(a)
    files.mkdirs(str(tmp_path / "c" / "d"))
    assert files.ls_dir(str(tmp_path)) == (["c"], ["a"]) and files.is_file(a) and files.is_dir(str(tmp_path / "c"))
    assert not files.need_upload_download()
    with pytest.raises(FSFileNotExistsError):
        files.mv(b, a)
    files.upload(a, b)
    with pytest.raises(FSFileExistsError):
        files.mv(a, b)
    files.mv(a, b, overwrite=True)
    files.rename(b, a)
    assert files.cat(a) == "" and not files.is_exist(b)
    files.delete(str(tmp_path / "c"))
    files.delete(a)
    assert files.ls_dir(str(tmp_path)) == ([], [])


HADOOP = r"""#!/bin/bash
# A stand-in that has the options of `hadoop fs` which HDFSClient uses, on files under $ROOT.
root="${ROOT:?}"; shift
while [[ "$1" == -D* ]]; do echo "$1" >> "$root/.options"; shift; done
command=$1; shift
at() { echo "$root$1"; }
case $command in
  -test) test "$1" "$(at "$2")";;
  -ls) for f in "$(at "$1")"/*; do [ -e "$f" ] || continue; kind=-; [ -d "$f" ] && kind=d
       echo "${kind}rw-r--r-- 1 me us $(stat -c %s "$f") 2026-11-28 00:00 ${f#$root}"; done;;
  -mkdir) mkdir -p "$(at "$2")";;
  -rm) rm -r "$(at "${@: -1}")";;
  -mv) mv "$(at "$1")" "$(at "$2")";;
  -touchz) : > "$(at "$1")";;
  -cat) cat "$(at "$1")";;
  -put) [ "$1" = -f ] && shift; cp -r "$1" "$(at "$2")";;
  -get) [ "$1" = -f ] && shift; cp -r "$(at "$1")" "$2";;
  *) echo "unknown $command" >&2; exit 255;;
esac
"""


def test_files_of_a_cluster_by_the_command_of_hadoop(tmp_path, monkeypatch):
    home, root = tmp_path / "home" / "bin", tmp_path / "root"
    home.mkdir(parents=True)
    root.mkdir()
    (home / "hadoop").write_text(HADOOP)
    (home / "hadoop").chmod(0o755)
    monkeypatch.setenv("ROOT", str(root))
    client = fleet.HDFSClient(str(home.parent), {"fs.default.name": "hdfs://there"}, sleep_inter=1)
    local = tmp_path / "local file"
    local.write_text("words\n")
    client.mkdirs("/data/in")
    client.upload(str(local), "/data/a; rm -rf x")
    client.touch("/data/b")
    assert client.ls_dir("/data") == (["in"], ["a; rm -rf x", "b"]) and client.list_dirs("/data") == ["in"]
    assert client.cat("/data/a; rm -rf x") == "words" and client.cat("/data/none") == "" and client.is_file("/data/b") and client.is_dir("/data/in")
    assert client.list_files_info(["/data"])[0]["size"] == 6
    client.mv("/data/b", "/data/c")
    with pytest.raises(FSFileNotExistsError):
        client.mv("/data/b", "/data/d")
    with pytest.raises(FSFileExistsError):
        client.upload(str(local), "/data/c")
    client.upload(str(local), "/data/c", overwrite=True)
    client.download("/data", str(tmp_path / "got"), multi_processes=2)
    assert (tmp_path / "got" / "c").read_text() == "words\n" and client.need_upload_download()
    client.delete("/data")
    assert not client.is_exist("/data") and "-Dfs.default.name=hdfs://there" in (root / ".options").read_text()
    with pytest.raises(OSError, match="failed with status 1"):
        client._run("-cat", "/nothing")
    with pytest.raises(RuntimeError, match="Hadoop is not there"):
        fleet.HDFSClient(str(tmp_path), {})


@pytest.mark.parametrize("reentrant", [True, False])
def test_recomputation_gives_the_gradients_and_random_numbers_of_the_first_time(reentrant):
    wt.seed(3)
    layer = nn.Sequential(nn.Linear(4, 8), nn.Dropout(0.5), nn.ReLU(), nn.Linear(8, 4))
    tracker = fleet.get_rng_state_tracker()
    tracker.reset()
    tracker.add("local", 11)

    def named(x):
        with tracker.rng_state("local"):
            return nn.functional.dropout(layer(x), 0.3)

    x = wt.rand([5, 4])
    x.stop_gradient = False
    state, states, grads = wt.get_rng_state(), tracker.get_states_tracker(), []
    for call in (named, lambda x: recompute(named, x, use_reentrant=reentrant)):
        wt.set_rng_state(state)
        tracker.set_states_tracker(dict(states))
        call(x).square().sum().backward()
        after = wt.rand([1]).item()
        grads.append([after, x.grad.numpy(), *(p.grad.numpy() for p in layer.parameters())])
        x.clear_grad()
        layer.clear_gradients()
    assert all(np.array_equal(a, b) for a, b in zip(*grads, strict=True))
    tracker.reset()


def test_recomputation_without_reentrance_reaches_parameters_of_frozen_inputs():
    layer = nn.Linear(4, 2)
    recompute(layer, wt.ones([3, 4]), use_reentrant=False).sum().backward()
    assert layer.weight.grad.tolist() == [[3.0, 3.0]] * 4
    out = recompute_sequential({"segments": 2}, nn.Sequential(layer, nn.ReLU(), nn.Linear(2, 2)), wt.ones([3, 4]))
    assert out.shape == [3, 2]
    calls = [0]

    def changing(x):
        calls[0] += 1
        return x.exp() if calls[0] == 1 else x.exp().exp()

    x = wt.ones([2])
    x.stop_gradient = False
    with pytest.raises(RuntimeError, match="keeps other tensors the second time"):
        recompute(changing, x, use_reentrant=False).sum().backward()


@pytest.mark.parametrize("scaled", [False, True])
def test_gradients_of_half_precision_are_added_up_in_float32(scaled):
    def job(wide):
        wt.seed(2)
        net = nn.Linear(4, 3)
        if not wide:
            net.to(dtype="bfloat16")
        return net, SGD(0.125, parameters=net.parameters(), multi_precision=True)

    net, optimizer = job(False)
    model, optimizer = MixPrecisionLayer(net, "bfloat16"), MixPrecisionOptimizer(optimizer)
    scaler = MixPrecisionScaler(amp.GradScaler(init_loss_scaling=4.0)) if scaled else None
    x = wt.ones([2, 4], dtype="bfloat16")
    for _ in range(257):  # 256 + 1 is 256 in bfloat16
        loss = model(x).sum()
        (loss if scaler is None else scaler.scale(loss)).backward()
    assert net.weight.grad is None and net.weight.main_grad.dtype == wt.float32
    assert net.weight.main_grad.numpy()[0, 0] == 2 * 257 * (4 if scaled else 1)
    before = net.weight.astype("float32").numpy()
    if scaler is None:
        optimizer.step()
    else:
        scaler.step(optimizer)
        scaler.update()
    optimizer.clear_grad()
    assert net.weight.main_grad is None
    np.testing.assert_allclose(net.weight.astype("float32").numpy(), before - 0.125 * 514, rtol=1e-2)
    with pytest.raises(ValueError, match="has not 16 bits"):
        MixPrecisionLayer(net, "float32")
