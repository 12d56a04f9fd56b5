"""Model: batches, whole data sets, files, mixed precision."""
import re

import numpy as np
import pytest

import wherry_nn as nn
from wherry_nn import functional as F
from wherry_tensor import get_device, seed, to_tensor
from wherry_train import Model
from wherry_train.callbacks import Callback, EarlyStopping
from wherry_train.io import DataLoader, Dataset, IterableDataset, TensorDataset
from wherry_train.metric import Accuracy, Metric
from wherry_train.optimizer import SGD, Adam


class Points(Dataset):
    def __init__(self, count, label=True):
        self.count = count
        self.label = label
        self.read = []

    def __getitem__(self, index):
        self.read.append(index)
        point = np.full([4], index / 10, "float32")
        return (point, np.array([index % 3])) if self.label else point

    def __len__(self):
        return self.count


class Log(Callback):
    """Everything that was called, with its logs."""

    def __init__(self):
        super().__init__()
        self.calls = []

    def __getattribute__(self, name):
        if name.startswith("on_"):
            return lambda *args: self.calls.append((name, *args))
        return super().__getattribute__(name)


def prepared(optimizer=SGD, rate=0.1, metrics=None, loss=None, **options):
    seed(0)
    model = Model(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 3)))
    loss = nn.CrossEntropyLoss() if loss is None else loss
    model.prepare(optimizer(rate, parameters=model.parameters()), loss, metrics, **options)
    return model


X, Y = np.ones([2, 4], "float32"), np.zeros([2, 1], "int64")


def test_one_batch_is_a_step_by_hand():
    model, other = prepared(metrics=Accuracy()), prepared()
    net = other.network
    losses, metrics = model.train_batch([X], [Y])
    loss = F.cross_entropy(net(to_tensor(X)), to_tensor(Y))
    loss.backward()
    other._optimizer.step()
    assert isinstance(losses[0], np.ndarray) and losses[0].shape == () and losses[0] == loss.numpy()
    assert metrics in ([0.0], [1.0])
    for p, q in zip(model.parameters(), other.parameters()):
        np.testing.assert_array_equal(p.numpy(), q.numpy())
    assert model.network.training
    after = [p.numpy() for p in model.parameters()]
    [evaluated], _ = model.eval_batch(to_tensor(X), to_tensor(Y))
    assert not model.network.training
    [scores] = model.predict_batch(X)
    np.testing.assert_array_equal(scores, net(to_tensor(X)).numpy())
    assert evaluated == F.cross_entropy(to_tensor(scores), to_tensor(Y)).numpy()
    for p, before in zip(model.parameters(), after):
        np.testing.assert_array_equal(p.numpy(), before)


def test_without_update_gradients_add_up():
    model = prepared()
    model.train_batch([X], [Y], update=False)
    once = model.network[0].weight.grad.numpy()
    model.train_batch([X], [Y], update=False)
    np.testing.assert_allclose(model.network[0].weight.grad.numpy(), 2 * once)


def test_several_losses_are_added_up():
    model = prepared(loss=lambda scores, label: [F.cross_entropy(scores, label), (scores**2).mean()])
    first, second = model.train_batch([X], [Y])
    assert first != second
    log = Log()
    model.fit(Points(2), verbose=0, callbacks=log)
    assert len(log.calls[3][2]["loss"]) == 2


def test_what_a_run_calls(capsys):
    log = Log()
    prepared(metrics=Accuracy((1, 2))).fit(Points(4), Points(3), batch_size=2, epochs=2, verbose=0, callbacks=[log])
    epoch = [
        "on_epoch_begin", *["on_train_batch_begin", "on_train_batch_end"] * 2, "on_epoch_end",
        "on_eval_begin", *["on_eval_batch_begin", "on_eval_batch_end"] * 2, "on_eval_end",
    ]
    assert [name for name, *_ in log.calls] == ["on_train_begin", *epoch * 2, "on_train_end"]
    assert log.params == {
        "batch_size": None, "epochs": 2, "steps": 2, "verbose": 0, "metrics": ["loss", "acc_top1", "acc_top2"],
    }
    _, step, logs = log.calls[5]
    assert step == 1 and list(logs) == ["loss", "acc_top1", "acc_top2", "step", "batch_size"]
    assert (logs["step"], logs["batch_size"]) == (1, 2) and isinstance(logs["loss"][0], float)
    assert log.calls[7] == ("on_eval_begin", {"steps": 2, "metrics": ["loss", "acc_top1", "acc_top2"]})
    assert log.calls[11][2]["batch_size"] == 1
    assert capsys.readouterr().out == ""


