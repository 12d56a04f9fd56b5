"""A saved layer predicts as it is loaded, and trains as it was written; its values can be read alone."""
import numpy as np
import pytest

import wherry_nn as nn
from wherry_graph import jit, static
from wherry_nn.functional.fused import fused_dropout_add
from wherry_paddle_files import desc
from wherry_program.program.capture import capture
from wherry_program.program.input_spec import InputSpec
from wherry_tensor import ones, to_tensor
from wherry_train import load


class Net(nn.Layer):
    def __init__(self, momentum=0.7):
        super().__init__()
        self.linear, self.bn, self.drop = nn.Linear(4, 4), nn.BatchNorm1D(4, momentum=momentum), nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.bn(self.linear(x)))


SPEC = [InputSpec([None, 4], "float32", "x")]


def data(rows=64):
    return to_tensor(np.random.default_rng(0).standard_normal((rows, 4)).astype("float32"))


def dropped(layer, x):
    return float((layer(x) == 0).astype("float32").mean())


@pytest.mark.parametrize("mode", ["train", "eval"])
def test_a_loaded_layer_predicts_and_drops_in_training_whichever_mode_it_was_saved_in(tmp_path, mode):
    net, x = Net(momentum=1.0), data()  # statistics stay, so that predictions can be compared
    getattr(net, mode)()
    jit.save(net, str(tmp_path / "net"), input_spec=SPEC)
    assert net.training is (mode == "train")
    net.eval()
    loaded = jit.load(str(tmp_path / "net"))
    for _ in range(2):
        np.testing.assert_allclose(loaded(x).numpy(), net(x).numpy(), rtol=1e-5, atol=1e-6)
        loaded.train()
        assert 0.3 < dropped(loaded, x) < 0.7
        loaded.eval()
    assert dropped(loaded, x) == 0


def test_running_statistics_move_again_where_the_layer_was_saved_in_training(tmp_path):
    for mode, moves in ("train", True), ("eval", False):
        net, x = Net(momentum=0.7), data()
        net.drop.p = 0.0
        getattr(net, mode)()
        jit.save(net, str(tmp_path / mode), input_spec=SPEC)
        loaded = jit.load(str(tmp_path / mode))
        loaded.train()
        loaded(x)
        net.train()
        net(x)
        loaded.eval(), net.eval()
        assert np.allclose(loaded(x).numpy(), net(x).numpy(), rtol=1e-4, atol=1e-5) is moves


def test_both_modes_train_the_same_parameters(tmp_path):
    jit.save(Net(), str(tmp_path / "net"), input_spec=SPEC)
    loaded, x = jit.load(str(tmp_path / "net")), data()
    loaded.train()
    loaded(x).sum().backward()
    trained = {p.name for p in loaded.parameters() if p.grad is not None}
    assert len(trained) == 4
    before = loaded.eval() or loaded(x).numpy()
    for p in loaded.parameters():
        p.set_value(p + 1.0)
    assert not np.allclose(before, loaded(x).numpy())


def test_a_file_says_how_its_operators_predict_and_how_they_would_train(tmp_path):
    net = Net()
    jit.save(net, str(tmp_path / "net"), input_spec=SPEC)
    described = desc.parse((tmp_path / "net.pdmodel").read_bytes())
    ops = {op.type: {attr.name: attr.value for attr in op.attrs} for op in described.blocks[0].ops}
    assert ops["dropout"]["is_test"] and ops["batch_norm"]["is_test"]
    assert not ops["batch_norm"]["use_global_stats"]
    assert ops["batch_norm"]["momentum"] == pytest.approx(0.7)


def test_what_python_decides_by_the_mode_is_saved_as_it_is(tmp_path):
    class Choosing(nn.Layer):
        def forward(self, x):
            return x * 2 if self.training else x * 3

    for mode, factor in ("train", 2), ("eval", 3):
        layer = Choosing()
        getattr(layer, mode)()
        jit.save(layer, str(tmp_path / mode), input_spec=SPEC)
        assert float(jit.load(str(tmp_path / mode))(ones([1, 4])).sum()) == 4 * factor


