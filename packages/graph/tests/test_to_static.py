"""`to_static`: programs in place of functions and layers, trained and not."""
import copy
import sys
import warnings

import numpy as np
import pytest

import wherry_graph.jit as jit
import wherry_nn as nn
import wherry_tensor as wt
from wherry_autograd import PyLayer, at_end_of_backward, grad, no_grad
from wherry_graph.jit.convert import trace as recorder
from wherry_graph.static import arrays
from wherry_nn import functional as F
from wherry_program.program.input_spec import InputSpec
from wherry_program.program.ir import Variable
from wherry_tensor import _core
from wherry_train import amp
from wherry_train.optimizer import SGD, Adam

wt.seed(0)


def tensor(*values, dtype="float32"):
    return wt.to_tensor(list(values), dtype=dtype)


def static(function=None, **options):
    return jit.to_static(function, full_graph=True, **options)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(4, 8), nn.BatchNorm1D(8), nn.ReLU(), nn.Dropout(0.3))
        self.out = nn.Linear(8, 3)

    def forward(self, x, scale=1.0):
        y = self.body(x)
        if y.mean() > 0.2:
            y = y * scale
        else:
            for i in range(3):
                if y.sum() > 40:
                    break
                y = y + self.out.weight.mean() * i
        return self.out(y)


def losses(*, to_static, autocast=False, steps=6):
    wt.seed(7)
    net = Net()
    if to_static:
        net = static(net)
    optimizer = Adam(0.01, parameters=net.parameters())
    rng = np.random.default_rng(0)
    found = []
    for _ in range(steps):
        x = wt.to_tensor(rng.standard_normal((16, 4)).astype("float32"))
        y = wt.to_tensor(rng.integers(0, 3, (16,)))
        with amp.auto_cast(enable=autocast, dtype="bfloat16"):
            loss = F.cross_entropy(net(x, scale=2.0), y)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        found.append(loss.item())
    net.eval()
    with no_grad():
        found.append(net(wt.ones([2, 4])).sum().item())
    return found, [value.numpy() for value in net.state_dict().values()]


@pytest.mark.parametrize("autocast", [False, True])
def test_training_gives_the_same_losses_and_state_as_eager_code(autocast):
    wanted, wanted_state = losses(to_static=False, autocast=autocast)
    got, state = losses(to_static=True, autocast=autocast)
    np.testing.assert_array_equal(got, wanted)
    for mine, theirs in zip(state, wanted_state, strict=True):
        np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("data_format", ["NCHW", "NHWC"])
def test_training_of_normalized_convolutions_gives_the_bits_of_eager_code(data_format):
    image = (8, 3, 10, 9) if data_format == "NCHW" else (8, 10, 9, 3)
    found = []
    for convert in (lambda model: model), static:
        wt.seed(3)
        rng = np.random.default_rng(0)
        layers = []
        for i, o in (3, 8), (8, 40):
            layers += [nn.Conv2D(i, o, 3, padding=1, data_format=data_format), nn.BatchNorm2D(o, data_format=data_format), nn.ReLU()]
        model = nn.Sequential(*layers, nn.MaxPool2D(2, 2, data_format=data_format), nn.Flatten(), nn.Linear(40 * 5 * 4, 3))
        optimizer, run = SGD(0.1, parameters=model.parameters()), convert(model)
        for _ in range(3):
            x = wt.to_tensor(rng.standard_normal(image).astype("float32"))
            loss = F.cross_entropy(run(x), wt.to_tensor(rng.integers(0, 3, (8,))))
            loss.backward()
            optimizer.step()
            optimizer.clear_grad()
        found.append([loss.numpy(), *(value.numpy() for value in model.state_dict().values())])
    for eager, ours in zip(*found, strict=True):
        np.testing.assert_array_equal(ours, eager)


def test_gradients_of_inputs_and_of_several_outputs():
    def f(x, y):
        z = x * y
        if z.sum() > 0:
            z = z * z
        return {"z": z, "rest": [x.exp(), 3, None], "x": x}

    g = static(f)
    for values in ([1.0, 2.0], [-1.0, -3.0]):
        found = []
        for function in (f, g):
            x, y = tensor(*values), tensor(2.0, 3.0)
            x.stop_gradient = False
            out = function(x, y)
            assert out["rest"][1:] == [3, None]
            assert not out["z"].stop_gradient
            found.append(grad(out["z"].sum() + (out["rest"][0] * 2).sum() + out["x"].sum(), [x])[0].numpy())
        np.testing.assert_array_equal(*found)


def test_gradients_through_a_loop_of_the_program():
    def f(x, w):
        n = 0
        while x.sum() < 50:
            x = x * w
            n += 1
        return x, n

    found = []
    for function in (f, static(f)):
        x, w = tensor(1.0, 2.0), tensor(2.0)
        x.stop_gradient = w.stop_gradient = False
        y, n = function(x, w)
        y.sum().backward()
        found.append((int(n), x.grad.numpy().tolist(), w.grad.numpy().tolist()))
    assert found[0] == found[1]


def test_backward_runs_twice_where_the_graph_is_kept():
    w = tensor(3.0)
    w.stop_gradient = False
    loss = static(lambda: (w * w).sum())()
    loss.backward(retain_graph=True)
    loss.backward()
    assert w.grad.item() == 12.0


def looped(x):
    i = wt.zeros([], "int64")
    while i < 3:
        x = x * x.tanh() + x
        i = i + 1
    return x.sum()