def test_logs_have_the_metric_over_the_epoch_and_reset_it():
    class Batches(Metric):
        count = 0

        def reset(self):
            self.count = 0

        def update(self, *args):
            self.count += 1
            return "of the batch"

        def accumulate(self):
            return self.count

        def name(self):
            return "batches"

    log = Log()
    model = prepared(metrics=[Batches()])
    model.fit(Points(6), Points(4), batch_size=2, epochs=2, verbose=0, callbacks=log)
    assert [c[2]["batches"] for c in log.calls if c[0] == "on_train_batch_end"] == [1, 2, 3] * 2
    assert [c[2]["batches"] for c in log.calls if c[0] == "on_eval_batch_end"] == [1, 2] * 2
    assert model.train_batch([X], [Y])[1] == ["of the batch"]


def test_the_order_is_paddles():
    # DistributedBatchSampler of real Paddle 2.6.2, which fit uses there.
    data = Points(10)
    for _ in range(2):
        prepared().fit(data, batch_size=2, epochs=2, verbose=0)
        assert data.read == [2, 8, 4, 9, 1, 6, 7, 3, 0, 5, 2, 9, 6, 4, 0, 3, 1, 7, 8, 5]
        data.read.clear()
    prepared().fit(data, batch_size=4, drop_last=True, shuffle=False, verbose=0)
    assert data.read == list(range(8))


@pytest.mark.parametrize("options, steps, evaluations", [
    ({"epochs": 5, "eval_freq": 2}, 15, 3),
    ({"epochs": 6, "eval_freq": 4}, 18, 2),
    ({"num_iters": 2}, 2, 1),
    ({"num_iters": 3}, 3, 1),
    ({"num_iters": 4, "epochs": 1}, 4, 2),
    ({"num_iters": 7}, 7, 3),
    ({"batch_size": [3, 6]}, 2, 1),
])
def test_how_often_is_trained_and_evaluated(options, steps, evaluations):
    log = Log()
    prepared().fit(Points(6), Points(6), verbose=0, callbacks=log, **{"batch_size": 2, **options})
    names = [name for name, *_ in log.calls]
    assert (names.count("on_train_batch_end"), names.count("on_eval_end")) == (steps, evaluations)


@pytest.mark.parametrize("count", [4, 5])  # the last update has fewer batches
def test_accumulated_gradients_are_those_of_a_larger_batch_without_the_mean(count):
    class Updates(Callback):
        def on_train_begin(self, logs=None):
            self.at = []
            self.before = self.weight()

        def weight(self):
            return self.model.network[0].weight.numpy()

        def on_train_batch_end(self, step, logs=None):
            now = self.weight()
            if not np.array_equal(now, self.before):
                self.at.append(step)
            self.before = now

    updates = Updates()
    prepared().fit(Points(count), batch_size=1, shuffle=False, verbose=0, accumulate_grad_batches=2, callbacks=updates)
    assert updates.at == ([1, 3] if count == 4 else [1, 3, 4])

    model = prepared(loss=nn.CrossEntropyLoss(reduction="sum"))
    model.fit(Points(count), batch_size=2, shuffle=False, verbose=0)
    np.testing.assert_allclose(updates.before, model.network[0].weight.numpy(), rtol=1e-5, atol=1e-6)


def test_gradients_left_over_are_used_where_nobody_knows_the_end():
    whole, stream = prepared(), prepared()
    whole.fit(Points(5), shuffle=False, verbose=0, accumulate_grad_batches=2)
    stream.fit(Stream(5), verbose=0, accumulate_grad_batches=2)
    np.testing.assert_array_equal(whole.network[0].weight.numpy(), stream.network[0].weight.numpy())
    assert stream.network[0].weight.grad is None or not stream.network[0].weight.grad.numpy().any()


class Stream(IterableDataset):
    def __init__(self, count):
        self.count = count

    def __iter__(self):
        return (Points(self.count)[i] for i in range(self.count))