def test_dropout_that_others_look_into_stays_random(tmp_path):
    layer = nn.AlphaDropout(0.5)
    jit.save(layer, str(tmp_path / "net"), input_spec=SPEC)
    assert len(np.unique(jit.load(str(tmp_path / "net"))(ones([8, 4])).numpy())) == 2


class WithResidual(nn.Layer):
    def __init__(self, mode):
        super().__init__()
        self.linear, self.mode = nn.Linear(4, 4), mode

    def forward(self, x):
        return fused_dropout_add(self.linear(x), x, 0.5, self.training, self.mode)


@pytest.mark.parametrize("mode", ["upscale_in_train", "downscale_in_infer"])
@pytest.mark.parametrize("saved_in", ["train", "eval"])
def test_dropout_with_a_residual_is_written_as_two_operators_and_comes_back(tmp_path, mode, saved_in):
    layer, x = WithResidual(mode), data(16)
    layer.eval()
    predicted = layer(x).numpy()
    getattr(layer, saved_in)()
    jit.save(layer, str(tmp_path / "net"), input_spec=[InputSpec([16, 4], "float32", "x")])
    written = [op.type for op in desc.parse((tmp_path / "net.pdmodel").read_bytes()).blocks[0].ops]
    assert written.count("dropout") == 1 and written.count("elementwise_add") == 2 and "bernoulli" not in written
    loaded = jit.load(str(tmp_path / "net"))
    np.testing.assert_allclose(loaded(x).numpy(), predicted, rtol=1e-6)
    loaded.train()
    assert 0.2 < float((loaded(x) == x).astype("float32").mean()) < 0.8


@pytest.mark.parametrize("mode", ["upscale_in_train", "downscale_in_infer"])
def test_a_program_for_test_adds_the_residual_to_what_nothing_is_dropped_of(mode):
    static.enable_static()
    try:
        program = static.Program()
        with static.program_guard(program):
            x, y = static.data("x", [2, 3]), static.data("y", [2, 3])
            out = fused_dropout_add(x, y, 0.25, mode=mode)
        assert [node.type for node in program.nodes] == ["dropout_add"]
        tested = program.clone(for_test=True)
        assert [node.type for node in tested.nodes] == ["add"] if mode == "upscale_in_train" else ["multiply", "add"]
        feed = {"x": np.full((2, 3), 4, "float32"), "y": np.ones((2, 3), "float32")}
        (got,) = static.Executor().run(tested, feed=feed, fetch_list=[out.name])
        assert (got == (5 if mode == "upscale_in_train" else 4)).all()
    finally:
        static.disable_static()


def test_a_residual_of_unknown_size_may_be_broadcast_when_the_program_runs():
    static.enable_static()
    try:
        program = static.Program()
        with static.program_guard(program):
            x, y, z = static.data("x", [2, 3]), static.data("y", [-1, 3]), static.data("z", [-1, 3])
            outs = [fused_dropout_add(a, b, 1.0) for a, b in ((x, y), (y, x), (y, z))]
        assert [node.type for node in program.nodes] == ["dropout", "add"] * 3
        feed = {"x": np.ones((2, 3), "float32"), "y": np.full((1, 3), 2, "float32"), "z": np.full((4, 3), 3, "float32")}
        got = static.Executor().run(program, feed=feed, fetch_list=outs)
        assert [(each.shape, each[0, 0]) for each in got] == [((2, 3), 2), ((2, 3), 1), ((4, 3), 3)]
    finally:
        static.disable_static()


def test_a_call_behind_save_still_drops_nothing_in_evaluation(tmp_path):
    net = Net()
    net.eval()
    net = jit.to_static(net, input_spec=SPEC)
    x = data()
    before = net(x).numpy()
    jit.save(net, str(tmp_path / "net"))
    np.testing.assert_array_equal(net(x).numpy(), before)