def chosen(x):
    y = x * x * x if x.sum() > 0 else x.tanh()
    return (y * x).sum()


def grown(x):
    powers = [x]
    for _ in range(wt.full([], 3, "int32")):
        powers.append(powers[-1] * x)
    return (wt.concat(powers) * powers[1].sum()).sum()


class Scaled(PyLayer):
    """Its gradient is not that of what it computes, and uses what was saved and set."""

    @staticmethod
    def forward(ctx, x, w):
        ctx.save_for_backward(x, w)
        ctx.threefold = x * 3
        return x * w, (x * w).sum()

    @staticmethod
    def backward(ctx, dy, ds):
        x, w = ctx.saved_tensor()
        return dy * 20 * w + ctx.threefold, dy * x * x + ds * x


def scaled(x):
    y, total = Scaled.apply(x, x * 2)
    return (y * y).sum() + total


@pytest.mark.parametrize("function", [lambda x: (x * x * x).sum(), looped, chosen, grown, scaled], ids=["plain", "loop", "choice", "list", "PyLayer"])
def test_derivatives_up_to_the_third_are_those_of_eager_code(function):
    found = []
    for f in (function, static(function)):
        x = tensor(0.5, 1.25)
        x.stop_gradient = False
        first = grad(f(x), [x], create_graph=True)[0]
        second = grad((first * first).sum(), [x], create_graph=True)[0]
        (second * second).sum().backward()
        found.append([g.numpy() for g in (first, second, x.grad)])
    for eager, captured in zip(*found, strict=True):
        np.testing.assert_allclose(captured, eager, rtol=2e-5)  # sums in another order


def test_second_derivatives_reach_parameters_and_drop_what_was_dropped():
    found = []
    x = wt.to_tensor(np.random.default_rng(0).standard_normal((3, 4)).astype("float32"), stop_gradient=False)
    for captured in (False, True):
        wt.seed(5)
        net = nn.Sequential(nn.Linear(4, 6), nn.BatchNorm1D(6), nn.Tanh(), nn.Dropout(0.5), nn.Linear(6, 1))
        run = static(net) if captured else net
        y = run(x)
        penalty = (grad(y.sum(), [x], create_graph=True)[0] ** 2).sum()
        (penalty + y.mean()).backward()
        gradients = [np.zeros(p.shape) if p.grad is None else p.grad.numpy() for p in net.parameters()]
        found.append([*gradients, *(b.numpy() for b in net.buffers()), wt.rand([2]).numpy()])
    for eager, ours in zip(*found, strict=True):
        np.testing.assert_allclose(ours, eager, rtol=1e-4, atol=1e-5)  # of the size of the largest


def test_a_second_derivative_of_what_changes_its_own_inputs_is_refused():
    count = tensor(1.0)

    def f(x):
        count.add_(wt.ones([1]))
        return (x * x * count).sum()

    x = tensor(2.0)
    x.stop_gradient = False
    y = static(f)(x)
    with pytest.raises(NotImplementedError, match="which it writes to, expected one that leaves what it reads"):
        grad(y, [x], create_graph=True)


def test_backward_after_a_parameter_was_written_to_is_refused():
    net = nn.Sequential(nn.Linear(2, 2), nn.Linear(2, 1))
    y = static(net)(wt.ones([3, 2])).sum()
    with no_grad():
        net[1].weight.add_(wt.ones([2, 1]))
    with pytest.raises(RuntimeError, match="was changed in place after the forward pass"):
        y.backward()


@pytest.mark.parametrize("cut", [
    lambda x: (x * no_grad()(lambda: x * 2)()).sum(),
    lambda x: (x * (x * 2).detach()).sum(),
    lambda x: [x := x * 1.0, (x * _constant(x * 2)).sum()][1],
], ids=["no_grad", "detach", "stop_gradient"])
def test_what_stops_gradients_in_eager_code_stops_them_in_a_program(cut):
    x = tensor(1.0, 2.0)
    x.stop_gradient = False
    static(cut)(x).backward()
    np.testing.assert_array_equal(x.grad.numpy(), [2.0, 4.0])


def _constant(x):
    x.stop_gradient = True
    return x


def test_no_grad_cuts_inside_of_loops_and_choices():
    def f(x):
        total, i = x * 0, wt.zeros([], "int64")
        while i < 2:
            with no_grad():
                w = x * 2
            if x.sum() > 0:
                total = total + w * x
            i = i + 1
        return total.sum()

    x = tensor(1.0, 2.0)
    x.stop_gradient = False
    static(f)(x).backward()
    np.testing.assert_array_equal(x.grad.numpy(), [4.0, 8.0])


def test_a_gradient_inside_of_the_function_is_part_of_the_program():
    def f(x):
        x.stop_gradient = False
        return grad((x * x * x).sum(), [x])[0]

    np.testing.assert_allclose(static(f)(tensor(2.0)).numpy(), [12.0])


def test_without_gradients_the_result_asks_for_none():
    net = static(nn.Linear(2, 2))
    with no_grad():
        assert net(wt.ones([1, 2])).stop_gradient
    assert not net(wt.ones([1, 2])).stop_gradient
    assert len(net.forward.program_cache) == 2


def test_parameters_are_used_by_reference():
    net = static(nn.Linear(2, 2))
    before = net(wt.ones([1, 2])).numpy()
    with no_grad():
        net.weight.set_value(net.weight.numpy() * 2)
        net.bias.set_value(net.bias.numpy() * 2)
    np.testing.assert_allclose(net(wt.ones([1, 2])).numpy(), before * 2, rtol=1e-6)
    assert net.forward.get_traced_count() == 1