@pytest.mark.parametrize("data, batches", [
    (Points(5), 3),
    (Stream(5), 3),
    (DataLoader(Points(5), batch_size=3), 2),
    ([[X, Y], [X, Y]], 2),
    ([[[X], [Y]]], 1),
])
def test_what_can_be_data(data, batches, capsys):
    model = prepared(metrics=Accuracy())
    log = Log()
    model.fit(data, data, batch_size=2, verbose=2, log_freq=1, callbacks=log)
    names = [name for name, *_ in log.calls]
    assert names.count("on_train_batch_end") == names.count("on_eval_batch_end") == batches
    assert capsys.readouterr().out.count("s/step\n") == 2 * batches
    assert sorted(model.evaluate(data, batch_size=2, verbose=0)) == ["acc", "loss"]
    assert len(model.predict(data, batch_size=2, verbose=0)[0]) == batches


def test_what_lines_say(capsys):
    model = prepared(metrics=Accuracy())
    model.fit(Points(6), Points(4), batch_size=2, epochs=2, log_freq=2)
    model.evaluate(Points(4), batch_size=2)
    model.predict(Points(4), batch_size=2)
    text = re.sub(r"\d+\.\d+(e-\d+|e\+\d+)?", "F", re.sub(r"\d+[mu]?s/step", "T", capsys.readouterr().out))
    heading = (
        "The loss value printed in the log is the current step, and the metric is the average value of previous steps."
    )
    evaluation = ["Eval begin...", "step 2/2 - loss: F - acc: F - T", "Eval samples: 4"]
    epoch = ["step 2/3 - loss: F - acc: F - T", "step 3/3 - loss: F - acc: F - T", *evaluation]
    assert text.splitlines() == [
        heading, "Epoch 1/2", *epoch, "Epoch 2/2", *epoch, *evaluation,
        "Predict begin...", "step 2/2 [==============================] - T", "Predict samples: 4",
    ]


def test_evaluate_and_predict_say_what_a_loop_says():
    model = prepared(metrics=Accuracy())
    data = Points(7)
    found = model.evaluate(data, batch_size=3, verbose=0)
    scores = model.predict(data, batch_size=3, stack_outputs=True, verbose=0)[0]
    labels = np.arange(7) % 3
    assert scores.shape == (7, 3)
    assert found["acc"] == (scores.argmax(axis=1) == labels).mean()
    assert found["loss"] == pytest.approx([float(F.cross_entropy(to_tensor(scores[6:]), to_tensor(labels[6:])))])
    pieces = model.predict(data, batch_size=3, verbose=0)
    assert isinstance(pieces[0], tuple) and [piece.shape for piece in pieces[0]] == [(3, 3), (3, 3), (1, 3)]
    assert len(data.read) == 21


def test_evaluation_of_some_batches_reads_no_more():
    data = Points(8)
    prepared().evaluate(data, batch_size=2, num_iters=2, verbose=0)
    ahead = 2 if get_device().startswith("gpu") else 0  # a batch for a GPU is made and copied while the program works on the one before
    assert data.read == list(range(4 + ahead))


class Two(nn.Layer):
    def forward(self, x, z):
        return x + 1, z * 2


class Pairs(Dataset):
    def __getitem__(self, index):
        return np.zeros(3, "float32"), np.ones(2, "float32"), np.array([1])

    def __len__(self):
        return 3


class Spec:
    def __init__(self, *shape):
        self.shape = shape
        self.dtype = "float32"


@pytest.mark.parametrize("described", [{}, {"inputs": [Spec(None, 3), Spec(None, 2)]}, {"labels": Spec(None, 1)},
                                       {"inputs": {"x": Spec(None, 3), "z": Spec(None, 2)}}])
def test_inputs_are_told_from_labels(described):
    first, second = Model(Two(), **described).predict(Pairs(), batch_size=2, stack_outputs=True, verbose=0)
    np.testing.assert_array_equal(first, np.ones([3, 3]))
    np.testing.assert_array_equal(second, np.full([3, 2], 2.0))


def test_any_number_of_arguments_leaves_the_label():
    class Any(nn.Layer):
        def forward(self, *inputs):
            assert len(inputs) == 2
            return inputs[0]

    assert len(Model(Any()).predict(Pairs(), verbose=0)) == 1


def test_data_without_labels():
    model = Model(nn.Linear(4, 2))
    model.prepare(loss=lambda scores: scores.mean())
    assert list(model.evaluate(Points(3, label=False), verbose=0)) == ["loss"]
    model.prepare(metrics=Accuracy())
    assert list(model.evaluate(Points(3), verbose=0)) == ["acc"]
    assert model.eval_batch([X], [Y]) in ([0.0], [1.0])