def test_load_reads_the_values_of_a_saved_layer_under_the_names_of_its_layers(tmp_path):
    net = Net()
    jit.save(net, str(tmp_path / "net"), input_spec=SPEC)
    state = load(str(tmp_path / "net"))
    assert set(state) == set(net.state_dict())
    for name, value in net.state_dict().items():
        np.testing.assert_array_equal(state[name], value.numpy())
    other = Net()
    other.set_state_dict(state)
    np.testing.assert_array_equal(other.linear.weight.numpy(), net.linear.weight.numpy())


def test_load_reads_the_values_of_a_static_model_under_its_own_names(tmp_path):
    static.enable_static()
    try:
        with static.program_guard(static.Program(), static.Program()):
            x = static.data("x", [None, 4])
            y = static.nn.fc(x, 3)
            exe = static.Executor()
            exe.run(static.default_startup_program())
            names = {p.name for p in y.program.all_parameters()}
            static.save_inference_model(str(tmp_path / "net"), [x], [y], exe)
    finally:
        static.disable_static()
    assert set(load(str(tmp_path / "net"))) == names == set(
        load(str(tmp_path), model_filename="net.pdmodel", params_filename="net.pdiparams")
    )


def test_a_loaded_layer_that_is_saved_again_keeps_how_it_trains(tmp_path):
    net, x = Net(momentum=0.7), data()
    jit.save(net, str(tmp_path / "first"), input_spec=SPEC)
    loaded = jit.load(str(tmp_path / "first"))
    for p in loaded.parameters():
        p.set_value(p * 2.0)
    loaded.train()
    jit.save(loaded, str(tmp_path / "second"))
    again = jit.load(str(tmp_path / "second"))
    loaded.eval()
    np.testing.assert_array_equal(again(x).numpy(), loaded(x).numpy())
    again.train()
    assert 0.3 < dropped(again, x) < 0.7
    before = {name: value.numpy().copy() for name, value in again.state_dict().items()}
    again(x)
    assert sum((value.numpy() != before[name]).any() for name, value in again.state_dict().items()) == 2  # mean and variance
    assert set(load(str(tmp_path / "second"))) == set(again.state_dict())
    jit.save(again, str(tmp_path / "third"))
    third = jit.load(str(tmp_path / "third"))
    third.train()
    assert 0.3 < dropped(third, x) < 0.7


def test_a_program_that_was_changed_after_loading_is_saved_as_it_is(tmp_path):
    jit.save(Net(), str(tmp_path / "first"), input_spec=SPEC)
    loaded, x = jit.load(str(tmp_path / "first")), data()
    program = loaded.program()
    with capture(program):
        program.fetches = [program.fetches[0] * 3.0]
    expected = jit.load(str(tmp_path / "first"))(x).numpy() * 3.0
    jit.save(loaded, str(tmp_path / "second"))
    np.testing.assert_allclose(jit.load(str(tmp_path / "second"))(x).numpy(), expected, rtol=1e-6)


@pytest.mark.parametrize(("layer", "rank"), [(nn.Dropout2D, 2), (nn.Dropout3D, 3)])
def test_whole_channels_are_dropped_in_training_and_none_in_prediction(tmp_path, layer, rank):
    net = nn.Sequential(layer(0.5))
    jit.save(net, str(tmp_path / "net"), input_spec=[InputSpec([None, 8, *[4] * rank])])
    loaded, x = jit.load(str(tmp_path / "net")), ones([64, 8, *[4] * rank])
    assert dropped(loaded, x) == 0
    loaded.train()
    kept = loaded(x).numpy().reshape(64, 8, -1)
    assert 0.3 < (kept == 0).mean() < 0.7 and (kept == kept[..., :1]).all()