def test_buffers_that_forward_assigns_keep_their_new_values():
    class Counting(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("count", wt.zeros([1]))

        def forward(self, x):
            if x.sum() > 0:
                self.count = self.count + 1
            return x * self.count

    net = static(Counting())
    buffer = net.count
    for wanted in (1.0, 2.0, 3.0):
        assert net(tensor(1.0)).item() == wanted
    net(tensor(-1.0))
    assert net.count is buffer
    assert net.count.item() == 3.0


def test_a_buffer_decides_with_the_value_of_the_run():
    class Switched(nn.Layer):
        def __init__(self):
            super().__init__()
            self.register_buffer("on", wt.to_tensor(True))

        def forward(self, x):
            if self.on:
                return x * 2
            return x

    net = static(Switched())
    assert net(tensor(1.0)).item() == 2.0
    net.on.set_value(np.array(False))
    assert net(tensor(1.0)).item() == 1.0
    assert net.forward.get_traced_count() == 1


def test_dropout_draws_at_each_call():
    net = static(nn.Dropout(0.5))
    x = wt.ones([64])
    assert (net(x).numpy() != net(x).numpy()).any()
    net.eval()
    np.testing.assert_array_equal(net(x).numpy(), x.numpy())


def test_modes_of_layers_have_programs_of_their_own():
    inner = nn.Dropout(0.9)
    f = static(lambda x: inner(x))
    x = wt.ones([64])
    assert (f(x).numpy() == 0).any()
    inner.eval()
    assert (f(x).numpy() == 1).all()
    inner.train()
    assert (f(x).numpy() == 0).any()
    assert f.get_traced_count() == 2


def test_other_arguments_have_programs_of_their_own():
    @static
    def f(x, k, flag=True, mode="a", *rest, **named):
        return x * k if flag and mode == "a" else x - k

    x = tensor(1.0, 2.0)
    assert f(x, 2).numpy().tolist() == [2.0, 4.0]
    assert f(x, 3).numpy().tolist() == [3.0, 6.0]
    assert f(x, 2, flag=False).numpy().tolist() == [-1.0, 0.0]
    assert f(x, k=2, mode="b", other=[x, 1]).numpy().tolist() == [-1.0, 0.0]
    assert f(x, 2.0).numpy().tolist() == [2.0, 4.0]
    f(x, 2)
    assert f.get_traced_count() == 5


def test_a_declared_input_has_one_program_for_all_sizes():
    net = static(nn.Linear(3, 2), input_spec=[InputSpec([None, 3], "float32", "x")])
    for batch in (1, 4, 7):
        assert net(wt.ones([batch, 3])).shape == [batch, 2]
    assert net.forward.get_traced_count() == 1
    assert [x.name for x in net.forward.inputs] == ["x"]
    assert net.forward.inputs[0].sizes == (-1, 3)


@pytest.mark.parametrize("f", [
    lambda x: wt.tile(wt.arange(3.0), [x.shape[0], 2]), lambda x: wt.tile(wt.arange(3.0), [wt.shape(x)[0]]), lambda x: wt.tile(x, wt.shape(x)),
    lambda x: wt.tile(x, [1, x.shape[0]]), lambda x: wt.linspace(-1.0, 2.0, wt.shape(x)[0]) + x.sum(), lambda x: wt.logspace(0, 2, x.shape[0]),
])  # fmt: skip
def test_how_often_and_how_many_may_be_open_sizes(f, tmp_path):
    captured = static(lambda x: f(x), input_spec=[InputSpec([None, 3])])
    jit.save(captured, str(tmp_path / "f"))
    loaded = jit.load(str(tmp_path / "f"))
    for batch in (1, 2, 5):
        x = wt.to_tensor(np.random.default_rng(batch).random([batch, 3]).astype("float32"))
        for found in (captured(x), loaded(x)):
            np.testing.assert_allclose(found.numpy(), f(x).numpy(), rtol=1e-6)


@pytest.mark.parametrize("dtype", ["float32", "float64", "int64"])
def test_linspace_between_values_of_the_program_is_that_of_numbers(dtype):
    f = static(lambda x, stop: wt.linspace(1, stop, x.shape[0], dtype), input_spec=[InputSpec([None]), InputSpec([], "int64")])
    for count in (1, 2, 3, 7, 10):
        for stop in (1, 9, 10, -6):
            assert f(wt.ones([count]), wt.to_tensor(stop)).tolist() == wt.linspace(1, stop, count, dtype).tolist()


def test_logspace_between_values_of_the_program_is_that_of_numbers():
    f = static(lambda x, stop, base: wt.logspace(1, stop, x.shape[0], base), input_spec=[InputSpec([None]), InputSpec([], "int64"), InputSpec([])])
    for count in 1, 2, 5:
        found = f(wt.ones([count]), wt.to_tensor(3), wt.to_tensor(2.0)).numpy()
        np.testing.assert_allclose(found, wt.logspace(1, 3, count, 2.0).numpy(), rtol=1e-6)


def test_to_tensor_of_a_value_of_the_program_copies_it_and_lets_no_gradient_pass():
    f = static(lambda x: wt.to_tensor(x * 2, dtype="float64") + wt.to_tensor(x > 0, dtype="float64") + x.astype("float64"))
    x = tensor(1.0, -3.0)
    x.stop_gradient = False
    y = f(x)
    y.sum().backward()
    assert y.tolist() == [4.0, -9.0] and x.grad.tolist() == [1.0, 1.0]


def test_a_layer_that_notes_what_it_computed_last_keeps_the_note_where_sizes_are_open():
    class Notes(nn.Layer):
        def forward(self, x):
            self.last = x * 2
            return self.last + 1

    layer = Notes()
    layer(wt.ones([2, 3]))
    captured = static(layer, input_spec=[InputSpec([None, 3])])
    assert captured(wt.zeros([5, 3])).tolist() == wt.ones([5, 3]).tolist()
    assert layer.last.tolist() == wt.full([2, 3], 2.0).tolist()


def test_what_is_not_as_declared_has_a_program_of_its_own():
    f = static(lambda x: x + 1, input_spec=[InputSpec([None], "float32")])
    assert f(tensor(1.0)).dtype.name == "float32"
    assert f(tensor(1.0, dtype="float64")).dtype.name == "float64"
    assert f(wt.ones([2, 2])).shape == [2, 2]


def test_lists_and_dicts_of_inputs():
    @static
    def f(pair, named):
        return pair[0] + pair[1] * named["a"]

    assert f([tensor(1.0), tensor(2.0)], {"a": tensor(3.0)}).item() == 7.0
    declared = static(
        f, input_spec=[[InputSpec([None]), InputSpec([None])], {"a": InputSpec([None])}]
    )
    assert [x.name for x in declared.inputs] == ["pair_0", "pair_1", "named_a"]
    assert declared([tensor(1.0), tensor(2.0)], {"a": tensor(3.0)}).item() == 7.0


def test_arrays_of_numpy_are_inputs():
    f = static(lambda x: x * 2)
    out = f(np.ones([2]))
    assert out.dtype.name == "float64"
    np.testing.assert_array_equal(out.numpy(), [2.0, 2.0])
    f(np.full([2], 5.0))
    assert f.get_traced_count() == 1


def test_values_of_python_in_the_declaration_stand_for_themselves():
    f = static(lambda x, k, flag=False: x * k if flag else x, input_spec=[InputSpec([None]), 3, True])
    assert f.concrete_program.inputs[1:] == [3, True]
    assert f(tensor(2.0), 3, True).item() == 6.0


def test_a_list_that_grew_comes_out_as_a_list():
    @static
    def f(x):
        out = []
        for i in range(wt.shape(x)[0]):
            if x[i] > 0:
                out.append(x[i] * 2)
        return out, x.shape[0]

    out, n = f(tensor(1.0, -1.0, 3.0))
    assert [x.item() for x in out] == [2.0, 6.0]
    assert n == 3


def test_methods_are_bound_to_their_objects():
    class Two(nn.Layer):
        def __init__(self, k):
            super().__init__()
            self.k = k

        @jit.to_static
        def forward(self, x):
            return self.other(x) + 1

        @jit.to_static(input_spec=[InputSpec([None])])
        def other(self, x):
            return x * self.k

    a, b = Two(2), Two(3)
    assert a(tensor(1.0)).item() == 3.0
    assert b(tensor(1.0)).item() == 4.0
    assert a.forward is a.forward
    assert a.forward is not b.forward
    assert a.other.concrete_program.inputs[0].sizes == (-1,)
    c = copy.deepcopy(a)
    c.k = 10
    assert c(tensor(1.0)).item() == 11.0
    assert a(tensor(1.0)).item() == 3.0


def test_a_copy_of_a_static_layer_is_a_layer_of_its_own():
    net = static(nn.Linear(2, 2))
    net(wt.ones([1, 2]))
    other = copy.deepcopy(net)
    with no_grad():
        other.weight.set_value(np.zeros((2, 2), "float32"))
        other.bias.set_value(np.zeros(2, "float32"))
    assert other(wt.ones([1, 2])).numpy().tolist() == [[0.0, 0.0]]
    assert (net(wt.ones([1, 2])).numpy() != 0).any()


def test_static_functions_inside_of_others_become_part_of_them():
    @jit.to_static
    def inner(x):
        if x.sum() > 0:
            return x * 2
        return x

    @static
    def outer(x):
        return inner(x) + 1

    assert outer(tensor(1.0)).item() == 3.0
    assert inner.get_traced_count() == 0
    assert any(node.type == "cond" for node in outer.main_program.nodes)


def test_a_layer_is_returned_and_rollback_gives_it_back():
    net = nn.Linear(2, 2)
    forward = net.forward
    assert static(net) is net
    assert isinstance(net.forward, jit.StaticFunction)
    assert net.forward.rollback() == forward
    assert net.forward == forward

    def f(x):
        return x

    assert static(f).rollback() is f


def test_code_is_the_converted_text_before_and_after_a_call():
    def f(x):
        if x.sum() > 0:
            x = x + 1
        return x

    g = jit.to_static(f)
    assert "_graph.if_(" in g.code
    before = g.code
    g(tensor(1.0))
    assert g.code == before


def test_concrete_program_needs_a_declaration_or_a_call():
    f = static(lambda x: x + 1)
    with pytest.raises(ValueError, match="No valid transformed program"):
        f.concrete_program  # noqa: B018
    f(tensor(1.0))
    concrete = f.concrete_program
    assert isinstance(concrete.inputs[0], Variable)
    assert len(concrete.outputs) == 1
    assert concrete.main_program is f.main_program
    assert f.last_call_input_spec[0].shape == (1,)
    other, run = f.get_concrete_program(wt.ones([5]))
    assert other is not concrete
    assert run([wt.ones([5])]).shape == [5]


def test_parameters_of_a_concrete_program():
    net = static(nn.Linear(2, 2), input_spec=[InputSpec([None, 2])])
    assert {id(x) for x in net.forward.concrete_program.parameters} == {id(net.weight), id(net.bias)}


@pytest.mark.parametrize(
    ("spec", "error", "message"),
    [
        ([InputSpec([1])], ValueError, "requires .*'y', but not found"),
        ([InputSpec([1])] * 5, ValueError, "takes 3 arguments .*received 5"),
        (InputSpec([1]), TypeError, "should be one of \\(tuple, list\\), but received InputSpec"),
    ],
)
def test_declarations_that_do_not_fit_are_refused(spec, error, message):
    def f(x, y, k=1):
        return x + y

    with pytest.raises(error, match=message):
        static(f, input_spec=spec).concrete_program  # noqa: B018


def test_missing_and_unknown_arguments_are_refused():
    f = static(lambda x, y: x + y)
    with pytest.raises(ValueError, match="'y', but not found"):
        f(tensor(1.0))
    with pytest.raises(TypeError, match="too many positional"):
        f(tensor(1.0), tensor(1.0), 3)


@pytest.mark.parametrize("what", [3, int, "f"])
def test_what_is_no_function_is_refused(what):
    with pytest.raises(TypeError, match="unsupported callable"):
        jit.to_static(what)


def test_unknown_options_are_refused():
    with pytest.raises(TypeError, match="unknown argument 'full'"):
        jit.to_static(lambda x: x, full=True)
    with pytest.raises(ValueError, match="unknown backend"):
        jit.to_static(lambda x: x, backend="XLA")


# What cannot be captured.

def through_numpy(x):
    total = np.sum(x.numpy())  # this line
    return x + float(total)


def test_what_cannot_be_captured_runs_op_by_op_with_one_warning():
    f = jit.to_static(through_numpy)
    with pytest.warns(UserWarning, match=r"through_numpy cannot be captured and runs op by op, because of .*test_to_static.py:\d+") as seen:
        assert f(tensor(1.0, 2.0)).numpy().tolist() == [4.0, 5.0]
    assert "numpy" in str(seen[0].message)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert f(tensor(1.0, 2.0)).numpy().tolist() == [4.0, 5.0]
        assert f(tensor(1.0)).numpy().tolist() == [2.0]


def test_with_full_graph_it_is_an_error_that_ends_at_the_line():
    import traceback

    with pytest.raises(RuntimeError, match="depends on its values") as caught:
        static(through_numpy)(tensor(1.0))
    assert traceback.extract_tb(caught.value.__traceback__)[-1].line.endswith("# this line")


def test_not_to_static_functions_run_as_they_are():
    seen = []

    @jit.not_to_static
    def f(x):
        seen.append(x)
        return x * 2

    assert static(lambda x: f(x) + 1)(tensor(1.0)).item() == 3.0
    assert len(seen) == 1

    @jit.not_to_static
    def g(x):
        return x if x.sum() > 0 else -x

    with pytest.raises(RuntimeError, match="depends on its values"):
        static(lambda x: g(x))(tensor(1.0))
    assert jit.not_to_static()(f) is f


def test_ignored_modules_are_not_converted():
    with pytest.raises(TypeError, match="not a list of modules"):
        jit.ignore_module(np)
    jit.ignore_module([np])


def test_enable_to_static_switches_programs_off():
    f = static(lambda x: x.numpy().sum())
    jit.enable_to_static(False)
    try:
        assert f(tensor(1.0, 2.0)) == 3.0
    finally:
        jit.enable_to_static(True)
    assert f.get_traced_count() == 0


def test_pylayer_in_a_program_has_its_own_gradient():
    class Double(PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x * 2

        @staticmethod
        def backward(ctx, dy):
            return dy * 20

    x = tensor(1.0)
    x.stop_gradient = False
    y = static(lambda v: Double.apply(v) + 1)(x)
    assert y.item() == 3.0
    y.backward()
    assert x.grad.item() == 20.0


def test_pylayers_in_loops_and_choices_have_their_own_gradients():
    class Triple(PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x * 3

        @staticmethod
        def backward(ctx, dy):
            return dy * 100

    def f(x, w):
        total, i = x * 0, wt.zeros([], "int64")
        while i < 2:
            total = total + Triple.apply(x * w)
            i = i + 1
        if w.sum() > 0:
            total = Triple.apply(total)
        return total.sum()

    found = []
    for function in (f, static(f)):
        x, w = tensor(1.0, 2.0), tensor(3.0, 5.0)
        x.stop_gradient = w.stop_gradient = False
        function(x, w).backward()
        found.append((x.grad.numpy().tolist(), w.grad.numpy().tolist()))
    assert found[0] == found[1] == ([60000.0, 100000.0], [20000.0, 40000.0])


def test_a_pylayer_without_gradients_leaves_a_program_of_ops():
    y = static(lambda x: Scaled.apply(x, x)[0] + 1)
    with no_grad():
        y(tensor(1.0))
    assert "own_gradient" not in [node.type for node in y.main_program.nodes]


def test_a_parameter_that_is_frozen_or_thawed_has_a_program_of_its_own():
    net = nn.Linear(2, 1)
    run, x = static(net), wt.ones([3, 2])
    run(x).sum().backward()
    net.clear_gradients()
    net.weight.stop_gradient = True
    run(x).sum().backward()
    assert net.weight.grad is None or not net.weight.grad.numpy().any()
    net.weight.stop_gradient = False
    run(x).sum().backward()
    np.testing.assert_array_equal(net.weight.grad.numpy(), [[3.0], [3.0]])


def test_a_call_like_the_one_before_is_told_from_others():
    f = static(lambda x, factor=1, flag=None: x * factor)
    x = tensor(1.0, 2.0)
    for _ in range(2):
        assert f(x).numpy().tolist() == [1.0, 2.0]
        assert f(x, 3).numpy().tolist() == [3.0, 6.0]
        assert f(x, 3.0).numpy().tolist() == [3.0, 6.0]
        assert f(wt.to_tensor([1, 2]), 3).dtype is wt.int64
        assert f(wt.ones([1, 2]), 3).shape == [1, 2]
        assert f(x, factor=4).numpy().tolist() == [4.0, 8.0]
    with amp.auto_cast(dtype="bfloat16"):
        weight = wt.ones([2, 2])
        g = static(lambda a: a @ weight)
        assert g(wt.ones([2, 2])).dtype is wt.bfloat16
    assert g(wt.ones([2, 2])).dtype is wt.float32


def test_the_trainer_updates_parameters_of_a_function():
    w = nn.Linear(1, 1)

    @static
    def loss_of(x):
        return (w(x) - 3.0).square().mean()

    optimizer = SGD(0.1, parameters=w.parameters())
    for _ in range(50):
        loss = loss_of(wt.ones([4, 1]))
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    assert loss.item() < 1e-3


def test_logs_show_source_and_code(capsys):
    def f(x):
        return x if x.sum() > 0 else -x

    jit.set_verbosity(1)
    jit.set_code_level(100, also_to_stdout=True)
    try:
        static(f)(tensor(1.0))
    finally:
        jit.set_verbosity(0)
        jit.set_code_level(0)
    shown = capsys.readouterr()
    assert "Dynamic-to-Static INFO: (Level 1) Source code:" in shown.err
    assert "_graph.choose(" in shown.out
    with pytest.raises(TypeError, match="Level is not an integer"):
        jit.set_verbosity("1")


def test_program_translator_is_one_object_and_shows_every_step():
    def f(x):
        if x.sum() > 0:
            return x * 2
        return x

    translator = jit.ProgramTranslator()
    assert translator is jit.ProgramTranslator.get_instance()
    assert "_graph.if_(" in translator.get_code(f)
    assert translator.get_func(f)(tensor(1.0)).item() == 2.0
    assert translator.get_output(f, tensor(1.0)).item() == 2.0
    main, _startup, inputs, outputs = translator.get_program(f, tensor(1.0))
    assert main.feeds == inputs
    assert main.fetches == outputs
    assert f in translator.get_program_cache()
    with pytest.raises(TypeError, match="expected True or False"):
        translator.enable(1)


def as_it_is(function):
    return function


@as_it_is
@static
@as_it_is
def decorated(x):
    y = x * 2
    if y.sum() > 0:
        y = wt.reshape(y, [7])  # HERE
    return y


@static
def with_a_wrong_name(x):
    y = x * 2
    return y + nobody  # noqa: F821  HERE


def lines_of_here():
    with open(__file__, encoding="utf-8") as file:
        return {i for i, line in enumerate(file, 1) if line.rstrip().endswith("HERE")}


@pytest.mark.parametrize(("function", "kind"), [(decorated, ValueError), (with_a_wrong_name, NameError)])
def test_the_line_of_an_error_below_decorators_is_that_of_the_file(function, kind):
    with pytest.raises(kind) as caught:
        function(wt.ones([3]))
    lines = {entry.tb_lineno for entry in entries(caught.value.__traceback__) if entry.tb_frame.f_code.co_filename == __file__}
    assert lines & lines_of_here()


def entries(tb):
    while tb is not None:
        yield tb
        tb = tb.tb_next


def test_the_environment_asks_for_tracebacks_with_all_entries(monkeypatch):
    def ours():
        with pytest.raises(NameError) as caught:
            with_a_wrong_name(wt.ones([2]))
        return sum("wherry_graph" in entry.tb_frame.f_code.co_filename for entry in entries(caught.value.__traceback__))

    few = ours()
    monkeypatch.setenv("TRANSLATOR_DISABLE_NEW_ERROR", "1")
    assert ours() > few


def test_backward_inside_of_a_captured_function_is_refused_and_leaves_parameters_as_they_are():
    net = nn.Linear(2, 2)

    def train(x):
        loss = net(x).sum()
        loss.backward()
        return loss

    with pytest.raises(RuntimeError, match=r"backward: the gradients of 2 tensors .*at .*test_to_static\.py:\d+, expected.*paddle\.grad"):
        static(train)(wt.ones([1, 2]))
    assert net.weight.grad is None
    with pytest.warns(UserWarning, match="runs op by op, because of .*backward: the gradients of 2 tensors"):
        jit.to_static(train)(wt.ones([1, 2]))
    np.testing.assert_array_equal(net.weight.grad.numpy(), np.ones((2, 2), "float32"))
    with pytest.raises(RuntimeError, match="backward: the gradients of 2 tensors"):  # each run would add to what is there
        static(train)(wt.ones([3, 2]))
    np.testing.assert_array_equal(net.weight.grad.numpy(), np.ones((2, 2), "float32"))


def test_a_whole_step_of_training_is_captured():
    def step(net, optimizer, x):
        loss = (net(x) - 1).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        return loss

    found = []
    for wrap in (lambda f: f, static):
        net = nn.Linear(2, 1)
        net.weight.set_value(wt.to_tensor([[0.5], [-0.5]]))
        optimizer = SGD(0.01, parameters=net.parameters())
        run = wrap(lambda x, net=net, optimizer=optimizer: step(net, optimizer, x))
        found.append([run(wt.to_tensor([[1.0, 2.0], [3.0, 4.0]])).item() for _ in range(4)])
    np.testing.assert_allclose(found[1], found[0], rtol=1e-6)
    assert found[0][-1] < found[0][0]


class Interrupt(BaseException):
    """Ctrl-C."""


def interrupted(call, at):
    """Interrupt the recording inside of `call()` at its event number `at`, between two lines of Python; False where it ends before that."""
    files = tuple(sys.modules[f"wherry_graph.jit.{name}"].__file__ for name in ("convert.trace", "static_function"))
    events = 0

    def trace(frame, event, arg):
        nonlocal events
        if frame.f_code.co_filename not in files:
            return None
        if recorder._lock.locked():  # signals come at calls, of which the end of `with _lock` has none, but an event of a line
            return trace
        events += 1
        if events == at:
            raise Interrupt
        return trace

    before = sys.gettrace()
    sys.settrace(trace)
    try:
        call()
    except Interrupt:
        return True
    finally:
        sys.settrace(before)
    return False


def test_an_interrupt_wherever_it_comes_leaves_nothing_recording():
    x, at = wt.ones([2, 4]), 1
    while True:
        net = nn.Sequential(nn.Linear(4, 3), nn.BatchNorm1D(3))
        if not interrupted(lambda net=net: static(net)(x), at):
            break
        assert _core.inner_layers() == () and not recorder.inside_trace()
        assert not any(_core.is_symbolic(value) for value in net.state_dict().values())
        assert not _core.is_symbolic(x + x)
        at += 3
    assert at > 100


def test_gradients_of_a_captured_call_go_into_buffers_and_the_end_of_the_pass_is_told():
    net = nn.Linear(300, 300)
    captured = static(net.forward)
    bucket = wt.zeros([300 * 300])
    net.weight.set_grad_buffer(bucket.reshape([300, 300]))
    ends = []
    handle = at_end_of_backward(ends.append)
    try:
        for _ in range(3):
            captured(wt.ones([4, 300])).sum().backward()
            assert net.weight.grad is net.weight.grad_buffer() and bucket.numpy().min() == bucket.numpy().max() == 4.0
            net.weight.clear_grad(set_to_zero=False)
    finally:
        handle.remove()
    assert ends == [None] * 3


def test_a_variable_may_be_none_in_one_branch():
    def f(x):
        c = None
        if x.sum() > 0:
            c = x * 2
        if c is not None and c.sum() > 10:
            x = x + c
        return x if c is None else c - x

    static = jit.to_static(f, full_graph=True)
    for values in ([1.0, 2.0], [6.0, 1.0], [-1.0, -2.0]):
        x = wt.to_tensor(values, stop_gradient=False)
        static(x).sum().backward()
        y = wt.to_tensor(values, stop_gradient=False)
        f(y).sum().backward()
        assert static(x).tolist() == f(y).tolist() and x.grad.tolist() == y.grad.tolist()


def test_what_may_be_none_is_not_read_without_a_test():
    def f(x):
        c = None
        if x.sum() > 0:
            c = x * 2
        return c + x

    with pytest.raises(TypeError, match="to_static: c may be None here: a tensor decides, .* Write `if c is not None:`"):
        jit.to_static(f, full_graph=True)(wt.ones([2]))


def _written_in_a_choice(x):
    y = x * 1
    z = y
    if x.mean() > 2:
        y[0] = x[1] * 3
    else:
        y[1] = 2.0
    return z + y


def _written_in_a_loop(x):
    y = x * 1
    for i in range(wt.shape(x)[0]):
        if x[i].sum() > 3:
            y[i] = y[i] * 5
    return y * x


def _written_by_another_function(x):
    def fill(buffer):
        i = wt.to_tensor(0)
        while x.sum() > i * 6:
            buffer[0] = buffer[1] * 2
            i += 1

    y = x * 1
    fill(y)
    return y


@pytest.mark.parametrize("function", [_written_in_a_choice, _written_in_a_loop, _written_by_another_function])
@pytest.mark.parametrize("scale", [1.0, 0.25])
def test_gradients_of_elements_that_a_choice_or_a_loop_replaces(function, scale):
    found = []
    for call in function, jit.to_static(function, full_graph=True):
        x = wt.to_tensor([[scale, 2 * scale], [3 * scale, 4 * scale]], stop_gradient=False)
        y = call(x)
        y.sum().backward()
        found.append((y.tolist(), x.grad.tolist()))
    assert found[0] == found[1]


OPEN_SIZES = {
    "squeeze of an open axis": (lambda x: wt.squeeze(x, 0), [[5, 7]], [1, 2, 3]),
    "sequence_mask without maxlen": (F.sequence_mask, [3, 1], [2, 0, 4]),
    "class_center_sample": (lambda x: F.class_center_sample(x, 9, 0), [3, 1, 3], [7, 2, 2, 5]),
}


@pytest.mark.parametrize("name", OPEN_SIZES)
def test_sizes_that_values_decide_are_those_of_the_run(name, tmp_path):
    function, *inputs = OPEN_SIZES[name]
    inputs = [wt.to_tensor(x) for x in (inputs[:1] if "squeeze" in name else inputs)]
    spec = [InputSpec([None, *inputs[0].shape[1:]], "int64")]
    jit.save(jit.to_static(function, input_spec=spec, full_graph=True), str(tmp_path / "f"))
    loaded = jit.load(str(tmp_path / "f"))
    for x in inputs:
        found, expected = ([*out] if isinstance(out, (list, tuple)) else [out] for out in (loaded(x), function(x)))
        assert [y.tolist() for y in found] == [y.tolist() for y in expected]


def test_an_open_axis_that_was_squeezed_must_have_one_element():
    f = jit.to_static(lambda x: wt.squeeze(x, 0), input_spec=[InputSpec([None, 2], "float32")])
    with pytest.raises(ValueError, match=r"squeeze: axis 0 has more than one element. Got size 3"):
        f(wt.ones([3, 2]))


def writes_to_a_list_of_a_program(x, k):
    array = arrays.create_array("float32")
    i = wt.zeros([1], "int64")
    arrays.array_write(x, i, array)
    while i < k:
        i = i + 1
        arrays.array_write(x * i.astype("float32"), i, array)
    return arrays.array_read(array, i), arrays.array_length(array)


def binds_a_list_of_a_program(x, k):
    array = arrays.create_array("float32")
    i = wt.zeros([1], "int64")
    while i < k:
        array = arrays.array_write(x * i.astype("float32"), i, array=array)
        i = i + 1
    return arrays.array_read(array, i - 1), arrays.array_length(array)


@pytest.mark.parametrize(("function", "lengths"), [(writes_to_a_list_of_a_program, 1), (binds_a_list_of_a_program, 0)])
def test_a_loop_writes_to_a_list_that_was_made_before_it(function, lengths, tmp_path):
    f = jit.to_static(function, input_spec=[InputSpec([2], "float32"), InputSpec([1], "int64")], full_graph=True)
    jit.save(f, str(tmp_path / "f"))
    for g in (f, jit.load(str(tmp_path / "f"))):
        for k in (2, 4):
            last, length = g(wt.to_tensor([1.0, 3.0]), wt.to_tensor([k]))
            assert last.tolist() == [k - 1 + lengths, 3 * (k - 1 + lengths)] and length.tolist() == [k + lengths]


def grows_by_one_choice(x, k):
    out = [x]
    if k > 2:
        out.append(x * 2)
    return wt.concat(out).sum(0)


def grows_until_a_break(x, k):
    out = []
    for i in range(10):
        if i >= k:
            break
        out.append(x * i)
    return wt.stack(out).sum(0)


def grows_in_a_dict(x, k):
    found = {"parts": [x], "last": x}
    for i in range(k):
        found["parts"].append(found["last"] * i)
        found["last"] = found["last"] + x
    if k > 2:
        found["parts"].append(x)
    return wt.concat(found["parts"]).sum(0) + found["last"]


@pytest.mark.parametrize("function", [grows_by_one_choice, grows_until_a_break, grows_in_a_dict])
@pytest.mark.parametrize("k", [2, 3])
def test_lists_that_the_run_grows_have_gradients(function, k):
    found = []
    for f in (function, jit.to_static(function, full_graph=True)):
        x = wt.to_tensor([[1.0, 2.0]], stop_gradient=False)
        y = f(x, wt.to_tensor(k))
        (y * y).sum().backward()
        found.append((y.tolist(), x.grad.tolist()))
    assert found[0] == found[1]


class MaskOfAskedTwice(nn.Layer):
    """As decoders of others: the mask is made for several tokens alone, and the same question is asked again before it is used."""

    def forward(self, ids, x):
        mask = None
        if ids.shape[-1] > 1:
            mask = wt.triu(wt.full([ids.shape[-1], ids.shape[-1]], -100.0), 1)
        if ids.shape[-1] > 1:
            mask = mask + x
        else:
            mask = x
        return mask


def test_a_question_that_is_asked_again_has_the_same_answer(tmp_path):
    layer = MaskOfAskedTwice()
    jit.save(layer, str(tmp_path / "m"), input_spec=[InputSpec([None, None], "int64"), InputSpec([None, None], "float32")])
    loaded = jit.load(str(tmp_path / "m"))
    for n in (1, 3):
        given = wt.ones([2, n], "int64"), wt.ones([n, n])
        assert loaded(*given).tolist() == layer(*given).tolist()


def test_another_question_does_not_say_that_there_is_a_value():
    def f(x, y):
        c = None
        if x.sum() > 0:
            c = x * 2
        if y.sum() > 0:
            return c + y
        return y

    with pytest.raises(TypeError, match="c may be None here"):
        jit.to_static(f, full_graph=True)(wt.ones([2]), wt.ones([2]))


def test_a_question_about_what_was_written_over_is_another_one():
    def f(x):
        y = x * 1.0
        c = None
        if y.sum() > 0:
            c = x * 2
        y.subtract_(x * 5)
        if y.sum() > 0:
            return c + y
        return y

    with pytest.raises(TypeError, match="c may be None here"):
        jit.to_static(f, full_graph=True)(wt.ones([2]))