def test_early_stopping_ends_this_fit_and_not_the_next():
    model = prepared(rate=0.0, metrics=Accuracy())
    log = Log()
    model.fit(Points(2), Points(2), epochs=5, verbose=0, callbacks=[EarlyStopping(verbose=0), log])
    assert [name for name, *_ in log.calls].count("on_epoch_end") == 2
    log.calls.clear()
    model.fit(Points(2), epochs=3, verbose=0, callbacks=log)
    assert [name for name, *_ in log.calls].count("on_epoch_end") == 3
    with pytest.warns(UserWarning, match="EarlyStopping needs validation data"):
        model.fit(Points(2), verbose=0, callbacks=EarlyStopping())


def test_save_and_load_bring_weights_and_optimizer_back(tmp_path):
    model = prepared(Adam, 0.01)
    model.fit(Points(6), batch_size=2, verbose=0)
    path = str(tmp_path / "folder" / "model")
    model.save(path)
    assert sorted(p.name for p in (tmp_path / "folder").iterdir()) == ["model.pdopt", "model.pdparams"]
    expected = model.network[0].weight.numpy()
    state = {k: np.array(v.numpy()) for k, v in model._optimizer.state_dict().items()}
    model.fit(Points(6), batch_size=2, verbose=0)
    model.load(path + ".pdparams", reset_optimizer=True)
    np.testing.assert_array_equal(model.network[0].weight.numpy(), expected)
    assert any(not np.array_equal(v.numpy(), state[k]) for k, v in model._optimizer.state_dict().items())
    model.load(path)
    for k, v in model._optimizer.state_dict().items():
        np.testing.assert_array_equal(v.numpy(), state[k])


def test_an_optimizer_without_state_has_no_file(tmp_path):
    prepared().save(str(tmp_path / "model"))
    assert [p.name for p in tmp_path.iterdir()] == ["model.pdparams"]


def test_weights_that_do_not_fit(tmp_path):
    path = str(tmp_path / "model")
    prepared().save(path)
    other = Model(nn.Sequential(nn.Linear(4, 8), nn.ReLU(), nn.Linear(8, 5), nn.Linear(5, 5)))
    with pytest.raises(ValueError, match=r"2.weight receives a shape \[8, 3\], but the expected shape is \[8, 5\]"):
        other.load(path)
    before = other.network[3].weight.numpy()
    with pytest.warns(UserWarning, match="Skip loading for") as warned:
        other.load(path, skip_mismatch=True)
    assert len(warned) == 4
    np.testing.assert_array_equal(other.network[0].weight.numpy(), prepared().network[0].weight.numpy())
    np.testing.assert_array_equal(other.network[3].weight.numpy(), before)


def test_summary_knows_the_shapes(capsys):
    with pytest.raises(ValueError, match="'input_size' must be specified"):
        prepared().summary()
    assert prepared().summary((2, 4)) == {"total_params": 67, "trainable_params": 67}
    Model(nn.Linear(4, 2), inputs=Spec(None, 4)).summary()
    model = prepared()
    model.predict_batch(X)
    model.summary()
    assert re.findall(r"\[\[.*?\]\]", capsys.readouterr().out)[::3] == ["[[2, 4]]", "[[1, 4]]", "[[2, 8]]"]


@pytest.mark.parametrize("level", ["O1", {"level": "O1", "dtype": "bfloat16"}, {"level": "O2", "init_loss_scaling": 128.0},
                                   {"level": "O1", "use_dynamic_loss_scaling": False, "custom_black_list": ["relu"]}])
def test_mixed_precision_learns(level):
    model = prepared(Adam, 0.05, amp_configs=level)
    first = model.train_batch([X], [Y])[0]
    for _ in range(20):
        last = model.train_batch([X], [Y])[0]
    assert np.isfinite(last) and last < first / 2
    dtypes = {p.dtype.name for p in model.parameters()}
    assert dtypes == ({"float16"} if "O2" in str(level) else {"float32"})


