"""`jit.save` and `jit.load`: programs as files, and layers made of them."""
import os

import numpy as np
import pytest

import wherry_graph.jit as jit
import wherry_graph.static as static
import wherry_nn as nn
import wherry_tensor as wt
from wherry_autograd import PyLayer, no_grad
from wherry_nn import functional as F
from wherry_nn.layers.decode import Decoder
from wherry_nn.utils import boxes
from wherry_paddle_files.testing.model_files import as_paddle_writes
from wherry_program.program.best_paths import best_paths
from wherry_program.program.input_spec import InputSpec
from wherry_program.program.ir import Program
from wherry_tensor.functions import factorization, fft, matrices, signal
from wherry_train.optimizer import SGD

wt.seed(0)


class Net(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(1, 3, 3)
        self.norm = nn.BatchNorm2D(3)
        self.drop = nn.Dropout(0.5)
        self.out = nn.Linear(12, 2)

    def forward(self, x, doubled=False):
        x = self.drop(F.relu(self.norm(self.conv(x))))
        x = F.max_pool2d(x, 2).flatten(1)
        return self.out(x) * (2 if doubled else 1)


IMAGES = InputSpec([None, 1, 6, 6], "float32", "image")


def image(batch, seed=0):
    return wt.to_tensor(np.random.default_rng(seed).standard_normal((batch, 1, 6, 6)).astype("float32"))


@pytest.fixture
def path(tmp_path):
    return str(tmp_path / "net")


def test_a_loaded_layer_gives_what_the_saved_one_gave_for_every_batch(path):
    net = Net()
    net.eval()
    jit.save(net, path, input_spec=[IMAGES])
    loaded = jit.load(path)
    assert isinstance(loaded, jit.TranslatedLayer)
    assert not loaded.training
    with no_grad():
        for batch in (1, 5):
            np.testing.assert_allclose(loaded(image(batch)).numpy(), net(image(batch)).numpy(), rtol=1e-5, atol=1e-6)
    assert not isinstance(net.forward, jit.StaticFunction)


def test_three_files_are_written(path):
    jit.save(nn.Linear(2, 2), path, input_spec=[InputSpec([None, 2])])
    assert sorted(os.listdir(os.path.dirname(path))) == ["net.pdiparams", "net.pdiparams.info", "net.pdmodel"]


def test_inputs_come_from_the_declaration_or_the_last_call(path):
    net = jit.to_static(nn.Linear(2, 2), input_spec=[InputSpec([None, 2], name="x")])
    jit.save(net, path)
    assert jit.load(path)._input_spec() == [InputSpec([None, 2], "float32", "x")]
    net = jit.to_static(nn.Linear(2, 2))
    net(wt.ones([3, 2]))
    jit.save(net, path)
    assert jit.load(path)._input_spec()[0].shape == (3, 2)
    jit.save(nn.Linear(2, 2), path, input_spec=[wt.ones([4, 2])])
    assert jit.load(path)._input_spec()[0].shape == (4, 2)
    with pytest.raises(ValueError, match="No valid transformed program"):
        jit.save(nn.Linear(2, 2), path)


def test_a_loaded_layer_trains_and_is_saved_again(path):
    jit.save(nn.Linear(3, 1), path, input_spec=[InputSpec([None, 3])])
    loaded = jit.load(path)
    loaded.train()
    assert [p.stop_gradient for p in loaded.parameters()] == [False, False]
    optimizer = SGD(0.1, parameters=loaded.parameters())
    for _ in range(200):
        loss = (loaded(wt.ones([4, 3])) - 5.0).square().mean()
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
    assert loss.item() < 1e-4
    for spec in (None, [wt.ones([1, 3])], [InputSpec([None, 3])]):
        jit.save(loaded, path + "2", input_spec=spec)
        np.testing.assert_allclose(jit.load(path + "2")(wt.ones([1, 3])).numpy(), [[5.0]], atol=0.05)


def test_gradients_reach_the_inputs_of_a_loaded_layer(path):
    net = nn.Linear(3, 1)
    jit.save(net, path, input_spec=[InputSpec([None, 3])])
    x = wt.ones([2, 3])
    x.stop_gradient = False
    jit.load(path)(x).sum().backward()
    np.testing.assert_allclose(x.grad.numpy(), np.broadcast_to(net.weight.numpy().T, (2, 3)), rtol=1e-6)


def test_control_flow_is_saved(path):
    class Gated(nn.Layer):
        def forward(self, x):
            n = 0
            while x.sum() < 20:
                x = x * 2
                n += 1
            if x.mean() > 8:
                return -x, n
            return x, n

    jit.save(Gated(), path, input_spec=[InputSpec([None])])
    loaded = jit.load(path)
    for values in ([1.0, 2.0], [30.0, 1.0]):
        x = wt.to_tensor(values)
        for mine, theirs in zip(loaded(x), Gated()(x), strict=True):
            np.testing.assert_array_equal(mine.numpy(), np.asarray(theirs))


def test_a_choice_in_a_loop_whose_list_grows_is_saved(path):
    # The body of such a loop is read twice, since the size of the list is not known the second time.
    net = nn.Linear(4, 4)

    def steps(x, times):
        y, i, means = x, wt.zeros([1], "int32"), []
        while i < times:
            y = net(y)
            if wt.mean(y) > 0:
                y = F.relu(y)
            else:
                y = wt.tanh(y) + 1
            means.append(y.mean())
            i += 1
        return y, wt.stack(means)

    jit.save(jit.to_static(steps), path, input_spec=[InputSpec([None, 4]), 3])
    x = wt.to_tensor(np.linspace(-1, 1, 8, dtype="float32").reshape(2, 4))
    for mine, loaded in zip(steps(x, 3), jit.load(path)(x)):
        np.testing.assert_allclose(loaded.numpy(), mine.numpy(), rtol=1e-6)


class Two(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(4, 2)

    @jit.to_static(input_spec=[InputSpec([None, 4])])
    def forward(self, x):
        return self.layer(x)

    @jit.to_static(input_spec=[InputSpec([None, 4])])
    def another_forward(self, x):
        return self.layer(x) * 2


def test_methods_have_files_of_their_own_and_share_parameters(path):
    net = Two()
    jit.save(net, path)
    assert sorted(os.listdir(os.path.dirname(path))) == [
        "net.another_forward.pdiparams", "net.another_forward.pdmodel", "net.pdiparams", "net.pdiparams.info", "net.pdmodel",
    ]
    loaded = jit.load(path)
    x = wt.ones([3, 4])
    np.testing.assert_allclose(loaded.another_forward(x).numpy(), loaded(x).numpy() * 2, rtol=1e-6)
    assert len(loaded.parameters()) == 2
    with no_grad():
        for p in loaded.parameters():
            p.set_value(p.numpy() * 0)
    assert not loaded.another_forward(x).numpy().any()
    assert isinstance(loaded.program("another_forward"), Program)
    with pytest.raises(ValueError, match="`other` does not exist in loaded"):
        loaded.program("other")
    with pytest.raises(ValueError, match="'input_spec' should be None"):
        jit.save(net, path, input_spec=[InputSpec([None, 4])])


def test_functions_are_saved_too(path):
    jit.save(lambda x: x * 2 if x.sum() > 0 else x, path, input_spec=[InputSpec([None])])
    assert jit.load(path)(wt.to_tensor([1.0])).item() == 2.0
    net = nn.Linear(2, 2)
    jit.save(jit.to_static(net.forward, input_spec=[InputSpec([None, 2])]), path)
    np.testing.assert_allclose(jit.load(path)(wt.ones([1, 2])).numpy(), net(wt.ones([1, 2])).numpy(), rtol=1e-6)


def test_other_arguments_are_frozen(path):
    net = Net()
    net.eval()
    jit.save(net, path, input_spec=[IMAGES, True])
    jit.save(net, path + "1", input_spec=[IMAGES])
    np.testing.assert_allclose(jit.load(path)(image(2)).numpy(), jit.load(path + "1")(image(2)).numpy() * 2, rtol=1e-6)


def test_outputs_can_be_chosen(path):
    jit.save(lambda x: (x, x * 2), path, input_spec=[InputSpec([None])], output_spec=[1])
    assert jit.load(path)(wt.to_tensor([1.0])).item() == 2.0
    with pytest.raises(ValueError, match="the outputs have no 5"):
        jit.save(lambda x: x, path, input_spec=[InputSpec([None])], output_spec=[5])


def test_names_of_the_process_that_saved_do_not_stand_in_the_way(path):
    """Gradients of a loaded program make names, which may be those in the file."""
    from wherry_nn import unique_name

    with unique_name.guard():
        jit.save(lambda x: x * 2 if x.sum() > 0 else x, path, input_spec=[InputSpec([None])])
    with unique_name.guard():
        x = wt.ones([2])
        x.stop_gradient = False
        jit.load(path)(x).sum().backward()
    assert x.grad.numpy().tolist() == [2.0, 2.0]


def test_a_loaded_layer_takes_nested_tensors_one_after_the_other_or_as_they_were(path):
    class Nested(nn.Layer):
        def forward(self, x, more, factor=3):
            out = x * factor + more["z"] * 10 - more["b"][0]
            return {"z": out, "b": -out}

    row = InputSpec([None, 2])
    x, z, b = wt.ones([1, 2]), wt.ones([1, 2]) * 2, wt.ones([1, 2]) * 5
    jit.save(Nested(), path, input_spec=[row, {"z": row, "b": [row]}])
    loaded = jit.load(path)
    for given in [x, b, z], [x, {"z": z, "b": [b]}], [x, {"b": [b], "z": z}, 3], [x.numpy(), {"z": z.numpy(), "b": (b,)}]:
        assert [out.tolist() for out in loaded(*given)] == [[[-18.0] * 2], [[18.0] * 2]]  # by sorted keys, as in Paddle
    with pytest.raises(ValueError, match="got 2 inputs, expected 3"):
        loaded(x, {"z": z})


@pytest.mark.parametrize("mode", ["nearest", "bilinear", "bicubic"])
@pytest.mark.parametrize("scale", [2, 1, 0.5, 1.5, [1, 0.3]])
def test_interpolation_of_open_sizes_by_a_scale(mode, scale, path):
    def resized(x):
        return F.interpolate(x, scale_factor=scale, mode=mode)

    jit.save(resized, path, input_spec=[InputSpec([None, 2, None, None], "float32")])
    loaded = jit.load(path)
    for sides in (4, 8), (5, 7), (3, 4), (2, 6):
        x = wt.rand([2, 2, *sides])
        np.testing.assert_allclose(loaded(x).numpy(), resized(x).numpy(), rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("align_corners", [False, True])
@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
def test_interpolation_to_sizes_that_a_tensor_says(mode, align_corners, path):
    def resized(x, like):
        shape = wt.shape(like)
        a = F.interpolate(x, shape[2:], mode=mode, align_corners=align_corners)
        return a + F.interpolate(x, [shape[2], shape[3]], mode=mode, align_corners=align_corners)

    jit.save(resized, path, input_spec=[InputSpec([None, 2, None, None], "float32"), InputSpec([None, 2, None, None], "float32")])
    loaded = jit.load(path)
    for sides, wanted in ((4, 8), (9, 3)), ((5, 1), (1, 4)), ((1, 1), (1, 1)), ((3, 3), (1, 1)):
        x, like = wt.rand([2, 2, *sides]), wt.rand([2, 2, *wanted])
        np.testing.assert_allclose(loaded(x, like).numpy(), resized(x, like).numpy(), rtol=1e-5, atol=1e-6)


OPEN_SIZES = {
    "fft": lambda x: fft.fft(x, n=3, axis=0), "rfft": lambda x: fft.rfft(x, n=4, axis=0), "irfft": lambda x: fft.irfft(x, n=6, axis=0),
    "fftshift": lambda x: fft.fftshift(x), "ifftshift": lambda x: fft.ifftshift(x, axes=0), "is_empty": wt.is_empty,
    "cov": lambda x: matrices.cov(x, False), "corrcoef": lambda x: matrices.corrcoef(x, rowvar=False),
    "multi_dot": lambda x: wt.linalg.multi_dot([x, wt.ones([3, 4]), wt.ones([4, 2])]),
    "solve": lambda x: factorization.solve(x.unsqueeze(1) + wt.eye(3), wt.ones([3, 2])),
}  # fmt: skip


@pytest.mark.parametrize("function", OPEN_SIZES.values(), ids=OPEN_SIZES)
def test_what_looks_at_a_size_holds_for_every_size(function, path):
    jit.save(function, path, input_spec=[InputSpec([None, 3], "float32", "x")])
    loaded = jit.load(path)
    for rows in (2, 3, 5):
        x = wt.to_tensor(np.random.default_rng(rows).standard_normal((rows, 3)).astype("float32"))
        np.testing.assert_allclose(loaded(x).numpy(), function(x).numpy(), rtol=1e-4, atol=1e-5)


def test_an_open_axis_in_equal_parts(path):
    jit.save(lambda x: wt.split(x, 2, axis=1) + wt.chunk(x, 3), path, input_spec=[InputSpec([None, None], "float32")])
    loaded = jit.load(path)
    for shape in ((3, 4), (6, 2), (0, 2)):
        x = wt.arange(shape[0] * shape[1], dtype="float32").reshape(shape)
        for found, expected in zip(loaded(x), wt.split(x, 2, axis=1) + wt.chunk(x, 3), strict=True):
            np.testing.assert_array_equal(found.numpy(), expected.numpy())
    with pytest.raises(ValueError, match="reshape"):
        loaded(wt.ones([3, 5]))


@pytest.mark.parametrize(
    ("equation", "open_shapes", "shapes"),
    [
        ("ij,jk->ik", ([None, 3], [None, 4]), ([2, 3], [3, 4])),
        ("ij,jk,kl->il", ([None, None], [None, 4], [None, None]), ([2, 3], [3, 4], [4, 5])),
        ("...id,...jd->...ij", ([None, 2, None, 4], [None, 1, 3, 4]), ([2, 2, 5, 4], [2, 1, 3, 4])),
        ("nkctv,kvw->nctw", ([None, 2, 3, None, 4], [2, None, 4]), ([2, 2, 3, 5, 4], [2, 4, 4])),
    ],
)
def test_einsum_of_letters_whose_size_is_open_in_one_operand(equation, open_shapes, shapes, path):
    jit.save(lambda *xs: wt.einsum(equation, *xs), path, input_spec=[InputSpec(shape, "float32") for shape in open_shapes])
    random = np.random.default_rng(0)
    xs = [wt.to_tensor(random.standard_normal(shape).astype("float32")) for shape in shapes]
    np.testing.assert_allclose(jit.load(path)(*xs).numpy(), np.einsum(equation, *[x.numpy() for x in xs]), rtol=1e-4, atol=1e-5)


def test_norm_that_was_captured_with_one_batch_takes_another(path):
    weight = nn.Linear(1, 4).bias
    jit.save(lambda x: (x + weight) / wt.norm(x + weight, axis=1, keepdim=True), path, input_spec=[InputSpec([3, 4], "float32")])
    assert jit.load(path)(wt.ones([5, 4])).shape == [5, 4]


def grown(x):
    out = []
    for i in range(wt.shape(x)[0]):
        out.append(x[i] * 2)
    return wt.stack(out)


def grown_by_choice(x):
    out = []
    for i in range(wt.shape(x)[0]):
        if x[i].sum() > 1:
            out.append(x[i])
    out.append(x[0])
    return wt.concat(out, axis=0)


def grown_by_lists(x):
    left, right = [], []
    for i in range(wt.shape(x)[0]):
        left.extend([x[i], -x[i]])
        right.append(x[i])
    left.extend(right)
    return wt.stack(left, axis=1)


@pytest.mark.parametrize("function", [grown, grown_by_choice, grown_by_lists])
def test_lists_that_grow_by_items_of_open_size(function, path):
    jit.save(function, path, input_spec=[InputSpec([None, None, 2], "float32")])
    loaded = jit.load(path)
    for rows, columns in (2, 3), (4, 1), (3, 5):
        x = wt.randn([rows, columns, 2])
        np.testing.assert_allclose(loaded(x).numpy(), function(x).numpy(), rtol=1e-6)


def test_a_list_of_numbers_is_one_tensor_for_a_loaded_layer(path):
    jit.save(lambda x: x * 2, path, input_spec=[InputSpec([None, 2])])
    loaded = jit.load(path)
    assert loaded([[1.0, 2.0]]).tolist() == [[2.0, 4.0]]
    assert loaded([wt.ones([2])]).tolist() == [[2.0, 2.0]]
    assert loaded([wt.ones([1, 2])]).tolist() == [[2.0, 2.0]]


def test_what_cannot_be_saved_or_loaded_is_refused(path, tmp_path):
    with pytest.raises(TypeError, match="should be 'Layer' or 'Function'"):
        jit.save(3, path)
    with pytest.raises(ValueError, match="file_prefix is empty"):
        jit.save(nn.Linear(2, 2), f"{tmp_path}/")
    with pytest.raises(ValueError, match=r"additional config \(foo\) of `paddle.jit.save`"):
        jit.save(nn.Linear(2, 2), path, foo=1)
    with pytest.raises(ValueError, match=r"additional config \(foo\) of `paddle.jit.load`"):
        jit.load(path, foo=1)
    with pytest.raises(ValueError, match="to load model not exists"):
        jit.load(path)
    jit.save(nn.Linear(2, 2), path, input_spec=[InputSpec([None, 2])])
    loaded = jit.load(path)
    with pytest.raises(ValueError, match="got 2 inputs, expected 1"):
        loaded(wt.ones([1, 2]), wt.ones([1, 2]))
    with pytest.raises(ValueError, match="Got float64, expected float32"):
        loaded(wt.ones([1, 2], "float64"))

    class Odd(nn.Layer):
        @jit.to_static
        def other(self, x):
            return x

        def forward(self, x):
            return x

    with pytest.raises(ValueError, match="`forward` is not marked with to_static"):
        jit.save(Odd(), path)


def _first_where_positive(x, y):
    if y.sum() > 0:
        x[1] = y[0]
    return x * 2


def _one_after_the_other(x, y):
    i = wt.to_tensor(0)
    while i < 3:
        x[i] = x[i] * i.astype("float32") + y[0]
        i += 1
    return x


@pytest.mark.parametrize("function", [
    lambda x, y: x.__setitem__(slice(1, None), y) or x * 2,
    lambda x, y: x.__setitem__(x > 0, 0) or x * 2 + y[0],
    lambda x, y: x.__setitem__(wt.to_tensor([0, 2]), y) or x * 2,
    lambda x, y: x.__setitem__((slice(None, None, 2), None, 1), 3.0) or x * y[0],
    lambda x, y: x.exp_() * y[0],
    lambda x, y: x.fill_(2.0) * y[0],
    lambda x, y: x.copy_(y[:1].expand([3, 2])) * 2,
    lambda x, y: x.reshape_([2, 3]).__setitem__(1, 5.0) or x * y.sum(),
    _first_where_positive,
    _one_after_the_other,
])
def test_a_declared_input_may_be_written_over(function, path):
    kept = wt.randn([3, 2])
    y = wt.to_tensor([[7.0, 8.0], [9.0, 10.0]])
    jit.save(function, path, input_spec=[InputSpec([3, 2], "float32", "x"), InputSpec([2, 2], "float32", "y")])
    x = kept.clone()
    np.testing.assert_allclose(jit.load(path)(x, y).numpy(), function(kept.clone(), y).numpy(), rtol=1e-6)
    np.testing.assert_array_equal(x.numpy(), kept.numpy())  # what the caller gave stays


@pytest.mark.parametrize("accumulate", [None, False, True])
def test_a_mask_chooses_where_as_many_values_go(accumulate, path):
    def function(x, mask, values):
        if accumulate is not None:
            return wt.index_put(x, (mask,), values, accumulate)
        x[mask] = values
        return x

    x, values = wt.randn([3, 2]), wt.to_tensor([9.0, 8.0, 7.0])
    mask = wt.to_tensor([[True, False], [True, True], [False, False]])
    specs = [InputSpec([None, 2], "float32", "x"), InputSpec([None, 2], "bool", "mask"), InputSpec([None], "float32", "values")]
    jit.save(function, path, input_spec=specs)
    np.testing.assert_array_equal(jit.load(path)(x, mask, values).numpy(), function(x.clone(), mask, values).numpy())


@pytest.mark.parametrize("function", [
    lambda x, s: F.interpolate(x, scale_factor=s),
    lambda x, s: F.interpolate(x, scale_factor=[s, s * 1.5], mode="bilinear"),
    lambda x, s: F.interpolate(x, scale_factor=wt.stack([s * 0.3, s]), mode="bicubic"),
    lambda x, s: F.interpolate(x, scale_factor=s, mode="bilinear", align_corners=True),
    lambda x, s: F.dropout(x, p=s / 4, training=False),
    lambda x, s: F.dropout(x, p=s / 4, training=False, mode="downscale_in_infer"),
    lambda x, s: F.dropout(x, p=s / 2) + s,
    lambda x, s: F.dropout(x, p=s - 2, axis=1),
    lambda x, s: x + wt.full([4, 1], s),
    lambda x, s: x.sum() + wt.arange(s / 4, s * 3, s / 3),
    lambda x, s: wt.topk(x, s.astype("int32"), axis=1)[0],
    lambda x, s: F.pad(x, [s.astype("int32"), 1, 0, 2], value=3.0),
])
@pytest.mark.parametrize("size", [4, None])
def test_a_tensor_says_how_much(function, size, path):
    x, s = wt.randn([2, 3, 4, 5]), wt.to_tensor(2.0)
    jit.save(function, path, input_spec=[InputSpec([size and 2, 3, size, size and 5], "float32", "x"), InputSpec([], "float32", "s")])
    wanted, found = function(x, s).numpy(), jit.load(path)(x, s).numpy()
    assert found.dtype == wanted.dtype
    np.testing.assert_allclose(found, wanted, rtol=1e-5, atol=1e-6)


def test_a_parameter_that_forward_writes_is_named_by_its_path(path):
    class Writing(nn.Layer):
        def __init__(self):
            super().__init__()
            self.fc, self.calls = nn.Linear(2, 2), 0

        def forward(self, x):
            self.calls += 1
            self.fc.weight.add_(wt.ones([2, 2]))
            return self.fc(x)

    net = Writing()
    with pytest.raises(ValueError, match=r"cannot be written in place.*The tensor is the parameter fc\.weight of Writing\."):
        jit.save(net, path, input_spec=[InputSpec([None, 2], "float32")])
    assert net.calls == 1


def test_gradients_pass_what_was_written_over(path):
    jit.save(lambda x, y: x.__setitem__(1, y) or (x * x).sum(), path, input_spec=[InputSpec([3], "float32"), InputSpec([1], "float32")])
    x, y = wt.to_tensor([1.0, 2.0, 3.0], stop_gradient=False), wt.to_tensor([5.0], stop_gradient=False)
    jit.load(path)(x, y).backward()
    assert x.grad.tolist() == [2.0, 0.0, 6.0] and y.grad.tolist() == [10.0]


def test_a_loaded_layer_is_part_of_what_is_captured(path):
    jit.save(nn.Linear(2, 2), path, input_spec=[InputSpec([None, 2])])
    loaded = jit.load(path)
    f = jit.to_static(lambda x: loaded(x) * 2, full_graph=True)
    np.testing.assert_allclose(f(wt.ones([1, 2])).numpy(), loaded(wt.ones([1, 2])).numpy() * 2, rtol=1e-6)


def test_a_traced_layer_runs_and_is_saved(path):
    net = nn.Linear(2, 2)
    out, traced = jit.TracedLayer.trace(net, inputs=[wt.ones([1, 2])])
    np.testing.assert_array_equal(traced([wt.ones([1, 2])])[0].numpy(), out.numpy())
    traced.set_strategy()
    traced.save_inference_model(path, feed=[0], fetch=[0])
    np.testing.assert_allclose(jit.load(path)(wt.ones([1, 2])).numpy(), out.numpy(), rtol=1e-6)
    with pytest.raises(ValueError, match="feed holds positions"):
        traced.save_inference_model(path, feed=[3])
    with pytest.raises(TypeError, match="this is not a layer"):
        jit.TracedLayer.trace(lambda x: x, [wt.ones([1])])


def test_a_layer_with_a_pylayer_is_saved_as_what_it_computes(path):
    class Exp(PyLayer):
        @staticmethod
        def forward(ctx, x):
            return x.exp()

        @staticmethod
        def backward(ctx, dy):
            return dy * 100

    class Grown(nn.Linear):
        def forward(self, x):
            return Exp.apply(super().forward(x))

    net, x = Grown(2, 2), wt.ones([3, 2])
    jit.save(net, path, input_spec=[InputSpec([None, 2])])
    np.testing.assert_array_equal(jit.load(path)(x).numpy(), net(x).numpy())


def test_as_many_steps_as_an_open_size_says_are_saved(tmp_path):
    def function(x):
        return x * wt.linspace(0, 1, x.shape[1])

    path = str(tmp_path / "steps")
    jit.save(function, path, input_spec=[InputSpec([None, None], "float32")])
    loaded = jit.load(path)
    for n in (1, 2, 5):
        x = wt.ones([2, n])
        assert loaded(x).tolist() == function(x).tolist(), n


OPEN_ROWS = {
    "lstsq": (lambda x: factorization.lstsq(x, x * 2 + 1)[:2], [3]),
    "matrix_rank": (lambda x: factorization.matrix_rank(x), [3]),
    "lu_unpack": (lambda x: factorization.lu_unpack(*factorization.lu(x)), [3]),
    "gather_tree": (lambda x: F.gather_tree(x.astype("int64"), (x > 0).astype("int64")), [2, 3]),
}


@pytest.mark.parametrize("name", OPEN_ROWS)
def test_rows_whose_number_is_open(name):
    function, more = OPEN_ROWS[name]
    static_function = jit.to_static(function, input_spec=[InputSpec([None, *more], "float32")], full_graph=True)
    for rows in (2, 3, 5):
        x = wt.to_tensor(np.random.default_rng(rows).standard_normal((rows, *more)).astype("float32"))
        found, expected = (out if isinstance(out, (list, tuple)) else [out] for out in (static_function(x), function(x)))
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-4, atol=1e-4)


def test_an_open_axis_that_only_one_size_fits(path):
    net, x = nn.SpectralNorm([4, 3]), wt.to_tensor(np.random.default_rng(0).standard_normal((4, 3)).astype("float32"))
    net.eval()
    jit.save(net, path, input_spec=[InputSpec([None, 3], "float32")])
    loaded = jit.load(path)
    np.testing.assert_allclose(loaded(x).numpy(), net(x).numpy(), rtol=1e-5)
    with pytest.raises(ValueError, match="reshape"):
        loaded(x[:2])
    spectra = wt.to_tensor(np.random.default_rng(1).standard_normal((5, 7)).astype("complex64"))
    jit.save(lambda x: signal.istft(x, 8, hop_length=2), path, input_spec=[InputSpec([None, 7], "complex64")])
    np.testing.assert_allclose(jit.load(path)(spectra).numpy(), signal.istft(spectra, 8, hop_length=2).numpy(), rtol=1e-4, atol=1e-5)


class Squeezed(nn.Layer):
    def __init__(self):
        super().__init__()
        self.scale = self.create_parameter([3])

    def forward(self, x):
        return wt.squeeze(x, 0) * self.scale


@pytest.fixture
def squeezed(path):
    net = Squeezed()
    jit.save(net, path, input_spec=[InputSpec([None, 3], "float32", "x")])
    return net


def test_an_axis_that_a_file_of_paddle_squeezes_stays_where_its_size_is_not_one(squeezed, path):
    as_paddle_writes(f"{path}.pdmodel")
    loaded = jit.load(path)
    for n in (2, 1, 2, 3):
        x = wt.arange(3.0 * n).reshape([n, 3])
        assert loaded(x).shape == ([3] if n == 1 else [n, 3])
        np.testing.assert_allclose(loaded(x).numpy(), squeezed(x).numpy(), rtol=1e-6)
    loaded(wt.ones([2, 3])).sum().backward()
    (weight,) = loaded.parameters()
    np.testing.assert_allclose(weight.grad.numpy(), [2, 2, 2])  # the same parameter, whichever program ran
    weight.set_value(np.full(3, 5, "float32"))
    np.testing.assert_allclose(loaded(wt.ones([2, 3])).numpy(), np.full([2, 3], 5))


def test_an_axis_that_a_file_of_ours_squeezes_must_have_one_element(squeezed, path):
    with pytest.raises(ValueError, match=r"squeeze: axis 0 has more than one element. Got size 2"):
        jit.load(path)(wt.ones([2, 3]))


def test_a_static_program_squeezes_what_is_one_when_it_runs(squeezed, path):
    as_paddle_writes(f"{path}.pdmodel")
    exe = static.Executor()
    with static.scope_guard(static.Scope()):
        program, _, fetches = static.load_inference_model(path, exe)
        for n in (2, 1):
            (found,) = exe.run(program, feed={"x": np.ones([n, 3], "float32")}, fetch_list=fetches)
            assert found.shape == ((3,) if n == 1 else (n, 3))


WRITTEN_OVER = {
    "relu_": lambda x: F.relu_(x) + x,
    "reshape_": lambda x: wt.reshape_(x, [-1]) * 2,
    "add_": lambda x: x.add_(wt.ones([3])) * x,
    "exp_ of a result": lambda x: (x * 2).exp_() + x,
}


@pytest.mark.parametrize("name", WRITTEN_OVER)
def test_a_function_that_writes_over_its_input_is_saved(name, path):
    function = WRITTEN_OVER[name]
    jit.save(function, path, input_spec=[InputSpec([None, 3], "float32", "x")])
    x = wt.to_tensor([[-1.0, 0.5, 2.0]])
    found = jit.load(path)(x)
    assert x.tolist() == [[-1.0, 0.5, 2.0]]
    np.testing.assert_allclose(found.numpy(), function(x).numpy(), rtol=1e-6)


def test_a_layer_that_writes_over_its_input_is_trained_when_it_is_loaded(path):
    class Layer(nn.Layer):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(3, 1)

        def forward(self, x):
            return self.linear(F.relu_(x))

    jit.save(Layer(), path, input_spec=[InputSpec([None, 3], "float32", "x")])
    loaded = jit.load(path)
    x = wt.to_tensor([[-1.0, 0.5, 2.0]], stop_gradient=False)
    loaded(x).sum().backward()
    weight = next(w for w in loaded.parameters() if w.ndim == 2)
    np.testing.assert_allclose(weight.grad.numpy()[:, 0], [0, 0.5, 2])
    np.testing.assert_allclose(x.grad.numpy()[0], weight.numpy()[:, 0] * [0, 1, 1])


class Scores(nn.Layer):
    """As classifiers of others end: whatever is 1 goes."""

    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(4, 3)

    def forward(self, x):
        return F.softmax(self.fc(x).unsqueeze([2, 3]).squeeze())


@pytest.mark.parametrize(
    ("open_shape", "shapes", "refused"),
    [
        ([None, 3], [(2, 3), (3, 3)], None),
        ([None, None, 3], [(2, 4, 3), (3, 4, 3), (4, 3, 3), (3, 3, 3)], None),
        ([3, None], [(3, 2), (3, 3)], None),
        ([None, 4], [(3, 4)], (2, 4)),
        ([None, None], [(3, 2), (2, 3), (3, 3)], (2, 2)),
    ],
)
def test_cross_takes_the_first_axis_of_size_3_when_the_program_runs(open_shape, shapes, refused, path):
    function = jit.to_static(lambda x, y: wt.cross(x, y), input_spec=[InputSpec(open_shape, "float32", name) for name in "xy"], full_graph=True)
    jit.save(function, path)
    loaded, rng = jit.load(path), np.random.default_rng(0)
    for shape in shapes:
        x, y = (wt.to_tensor(rng.normal(size=shape).astype("float32"), stop_gradient=False) for _ in "xy")
        expected = wt.cross(x, y).numpy()
        np.testing.assert_array_equal(function(x, y).numpy(), expected)
        np.testing.assert_array_equal(loaded(x, y).numpy(), expected)
        (function(x, y) * x).sum().backward()
        np.testing.assert_allclose(x.grad.numpy(), 0, atol=1e-6)  # x is at right angles to the product, whatever x is
    if refused:
        with pytest.raises(ValueError, match="does not fit"):
            function(wt.ones(refused), wt.ones(refused))


def test_squeeze_without_axes_of_an_open_batch(path):
    net, spec = Scores(), [InputSpec([None, 4], "float32", "x")]
    net.eval()
    jit.save(net, path, input_spec=spec)
    loaded, exe = jit.load(path), static.Executor()
    with static.scope_guard(static.Scope()):
        program, _, fetches = static.load_inference_model(path, exe)
        for n in (2, 1, 3, 1):
            x = wt.rand([n, 4])
            (found,) = exe.run(program, feed={"x": x.numpy()}, fetch_list=fetches)
            for one in (found, loaded(x).numpy()):
                assert one.shape == tuple(net(x).shape) == ((3,) if n == 1 else (n, 3))
                np.testing.assert_allclose(one, net(x).numpy(), rtol=1e-6)


def test_squeeze_without_axes_in_a_captured_function():
    function = jit.to_static(lambda x: wt.squeeze(x) * 2, input_spec=[InputSpec([None, 1, 4], "float32")])
    x = wt.ones([2, 1, 4])
    x.stop_gradient = False
    function(x).sum().backward()
    assert function(x).shape == [2, 4] and x.grad.shape == [2, 1, 4]
    with pytest.raises(ValueError, match=r"squeeze: the rank of the result was captured for sizes that are not 1. Got shape \[1, 1, 4\]"):
        function(wt.ones([1, 1, 4]))


class Beams(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cell, self.embedding, self.out = nn.LSTMCell(4, 4), nn.Embedding(6, 4), nn.Linear(4, 6)
        self.decoder = nn.BeamSearchDecoder(self.cell, 0, 1, 3, embedding_fn=self.embedding, output_fn=self.out)

    def forward(self, h):
        tokens, state, lengths = nn.dynamic_decode(self.decoder, (h, h * 2), max_step_num=5, return_length=True)
        return tokens, state.log_probs, lengths


@pytest.mark.parametrize("end", [-20.0, 4.0], ids=["to the last step", "until all end"])
@pytest.mark.parametrize("rows", [None, 3])
def test_beams_end_where_all_sequences_are_finished(rows, end, path):
    wt.seed(3)
    net = Beams()
    net.eval()
    net.out.bias.set_value(wt.to_tensor([0, end, 0, 0, 0, 0], "float32"))
    jit.save(net, path, input_spec=[InputSpec([rows, 4], "float32")])
    loaded = jit.load(path)
    for n in (rows,) if rows else (1, 4):
        h = wt.to_tensor(np.random.default_rng(n).random((n, 4)).astype("float32"))
        expected = net(h)
        assert (expected[0].shape[1] < 6) == (end > 0)
        for one, other in zip(loaded(h), expected, strict=True):
            np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-5, atol=1e-6)


def test_beams_without_a_last_step_go_on_until_all_end(path):
    wt.seed(3)
    net = Beams()
    net.eval()
    net.out.bias.set_value(wt.to_tensor([0, 2, 0, 0, 0, 0], "float32"))
    net.forward = lambda h: nn.dynamic_decode(net.decoder, (h, h * 2))[0]
    jit.save(net, path, input_spec=[InputSpec([None, 4], "float32")])
    loaded = jit.load(path)
    for n in (1, 4):
        h = wt.to_tensor(np.random.default_rng(n).random((n, 4)).astype("float32"))
        assert loaded(h).numpy().tolist() == net(h).numpy().tolist()


class Countdown(Decoder):
    """Rows that count down from their state, until they are below a half."""

    def initialize(self, inits):
        return inits, inits, wt.squeeze(inits < -100.0, 1)

    def step(self, time, inputs, states):
        left = states - 1.0
        return {"left": left * 2 + time.astype("float32"), "in": inputs}, left, inputs * 0.5, wt.squeeze(left < 0.5, 1)


class Counting(nn.Layer):
    def __init__(self, impute):
        super().__init__()
        self.impute, self.factor = impute, self.create_parameter([1], default_initializer=nn.initializer.Constant(1.5))

    def forward(self, x):
        found, state, lengths = nn.dynamic_decode(Countdown(), x * self.factor, impute_finished=self.impute, return_length=True)
        return found["left"], found["in"], state, lengths


@pytest.mark.parametrize("impute", [False, True])
def test_decoding_by_steps_of_ones_own_until_all_end(impute, path):
    net = Counting(impute)
    captured = jit.to_static(Counting(impute), input_spec=[InputSpec([None, 1], "float32")], full_graph=True)
    jit.save(captured, path)
    for rows in ([1.0], [4.0, 2.0], [1.0, 7.0, 3.0]):
        results, gradients = [], []
        for function in (net, captured, jit.load(path)):
            x = wt.to_tensor([[row] for row in rows], stop_gradient=False)
            results.append([one.numpy().tolist() for one in function(x)])
            (function(x)[0].sum() + (function(x)[1] ** 2).sum()).backward()
            gradients.append(x.grad.numpy())
        assert results[0] == results[1] == results[2]
        np.testing.assert_allclose(gradients[1:], [gradients[0]] * 2, rtol=1e-6)


def test_decoding_until_all_end_in_static_mode():
    static.enable_static()
    try:
        program = static.Program()
        with static.program_guard(program, static.Program()):
            x = static.data("x", [None, 1], "float32")
            found, state, lengths = nn.dynamic_decode(Countdown(), x, return_length=True, output_time_major=True)
        run = static.Executor().run
        for rows, longest in ([[1.0]], 1), ([[4.0], [2.0]], 4):
            given = run(program, feed={"x": np.array(rows, "float32")}, fetch_list=[found["in"], state, lengths])
            assert given[0].shape == (longest, len(rows), 1)
            assert (given[0][:, :, 0] == np.array(rows)[:, 0] * 0.5 ** np.arange(longest)[:, None]).all()
            assert given[1].tolist() == [[row[0] - longest] for row in rows] and given[2].tolist() == [row[0] for row in rows]
    finally:
        static.disable_static()


def test_proposals_whose_threshold_falls_are_saved(path):
    def proposals(scores, deltas, size, anchors):
        return boxes.proposed(scores, deltas, size, anchors, wt.ones_like(anchors), 50, 20, 0.8, 1.0, False, 0.9)

    shapes = {"scores": [None, 3, 2, 4], "deltas": [None, 12, 2, 4], "size": [None, 2], "anchors": [2, 4, 3, 4]}
    jit.save(proposals, path, input_spec=[InputSpec(shape, "float32", name) for name, shape in shapes.items()])
    loaded, rng = jit.load(path), np.random.default_rng(0)
    corners = rng.uniform(0, 10, (2, 4, 3, 2))
    anchors = np.concatenate([corners, corners + rng.uniform(5, 20, (2, 4, 3, 2))], -1)
    for n in (1, 3):
        arrays = [rng.uniform(size=(n, 3, 2, 4)), rng.normal(size=(n, 12, 2, 4)) * 0.2, np.full((n, 2), 40.0), anchors]
        given = [wt.to_tensor(x.astype("float32")) for x in arrays]
        for one, other in zip(loaded(*given), proposals(*given), strict=True):
            np.testing.assert_array_equal(one.numpy(), other.numpy())


@pytest.mark.parametrize("function", [
    lambda x, y: wt.equal_all(x, y),
    lambda x, y: F.kl_div(F.log_softmax(x), F.softmax(y)),
    lambda x, y: F.l1_loss(x, y),
    lambda x, y: F.cross_entropy(x, F.softmax(y), soft_label=True),
    lambda x, y: F.triplet_margin_loss(x, y, y + 1),
    lambda x, y: F.gaussian_nll_loss(x, y, wt.exp(x)),
    lambda x, y: F.cosine_embedding_loss(x, y, wt.sign(y[:, 0])),
    lambda x, y: wt.masked_select(x, y > 0),
    lambda x, y: F.glu(x) * y[:, :2],
])  # fmt: skip
@pytest.mark.parametrize("open_shapes", [([None, 4], [3, 4]), ([3, 4], [None, None]), ([None, None], [None, 4]), ([None, None], [3, None])])
def test_sizes_that_are_open_in_one_of_two_tensors(function, open_shapes, path):
    jit.save(function, path, input_spec=[InputSpec(shape, "float32", name) for shape, name in zip(open_shapes, "xy", strict=True)])
    random = np.random.default_rng(0)
    x, y = (wt.to_tensor(random.standard_normal((3, 4)).astype("float32")) for _ in "xy")
    np.testing.assert_allclose(jit.load(path)(x, y).numpy(), function(x, y).numpy(), rtol=1e-5, atol=1e-6)


def test_tensors_are_compared_whose_shapes_the_program_learns_when_it_runs(path):
    jit.save(wt.equal_all, path, input_spec=[InputSpec([None, None], "float32", name) for name in "xy"])
    loaded, x = jit.load(path), wt.ones([2, 3])
    assert [bool(loaded(x, y)) for y in (x, x * 2, wt.ones([1, 3]), wt.ones([3, 2]), wt.ones([2, 1]))] == [True, False, False, False, False]


def test_images_of_open_sizes_in_squares(path):
    jit.save(lambda x: F.pixel_unshuffle(x, 2), path, input_spec=[InputSpec([None, 3, None, None], "float32")])
    x = wt.randn([2, 3, 4, 6])
    np.testing.assert_array_equal(jit.load(path)(x).numpy(), F.pixel_unshuffle(x, 2).numpy())
    with pytest.raises(ValueError, match="reshape: x does not fit"):
        jit.load(path)(wt.ones([1, 3, 5, 4]))


def test_items_at_a_tensor_without_axes_are_written(path):
    def written(x, i):
        a, b, c = x.clone(), x.clone(), x.clone()
        a[i] = x[0] * 2
        b[:, i] = x[:, 0]
        c[:, :, i] = wt.arange(3, dtype="float32")
        return a, b, c

    jit.save(written, path, input_spec=[InputSpec([None, 3, 4], "float32"), InputSpec([], "int64")])
    for n, i in (2, 1), (3, 0):
        given = wt.randn([n, 3, 4]), wt.to_tensor(i)
        for one, other in zip(jit.load(path)(*given), written(*given), strict=True):
            np.testing.assert_array_equal(one.numpy(), other.numpy())


def test_parameters_and_buffers_of_a_loaded_layer_are_counted_apart(path):
    class Moved(nn.Layer):
        def __init__(self):
            super().__init__()
            self.fc = nn.Linear(2, 2)
            self.register_buffer("a", wt.ones([2]))
            self.register_buffer("z", wt.ones([2]))

        def forward(self, x):
            return self.fc(x + self.a) + self.z

    net = Moved()
    jit.save(net, path, input_spec=[InputSpec([None, 2], "float32")])
    assert sorted(jit.load(path).state_dict()) == ["buffer_0", "buffer_1", "param_0", "param_1"]


@pytest.mark.parametrize("of_paddle_3", [False, True])
def test_lists_that_loops_alone_write_are_saved(of_paddle_3, path):
    def paths(x, transitions, lengths):
        return best_paths(x, transitions, lengths, False)

    spec = [InputSpec([None, None, 4], "float32"), InputSpec([4, 4], "float32"), InputSpec([None], "int64")]
    function = jit.to_static(paths, input_spec=spec, full_graph=True)
    wt.set_flags({"FLAGS_enable_pir_api": of_paddle_3})
    try:
        jit.save(function, path)
    finally:
        wt.set_flags({"FLAGS_enable_pir_api": False})
    assert os.path.exists(f"{path}.json") == of_paddle_3
    loaded, random = jit.load(path), np.random.default_rng(7)
    for lengths in ([3], [1, 3, 2]):
        given = [wt.to_tensor(random.random(shape).astype("float32")) for shape in ((len(lengths), 3, 4), (4, 4))]
        given.append(wt.to_tensor(lengths))
        for one, other in zip(loaded(*given), function(*given), strict=True):
            np.testing.assert_array_equal(one.numpy(), other.numpy())
