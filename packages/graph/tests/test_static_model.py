"""`Model` in static mode: it trains, evaluates, predicts, saves and loads as in dynamic mode."""
import numpy as np
import pytest

import wherry_nn as nn
from wherry_graph import jit, static
from wherry_nn import unique_name
from wherry_program.program.input_spec import InputSpec
from wherry_tensor import seed
from wherry_train import Model, callbacks, load, metric, optimizer
from wherry_train.io import TensorDataset

X = np.random.default_rng(0).standard_normal((48, 4)).astype("float32")
Y = np.random.default_rng(1).integers(0, 3, (48, 1))
INPUTS, LABELS = [InputSpec([None, 4], "float32", "x")], [InputSpec([None, 1], "int64", "y")]


class Data(TensorDataset):
    def __init__(self):
        pass

    def __len__(self):
        return len(X)

    def __getitem__(self, i):
        return X[i], Y[i]


@pytest.fixture
def static_mode():
    static.enable_static()
    with unique_name.guard(), static.scope_guard(static.Scope()), static.program_guard(static.Program(), static.Program()):
        yield
    static.disable_static()


def network(dropout=0.0):
    return nn.Sequential(
        nn.Linear(4, 8), nn.BatchNorm1D(8, momentum=0.6), nn.ReLU(), nn.Dropout(dropout), nn.Linear(8, 3, weight_attr=nn.initializer.Normal())
    )


class Losses(callbacks.Callback):
    def __init__(self):
        super().__init__()
        self.seen = []

    def on_train_batch_end(self, step, logs=None):
        self.seen.append(logs["loss"][0])


OPTIMIZERS = {
    "adam": lambda params: optimizer.Adam(0.05, parameters=params, weight_decay=0.1),
    "clipped momentum with a schedule": lambda params: optimizer.Momentum(
        optimizer.lr.StepDecay(0.1, 4, 0.5), parameters=params, grad_clip=nn.ClipGradByGlobalNorm(0.1)
    ),
    "groups": lambda params: optimizer.AdamW(0.05, parameters=[
        {"params": params[:2], "learning_rate": 0.1}, {"params": params[2:], "weight_decay": 0.0},
    ]),
}


def trained(make, amp_configs=None, folder=None):
    seed(3)
    net = network()
    model = Model(net, INPUTS, LABELS)
    model.prepare(make(net.parameters()), nn.CrossEntropyLoss(), metric.Accuracy(), amp_configs=amp_configs)
    losses = Losses()
    model.fit(Data(), eval_data=Data(), batch_size=16, epochs=3, shuffle=False, verbose=0, callbacks=[losses])
    if folder is not None:
        model.save(str(folder / "model"))
    found = model.evaluate(Data(), batch_size=16, verbose=0)
    predicted = model.predict(Data(), batch_size=16, stack_outputs=True, verbose=0)[0]
    return losses.seen, found, predicted