@pytest.mark.parametrize("call, error, says", [
    (lambda m: Model(nn.Linear), TypeError, "must be a Layer"),
    (lambda m: Model(nn.Linear(1, 1), inputs=3), TypeError, "inputs are not InputSpecs"),
    (lambda m: m.prepare(loss=3), TypeError, "'loss' must be sub classes of `paddle.nn.Layer` or any callable function"),
    (lambda m: m.prepare(optimizer=3), TypeError, "'optimizer' must be an optimizer"),
    (lambda m: m.prepare(metrics=[Accuracy]), AssertionError, "is not sub class of Metric"),
    (lambda m: m.prepare(amp_configs=3), TypeError, "neither a level nor a dict"),
    (lambda m: m.prepare(amp_configs="O3"), ValueError, "should be 'O0', 'O1' or 'O2'"),
    (lambda m: m.prepare(amp_configs={"speed": 1}), ValueError, "'speed' could not be recognized"),
    (lambda m: m.prepare(amp_configs={"use_fp16_guard": True}), ValueError, "is for static graphs"),
    (lambda m: m.fit(), AssertionError, "train_data must be given"),
    (lambda m: m.fit(Points(2), epochs=0), AssertionError, "epochs counts. Got epochs=0"),
    (lambda m: m.fit(Points(2), log_freq=0), ValueError, "log_freq counts"),
    (lambda m: m.fit(3), TypeError, "expected a paddle.io.Dataset, a DataLoader"),
    (lambda m: m.evaluate(None), TypeError, "Got NoneType"),
    (lambda m: m.save("folder/"), AssertionError, "the file has no name"),
    (lambda m: m.save("x", training=False), (ModuleNotFoundError, RuntimeError), "no wherry_graph|what the network takes is not known"),
    (lambda m: m.load("nowhere/x"), AssertionError, "Failed to load parameters, please check path"),
    (lambda m: (m.prepare(), m.train_batch([X], [Y])), AssertionError, "please call `model.prepare()` first"),
    (lambda m: (m.prepare(loss=nn.MSELoss()), m.fit(Points(2))), RuntimeError, "Got no optimizer"),
])
def test_what_makes_no_sense_is_refused(call, error, says):
    with pytest.raises(error, match=re.escape(says) if "`" in says else says):
        call(prepared())


# Arrays and names.


def arrays(count=40):
    rng = np.random.default_rng(0)
    x = rng.normal(size=(count, 2))  # float64, as NumPy makes them
    return x, (x[:, 0] > 0).astype("int64")


@pytest.mark.parametrize("convert", [lambda a: a, lambda a: to_tensor(a if a.dtype != np.float64 else a.astype("float32"))])
def test_arrays_and_names_are_all_that_a_model_needs(convert):
    x, y = map(convert, arrays())
    model = Model(nn.Linear(2, 2))
    model.prepare("sgd", "cross_entropy", ["accuracy"])
    model.prepare(SGD(0.5, parameters=model.parameters()), "cross-entropy", "acc")
    model.fit(x, y, epochs=20, verbose=0)
    assert model.evaluate(x, y, verbose=0)["acc"] > 0.9
    assert model.evaluate(x, labels=y, batch_size=7, verbose=0)["acc"] > 0.9
    assert model.predict(x, stack_outputs=True, verbose=0)[0].shape == (40, 2)


def test_arrays_come_in_batches_of_32_unless_told_otherwise():
    seen = []

    class Sizes(Callback):
        def on_train_batch_end(self, step, logs=None):
            seen.append(logs["batch_size"])

    x, y = arrays()
    model = Model(nn.Linear(2, 2))
    model.prepare("adam", "cross_entropy")
    model.fit(x, y, verbose=0, callbacks=Sizes())
    model.fit(x, y, batch_size=20, verbose=0, callbacks=Sizes())
    model.fit(x[:3], y[:3], batch_size=1, verbose=0, callbacks=Sizes())
    assert seen == [32, 8, 20, 20, 1, 1, 1]


@pytest.mark.parametrize("batch_size", [(), (20,)])
def test_labels_may_stand_second_beside_data_to_evaluate(batch_size):
    evaluated = []

    class Evaluated(Callback):
        def on_eval_end(self, logs=None):
            evaluated.append(logs["loss"])

    x, y = arrays()
    model = Model(nn.Linear(2, 2))
    model.prepare("adam", "cross_entropy")
    model.fit(x, y, *batch_size, eval_data=(x[:8], y[:8]), verbose=0, callbacks=Evaluated())
    assert len(evaluated) == 1
    with pytest.raises(TypeError, match="labels stand beside arrays, and a data set has its own. Got"):
        model.fit(TensorDataset([to_tensor(x), to_tensor(y)]), y, eval_data=(x, y), verbose=0)


def test_several_arrays_are_several_inputs():
    class Sum(nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(2, 1)

        def forward(self, a, b):
            return self.linear(a) + self.linear(b)

    x = np.ones([6, 2], "float32")
    model = Model(Sum())
    model.prepare("adam", "mse")
    model.fit([x, x], np.ones([6, 1]), verbose=0)
    model.fit([x, x], labels=np.ones([6, 1]), eval_data=([x, x], np.ones([6, 1])), verbose=0)
    assert model.evaluate([x, x], labels=np.ones([6, 1], "float32"), verbose=0)["loss"][0] > 0


def test_a_network_of_doubles_keeps_doubles():
    net = nn.Linear(2, 2)
    net.to(dtype="float64")
    model = Model(net)
    model.prepare("sgd", "cross_entropy")
    model.fit(*arrays(), verbose=0)


def test_the_loss_of_an_autoencoder_needs_no_labels():
    model = Model(nn.Linear(2, 2))
    model.prepare("sgd", lambda output: (output**2).mean())
    model.fit(arrays()[0], verbose=0)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda m, x, y: m.fit(x, verbose=0), r"data gives 1 field, .* no labels for CrossEntropyLoss.*Return \(x, y\)"),
        (lambda m, x, y: m.fit(TensorDataset([to_tensor(x.astype("float32"))]), verbose=0), r"data gives 1 field"),
        (lambda m, x, y: m.evaluate(x, verbose=0), r"data gives 1 field"),
        (lambda m, x, y: m.fit(x, y[:5]), "different numbers of samples. Got 40, 5"),
        (lambda m, x, y: m.fit(x[:0], y[:0]), "there are no samples"),
        (lambda m, x, y: m.fit(np.array(["a"]), y[:1]), "not an array of samples. Got ndarray with dtype <U1"),
        (lambda m, x, y: m.prepare("adma"), "Got 'adma', expected one of sgd, .*Did you mean 'adam"),
        (lambda m, x, y: m.prepare("adam", "crossentropy"), "Did you mean 'cross_entropy'"),
        (lambda m, x, y: m.prepare("adam", "mse", "acuracy"), "Did you mean 'accuracy'"),
    ],
)
def test_what_is_wrong_with_arrays_and_names_is_said(call, message):
    model = Model(nn.Linear(2, 2))
    model.prepare("sgd", "cross_entropy")
    with pytest.raises((ValueError, TypeError), match=message):
        call(model, *arrays())


def test_a_loss_that_is_not_finite_is_said_once():
    model = Model(nn.Linear(4, 3))
    model.prepare(SGD(0.1, parameters=model.parameters()), nn.CrossEntropyLoss())
    x, y = np.full([100, 4], np.nan, "float32"), np.zeros([100], "int64")
    step = 0 if get_device() == "cpu" else 49  # for another device one waits seldom
    with pytest.warns(UserWarning, match=rf"the loss is nan in epoch 0, step {step}, .*wherry.doctor\(model, batch\)") as said:
        model.fit(x, y, epochs=3, batch_size=2, verbose=0)
    assert len([one for one in said if "the loss is" in str(one.message)]) == 1
    assert said[0].filename == __file__
    with pytest.warns(UserWarning, match="the loss is nan"):  # of each training
        model.fit(x, y, batch_size=2, verbose=0)


def test_an_interrupted_training_shows_the_line_of_the_user_and_goes_on_later():
    model = prepared()

    class Interrupting(Points):
        def __getitem__(self, index):
            if index == 3:
                raise KeyboardInterrupt
            return super().__getitem__(index)

    for call in (lambda: model.fit(Interrupting(6), verbose=0), lambda: model.evaluate(Interrupting(6), verbose=0)):
        with pytest.raises(KeyboardInterrupt) as caught:
            call()
        files = [entry.path.name for entry in caught.traceback]
        assert files[-1] == "model.py" and files[:-1].count("test_model.py") == len(files) - 1, files
        assert caught.value.__context__ is None
    model.fit(Points(6), verbose=0)


@pytest.mark.parametrize("known", ["described", "seen"])
def test_predict_takes_an_array_with_one_more_axis_for_batches(known):
    model = Model(nn.Linear(3, 2), inputs=to_tensor(np.zeros((4, 3), "float32")) if known == "described" else None)
    x = np.random.default_rng(0).normal(size=(4, 5, 3)).astype("float32")
    expected = model.predict_batch([x[1]])[0]
    batches = model.predict(x, verbose=0)[0]
    assert [batch.shape for batch in batches] == [(5, 2)] * 4
    np.testing.assert_array_equal(batches[1], expected)
    assert model.predict(x[1], stack_outputs=True, verbose=0)[0].shape == (5, 2)