@pytest.mark.parametrize("name", OPTIMIZERS)
def test_a_program_trains_evaluates_and_predicts_as_layers_do(request, tmp_path, name):
    with unique_name.guard():
        losses, found, predicted = trained(OPTIMIZERS[name])
    request.getfixturevalue("static_mode")
    got_losses, got_found, got_predicted = trained(OPTIMIZERS[name])
    assert len(losses) == 9
    np.testing.assert_allclose(got_losses, losses, rtol=1e-5)
    np.testing.assert_allclose(got_found["loss"], found["loss"], rtol=1e-5)
    assert got_found["acc"] == found["acc"]
    np.testing.assert_allclose(got_predicted, predicted, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("level", ["O1", "O2"])
def test_mixed_precision_trains_a_program(request, level):
    with unique_name.guard():
        losses, _, _ = trained(OPTIMIZERS["adam"])
    request.getfixturevalue("static_mode")
    got, found, predicted = trained(OPTIMIZERS["adam"], {"level": level, "init_loss_scaling": 128.0})
    np.testing.assert_allclose(got, losses, rtol=0.05)
    assert set(found) == {"loss", "acc"} and predicted.dtype == (np.float16 if level == "O2" else predicted.dtype)


def test_what_a_program_saves_dynamic_mode_loads(request, tmp_path):
    request.getfixturevalue("static_mode")
    _, found, _ = trained(OPTIMIZERS["adam"], folder=tmp_path)
    static.disable_static()
    assert set(load(str(tmp_path / "model.pdparams"))) == set(network().state_dict())
    with unique_name.guard():
        net = network()
        model = Model(net)
        model.prepare(OPTIMIZERS["adam"](net.parameters()), nn.CrossEntropyLoss(), metric.Accuracy())
        model.load(str(tmp_path / "model"))
        again = model.evaluate(Data(), batch_size=16, verbose=0)
        assert len(model._optimizer.state_dict()) == len(load(str(tmp_path / "model.pdopt")))
    np.testing.assert_allclose(again["loss"], found["loss"], rtol=1e-5)


def test_training_goes_on_where_it_was_saved(static_mode, tmp_path):
    def made():
        net = network()
        model = Model(net, INPUTS, LABELS)
        model.prepare(OPTIMIZERS["clipped momentum with a schedule"](net.parameters()), nn.CrossEntropyLoss())
        return model

    first = made()
    first.fit(Data(), batch_size=16, epochs=1, verbose=0)
    first.save(str(tmp_path / "model"))
    expected = [float(first.train_batch([X[:8]], [Y[:8]])[0]) for _ in range(3)]
    second = made()
    second.load(str(tmp_path / "model"))
    np.testing.assert_allclose([float(second.train_batch([X[:8]], [Y[:8]])[0]) for _ in range(3)], expected, rtol=1e-5)
    third = made()
    third.load(str(tmp_path / "model"), reset_optimizer=True)
    assert float(third.train_batch([X[:8]], [Y[:8]])[0]) == pytest.approx(expected[0], rel=1e-5)


def test_a_saved_program_predicts(static_mode, tmp_path):
    model = Model(network(0.5), INPUTS)
    expected = model.predict_batch([X])[0]
    model.save(str(tmp_path / "net"), training=False)
    static.disable_static()
    np.testing.assert_allclose(jit.load(str(tmp_path / "net"))(X).numpy(), expected, rtol=1e-5)


def test_the_users_program_stays_as_it_is_and_the_scope_has_the_values(static_mode):
    net = network()
    main, startup = static.default_main_program(), static.default_startup_program()
    static.Executor().run(startup)
    before = static.global_scope().value("linear_0.w_0").numpy()
    nodes, names = len(main.global_block().ops), set(main.global_block().vars)
    first = len(startup.global_block().ops)
    model = Model(net, INPUTS, LABELS)
    model.prepare(optimizer.SGD(0.1, parameters=net.parameters()), nn.CrossEntropyLoss())
    np.testing.assert_allclose(model.predict_batch([X])[0].shape, (48, 3))
    np.testing.assert_array_equal(static.global_scope().value("linear_0.w_0").numpy(), before)  # not drawn again
    model.train_batch([X], [Y])
    assert (static.global_scope().value("linear_0.w_0").numpy() != before).any()
    assert (len(main.global_block().ops), set(main.global_block().vars), len(startup.global_block().ops)) == (nodes, names, first)
    assert all(p is q for p, q in zip(model.parameters(), net.parameters(), strict=True)) and net[0].weight.program is main


def test_a_network_of_dynamic_mode_is_trained_by_a_program(request):
    with unique_name.guard():
        net = network()
    before = net[0].weight.numpy()
    request.getfixturevalue("static_mode")
    model = Model(net, INPUTS, LABELS)
    model.prepare(optimizer.SGD(0.1, parameters=net.parameters()), nn.CrossEntropyLoss())
    model.train_batch([X], [Y])
    assert (net[0].weight.numpy() != before).any()


def test_several_inputs_and_losses(static_mode):
    class Two(nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 3)

        def forward(self, a, b):
            return self.linear(a), self.linear(b)

    net = Two()
    model = Model(net, [InputSpec([None, 4]), InputSpec([None, 4])], LABELS)
    loss = nn.CrossEntropyLoss()
    model.prepare(optimizer.SGD(0.1, parameters=net.parameters()), lambda p, q, y: [loss(p, y), loss(q, y)])
    losses = model.train_batch([X, X * 2], [Y])
    assert len(losses) == 2 and [out.shape for out in model.predict_batch([X, X])] == [(48, 3), (48, 3)]
    with pytest.raises(ValueError, match="Got 2 inputs and labels, expected 3"):
        model.train_batch([X], [Y])


def test_what_programs_cannot_do_is_refused(static_mode):
    net = network()
    with pytest.raises(AssertionError, match=r"'inputs' must be list or tuple or dict"):
        Model(net)
    model = Model(net, INPUTS, LABELS)
    with pytest.raises(AssertionError, match=r"please call `model.prepare\(\)` first"):
        model.fit(Data(), verbose=0)
    model.prepare(optimizer.SGD(0.1, parameters=net.parameters()), nn.CrossEntropyLoss())
    with pytest.raises(NotImplementedError, match="update == False"):
        model.fit(Data(), batch_size=16, accumulate_grad_batches=2, verbose=0)


def test_the_table_of_a_network_is_printed(static_mode, capsys):
    assert Model(network(), INPUTS).summary() == {"total_params": 99, "trainable_params": 83}
    assert "BatchNorm1D-1" in capsys.readouterr().out
