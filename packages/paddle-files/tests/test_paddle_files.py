"""Programs go into Paddle's files and come back computing the same; files that do not fit are refused.

tests/parity compares with Paddle itself.
"""
import os
import pickle
from io import BytesIO

import numpy as np
import pytest

import wherry_nn as nn
import wherry_nn.functional as F
import wherry_tensor as wt
from wherry_autograd import no_grad
from wherry_nn import unique_name
from wherry_nn.functional.flash_attention import flash_attn_unpadded
from wherry_nn.functional.language import variable_length_memory_efficient_attention
from wherry_paddle_files import desc, models
from wherry_paddle_files.column import READS, paddle
from wherry_paddle_files.desc import Attr, AttrType, OpDesc, Slot, tensor_var
from wherry_paddle_files.params import write_params
from wherry_paddle_files.reading import UnreadableOp, program_of
from wherry_paddle_files.testing.model_files import detector, flow, network, small_program
from wherry_program.program.capture import capture
from wherry_program.program.control import (
    array_append,
    array_length,
    array_read,
    array_stack,
    cond,
    create_array,
    print_tensor,
    py_func,
    while_loop,
)
from wherry_program.program.ir import Program
from wherry_program.program.loop_forms import LOOP_FORMS
from wherry_program.run.executor import compiled
from wherry_tensor import ops
from wherry_tensor.functions import factorization, fft
from wherry_tensor.ops import registry
from wherry_tensor.ops.declare import decompose
from wherry_tensor.protobuf import ModelFileError
from wherry_tensor.testing.kit import _typed, array_of, specs
from wherry_train import atomic_files


def recorded(function, *inputs, unknown=()):
    """A program of `function`, whose inputs have the sizes of `inputs`; axes in `unknown` have none."""
    program = Program()
    feeds = [program.feed([-1 if n in unknown else m for n, m in enumerate(x.shape)], x.dtype, f"x{i}") for i, x in enumerate(inputs)]
    with capture(program):
        result = function(*feeds)
    program.fetches += list(result) if isinstance(result, (list, tuple)) else [result]
    return program


def through_file(program):
    return models.read_program(models.write_program(program))


def same(program, again, *inputs):
    for mine, theirs in zip(compiled(program)(*inputs), compiled(again)(*inputs), strict=True):
        assert mine.dtype == theirs.dtype
        assert mine.shape == theirs.shape
        np.testing.assert_allclose(array_of(mine), array_of(theirs), rtol=1e-5, atol=1e-6)


# Ops that are not written, and why; "python -m wherry ops <name>" says it too.
OF_PADDLE_2 = {"conv2d_input_vjp", "conv2d_weight_vjp", "sgd", "momentum", "adam", "adamw", "adagrad", "rmsprop"}  # not written for Paddle 3
UNWRITTEN = {"ctc_loss_vjp", "ctc_loss_curvature", "matrix_exp", "log_standard_gamma"}


@pytest.fixture(params=[False, True], ids=["2", "3"])
def format_of(request):
    """Programs are written as this version of Paddle has them."""
    wt.set_flags({"FLAGS_enable_pir_api": request.param})
    yield 3 if request.param else 2
    wt.set_flags({"FLAGS_enable_pir_api": False})


@pytest.mark.parametrize("op", list(specs), ids=lambda op: op.name)
def test_an_op_comes_back_from_a_file_as_it_was(op, format_of):
    if op.name in UNWRITTEN:
        pytest.skip("Paddle has no such operator; the message of writing it says so, and is tested below")
    spec, done = specs[op], 0
    for case in spec.cases():
        dtype = next((d for d in case.dtypes or spec.dtypes if d in ("float32", "int64", "bool", "complex64", "int32", "float64")), None)
        typed = _typed(spec, case, dtype) if dtype else None
        if typed is None or done >= 4 or any(x is not None and x.size > 5000 for x in case.inputs):
            continue
        inputs = [x for x in typed.tensors() if x is not None]
        present = [x is not None for x in case.inputs]

        def call(*feeds, present=present, attrs=case.attrs):
            found = iter(feeds)
            return op(*[next(found) if here else None for here in present], **attrs)

        program = recorded(call, *inputs)
        try:
            data = models.write_program(program)
        except NotImplementedError:
            # Some results have no counterpart in Paddle; the first of an op always has, unless the call as a whole has none.
            program.fetches = program.fetches[:1]
            try:
                data = models.write_program(program)
            except NotImplementedError as error:
                assert "cannot be written" in str(error)
                continue
        again = models.read_program(data)
        done += 1
        if not op.random:
            same(program, again, *inputs)
    assert done or op not in paddle or (format_of == 3 and op.name in OF_PADDLE_2), "no sample was written"


def test_every_op_is_written_or_decomposes_or_says_why_not():
    import wherry_paddle_files.ops  # noqa: F401

    missing = [op.name for op in registry.values() if not any(op in where for where in (paddle, decompose, LOOP_FORMS, paddle.exemptions))]
    assert missing == []
    assert len(paddle.rules) > 190
    assert len(READS) > 300


@pytest.mark.parametrize("name", sorted(UNWRITTEN))
def test_what_cannot_be_written_is_named(name):
    op = registry[name]
    case = specs[op].cases()[0]
    inputs = [wt.to_tensor(x if x.dtype.kind != "f" else x.astype("float32")) for x in case.inputs]
    with pytest.raises(NotImplementedError, match=rf"the op '{name}' cannot be written.*Add a rule to wherry_paddle_files/ops"):
        models.write_program(recorded(lambda *x: op(*x, **case.attrs), *inputs))


def test_programs_with_unknown_sizes_hold_for_every_batch():
    program = network()
    again = through_file(program)
    assert [x.name for x in again.feeds] == ["image"]
    assert again.feeds[0].sizes == (-1, 2, 8, 8)
    values = {x.name: x.bound for x in program.bound_variables() if x.persistable}
    models.bind_values(again, values)
    for batch in (1, 3):
        same(program, again, wt.rand([batch, 2, 8, 8]))


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_choices_and_loops_come_back(sign):
    program = flow()
    same(program, through_file(program), wt.full([2, 3], sign))


def test_shapes_that_only_a_run_knows_are_computed():
    def f(x):
        n = x.shape[0]
        return [
            x.reshape([n * 3]), wt.zeros([n, 2]) + n, x[: n // 2], wt.arange(n), x.expand([2, n, 3]), F.one_hot(x[:, 0].astype("int64"), n),
            x[n - 1],
        ]

    x = wt.to_tensor(np.arange(12, dtype="float32").reshape(4, 3) % 4)
    program = recorded(f, x, unknown=(0,))
    again = through_file(program)
    same(program, again, x)
    same(program, again, x[:2] % 2)


def test_lists_of_tensors_come_back():
    def f(x):
        array = create_array(x.dtype, [x])

        def body(i, array):
            return [i + 1, array_append(array, array_read(array, i, [2]) * 2.0)]

        _, array = while_loop(lambda i, array: i < 3, body, [ops.full(shape=(), value=0, dtype=wt.int64), array])
        return [array_stack(array, [-1, 2]), array_length(array)]

    x = wt.to_tensor([1.0, -2.0])
    program = recorded(f, x)
    same(program, through_file(program), x)


def test_a_choice_within_a_loop_within_a_choice_comes_back():
    def f(x):
        def loop():
            def body(i, y):
                return [i + 1, cond(y.sum() > 4, lambda: y - x, lambda: y * 2.0)]

            return while_loop(lambda i, y: i < 5, body, [ops.full(shape=(), value=0, dtype=wt.int64), x + 1.0])[1]

        return cond(x.mean() > 0, loop, lambda: x)

    for values in ([1.0, 0.5], [-1.0, 0.5]):
        x = wt.to_tensor(values)
        program = recorded(f, x)
        same(program, through_file(program), x)


def test_prints_come_back_and_calls_of_python_are_refused(capfd):
    x = wt.to_tensor([1.0])
    again = through_file(recorded(lambda x: print_tensor(x, "here:") * 2.0, x))
    compiled(again)(x)
    assert "here:" in capfd.readouterr().out
    with pytest.raises(NotImplementedError, match="'py_func' cannot be written.*leave it out"):
        models.write_program(recorded(lambda x: py_func(lambda y: y, [x], [([1], wt.float32)])[0], x))


def test_gradients_and_updates_come_back(tmp_path):
    from wherry_program.program.backward import gradients

    wt.seed(0)
    net = nn.Sequential(nn.Linear(3, 4), nn.ReLU(), nn.Linear(4, 1))
    program = Program()
    x = program.feed([-1, 3], wt.float32, "x")
    with capture(program) as recording:
        loss = (net(x) ** 2.0).mean()
        params = [recording.variable_of(p) for p in net.parameters()]
    found = gradients([loss], params)
    program.fetches = [loss, *found]
    again = through_file(program)
    models.bind_values(again, {p.name: p for p in net.parameters()})
    same(program, again, wt.rand([5, 3]))

    rate = wt.to_tensor([0.1])
    with capture(program), no_grad():
        for p, g in zip(params, found, strict=True):
            ops.sgd.into((p,), p, g, rate, None, weight_decay=0.0)
    program.fetches = [loss]
    models.save_model(str(tmp_path / "train"), program)
    loaded = models.load_model(str(tmp_path / "train"))
    assert {n.op.name for n in loaded.nodes if n.in_place} == {"sgd"}
    batch = wt.rand([5, 3])
    with no_grad():
        assert [compiled(p)(batch)[0].item() for p in (loaded, loaded)] == pytest.approx([compiled(p)(batch)[0].item() for p in (program, program)])


# Files.


def saved(folder, scale=1.0, name="m"):
    program = network()
    for x in program.bound_variables():
        if x.persistable:
            x.bound[:] = x.bound * scale
    prefix = str(folder / name)
    info = {"conv": {"structured_name": "conv.weight", "stop_gradient": False, "trainable": True}}
    models.save_model(prefix, program, info=info)
    return prefix, program


def test_a_model_is_loaded_with_its_parameters(tmp_path):
    prefix, program = saved(tmp_path / "folder")
    assert sorted(os.listdir(tmp_path / "folder")) == ["m.pdiparams", "m.pdiparams.info", "m.pdmodel"]
    again = models.load_model(prefix)
    same(program, again, wt.rand([2, 2, 8, 8]))
    assert again.blocks[0].vars["conv"].is_parameter
    assert not again.blocks[0].vars["mean"].is_parameter
    with open(f"{prefix}.pdiparams.info", "rb") as file:
        data = file.read()
    assert models.read_info(data) == pickle.loads(data) == {"conv": {"structured_name": "conv.weight", "stop_gradient": False, "trainable": True}}


def test_a_name_of_a_layer_that_is_no_text_is_refused(tmp_path):
    prefix, _program = saved(tmp_path)
    for name in ["conv", "weight"], None, 3:
        (tmp_path / "m.pdiparams.info").write_bytes(pickle.dumps({"conv": {"structured_name": name}}, 2))
        with pytest.raises(ModelFileError, match="'conv' by a name that is no text"):
            models.load_state(prefix)


def test_files_of_different_saves_are_refused(tmp_path):
    first, second = saved(tmp_path, 1.0, "a")[0], saved(tmp_path, 2.0, "b")[0]
    with pytest.raises(ModelFileError, match="do not belong together"):
        models.load_model(first, params_path=f"{second}.pdiparams")
    with open(f"{first}.pdmodel", "rb") as model, open(f"{second}.pdiparams", "rb") as params, pytest.raises(ModelFileError, match="of another save"):
        models.params_from_bytes(model.read(), params.read())


def test_parameters_that_do_not_fit_the_program_are_refused(tmp_path):
    prefix, _program = saved(tmp_path)
    described = desc.parse((tmp_path / "m.pdmodel").read_bytes())
    described.params_mark = None
    next(v for v in described.blocks[0].vars if v.name == "mean").type.lod_tensor.tensor.dims = [5]
    (tmp_path / "m.pdmodel").write_bytes(desc.serialize(described))
    with pytest.raises(ModelFileError):
        models.load_model(prefix)


def test_what_an_interrupted_save_had_decided_is_finished_by_who_loads(tmp_path, monkeypatch):
    prefix, _ = saved(tmp_path)
    real = os.replace

    def die(a, b):
        if b.endswith(".pdiparams"):  # after the program
            raise KeyboardInterrupt
        real(a, b)

    with monkeypatch.context() as patch:
        patch.setattr(os, "replace", die)
        patch.setattr(atomic_files, "_take_back", lambda *args: None)  # as if the process had died
        with pytest.raises(KeyboardInterrupt):
            saved(tmp_path, 2.0)
    found = models.load_model(prefix).bound_variables()
    again = models.load_model(saved(tmp_path, 2.0)[0]).bound_variables()
    for x, y in zip(found, again, strict=True):
        np.testing.assert_array_equal(x.bound.numpy(), y.bound.numpy())


def test_a_missing_model_is_told(tmp_path):
    with pytest.raises(FileNotFoundError, match="there is no model"):
        models.load_model(str(tmp_path / "nothing"))


def test_a_parameter_without_a_value_is_told(tmp_path):
    program = models.read_program(desc.serialize(small_program()))
    with pytest.raises(ValueError, match="parameter '[bw]' has no value"):
        models.save_model(str(tmp_path / "m"), program)
    models.save_model(str(tmp_path / "m"), program, params={"w": wt.ones([2, 3]), "b": wt.zeros([3])})
    (value,) = compiled(models.load_model(str(tmp_path / "m")))(wt.ones([1, 2]))
    assert value.numpy().tolist() == [[2.0, 2.0, 2.0]]


def test_large_constants_are_kept_with_the_parameters(tmp_path):
    table = wt.rand([100, 100])
    program = recorded(lambda x: x + table, wt.rand([100]))
    models.save_model(str(tmp_path / "m"), program)
    same(program, models.load_model(str(tmp_path / "m")), wt.rand([100]))


def test_names_of_what_a_file_computes_stay():
    program = models.read_program(desc.serialize(small_program()))
    assert [node.outputs[0].name for node in program.nodes] == ["t0", "t1", "t2"]
    assert [x.name for x in program.fetches] == ["t2"]
    assert program.blocks[0].vars["w"].is_parameter


# Programs that cannot be read.


def small_with(op, *variables):
    program = small_program()
    block = program.blocks[0]
    block.vars += variables
    block.ops.insert(3, op)
    return desc.serialize(program)


def read_operator(kind, slots, feeds, attrs, out="out"):
    """A program whose only operator is `kind`, with an input of each slot that is like one of `feeds`."""
    program = desc.parse(models.write_program(recorded(lambda *xs: xs[0] * 2.0, *feeds)))
    block = program.blocks[0]
    sources = [op.outputs[0].arguments[0] for op in sorted((op for op in block.ops if op.type == "feed"), key=lambda op: op.outputs[0].arguments)]
    (fetch,) = (op for op in block.ops if op.type == "fetch")
    inputs = [Slot(slot, [source]) for slot, source in zip(slots, sources, strict=True)]
    made = OpDesc(kind, inputs, [Slot(out, fetch.inputs[0].arguments)], [Attr(*attr) for attr in attrs])
    block.ops = [*(op for op in block.ops if op.type == "feed"), made, fetch]
    return models.read_program(desc.serialize(program))


def test_attention_over_packed_sequences_is_read():
    x, ends = wt.rand([5, 2, 4]), wt.to_tensor([0, 2, 5], dtype="int32")
    attrs = [("max_seqlen_q", AttrType.LONG, 3), ("max_seqlen_k", AttrType.LONG, 3), ("scale", AttrType.FLOAT, 0.5), ("dropout", AttrType.FLOAT, 0.5),
             ("causal", AttrType.BOOLEAN, True), ("is_test", AttrType.BOOLEAN, True)]
    program = read_operator("flash_attn_unpadded", ["q", "k", "v", "cu_seqlens_q", "cu_seqlens_k"], [x, x, x, ends, ends], attrs)
    (out,) = compiled(program)(x, x, x, ends, ends)
    assert bool((out == flash_attn_unpadded(x, x, x, ends, ends, 3, 3, 0.5, causal=True)[0]).all())
    with pytest.raises(ModelFileError, match="an attn_mask"):
        read_operator("flash_attn_unpadded", ["q", "k", "v", "cu_seqlens_q", "cu_seqlens_k", "attn_mask"], [x, x, x, ends, ends, x], attrs)


def test_attention_of_variable_length_is_read():
    x, lengths = wt.rand([2, 3, 4, 5]), wt.to_tensor([[4], [2]], dtype="int32")
    attrs = [("scale", AttrType.FLOAT, 0.5), ("causal", AttrType.BOOLEAN, True), ("pre_cache_length", AttrType.INT, 0)]
    slots, feeds = ["query", "key", "value", "seq_lens", "kv_seq_lens"], [x, x, x, lengths, lengths]
    program = read_operator("variable_length_memory_efficient_attention", slots, feeds, attrs)
    (out,) = compiled(program)(*feeds)
    assert bool((out == variable_length_memory_efficient_attention(*feeds, scale=0.5, causal=True)).all())


def test_attention_of_packed_sequences_goes_through_files_with_unknown_sizes():
    def function(x, ends):
        return flash_attn_unpadded(x, x, x, ends, ends, 6, 6, 0.5, causal=True)[0]

    x, ends = wt.rand([7, 2, 4]), wt.to_tensor([0, 3, 7], dtype="int32")
    program = recorded(function, x, ends, unknown=(0,))
    again = through_file(program)
    for feeds in (x, ends), (wt.rand([9, 2, 4]), wt.to_tensor([0, 2, 2, 8, 9], dtype="int32")):
        (out,) = compiled(again)(*feeds)
        np.testing.assert_allclose(out.numpy(), function(*feeds).numpy(), rtol=1e-5, atol=1e-6)


def test_an_operator_that_is_not_read_is_named_with_the_place_of_a_rule():
    op = OpDesc("yolov3_loss", [Slot("X", ["t1"])], [Slot("Loss", ["z"])])
    with pytest.raises(UnreadableOp, match=r"'yolov3_loss'. Got 1 of them.*@reads\('yolov3_loss'\) to wherry_paddle_files/ops") as caught:
        models.read_program(small_with(op, tensor_var("z", "float32", [1])))
    assert isinstance(caught.value, ValueError)
    assert isinstance(caught.value, NotImplementedError)


def test_an_operator_with_a_dtype_that_its_function_does_not_take_is_a_fault_of_the_file():
    ids, table = wt.to_tensor([0.0, 1.0], dtype="float16"), wt.rand([3, 2])
    with pytest.raises(ModelFileError, match="operator 'lookup_table_v2' of the file cannot be read.*Got x of dtype float16"):
        read_operator("lookup_table_v2", ["Ids", "W"], [ids, table], [])


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (OpDesc("relu", [], [Slot("Out", ["z"])]), "no input 'X'"),
        (OpDesc("relu", [Slot("X", ["t2"])], [Slot("Out", ["z"])]), "'t2' has no value"),
        (OpDesc("transpose2", [Slot("X", ["t1"])], [Slot("Out", ["z"])], [Attr("axis", AttrType.INTS, [0, 7])]),
         "'transpose2' of the file cannot be read"),
        (OpDesc("arg_max", [Slot("X", ["t1"])], [Slot("Out", ["z"])], [Attr("axis", AttrType.FLOAT, 0.5)]), "attribute 'axis' is 0.5"),
        (OpDesc("cast", [Slot("X", ["t1"])], [Slot("Out", ["z"])], [Attr("out_dtype", AttrType.INT, 99)]), "no dtype that is known. Got 99"),
        (OpDesc("unbind", [Slot("X", ["w"])], [Slot("Out", ["z"])], [Attr("axis", AttrType.INT, 0)]), "one result for each place"),
        (OpDesc("assign_value", [], [Slot("Out", ["z"])], [Attr("shape", AttrType.INTS, [2**31 - 1] * 3), Attr("dtype", AttrType.INT, 5),
                Attr("fp32_values", AttrType.FLOATS, [1.0])]), "1 values for shape"),
    ],
)  # fmt: skip
def test_operators_that_do_not_fit_are_refused_by_name(op, message):
    with pytest.raises(ModelFileError, match=message):
        models.read_program(small_with(op, tensor_var("z", "float32", [-1])))


def test_the_gradient_of_what_is_multiplied_by_itself_is_added_up_once():
    program = small_program()
    block = program.blocks[0]
    names = ("product", "first", "second", "both")
    block.vars += [tensor_var(name, "float32", [-1, 3]) for name in names]
    block.ops = [op for op in block.ops if op.type == "feed"]
    (source,) = block.ops[0].outputs[0].arguments
    both = [Slot("X", [source]), Slot("Y", [source])]
    block.ops += [
        OpDesc("elementwise_mul", both, [Slot("Out", ["product"])]),
        OpDesc("elementwise_mul_grad", [*both, Slot("Out@GRAD", [source])], [Slot("X@GRAD", ["first"]), Slot("Y@GRAD", ["second"])]),
        OpDesc("sum", [Slot("X", ["first", "second"])], [Slot("Out", ["both"])]),
        OpDesc("fetch", [Slot("X", ["both"])], [Slot("Out", ["fetch"])], [Attr("col", AttrType.INT, 0)]),
    ]
    again = models.read_program(desc.serialize(program))
    (x,) = again.feeds
    value = wt.to_tensor([[1.0, -2.0, 3.0][: x.sizes[-1]]], dtype="float32")
    (found,) = compiled(again)(value)
    assert found.tolist() == (2 * value * value).tolist()


def test_a_variable_keeps_its_name_beside_those_of_what_it_is_made_of():
    def f(x):
        y = x + 1
        return F.batch_norm(y, wt.zeros([2]), wt.ones([2]), wt.ones([2]), wt.zeros([2]), training=True) + y

    with unique_name.guard():
        program = recorded(f, wt.rand([3, 2]))
    names = {x.name for node in program.walk() for x in node.outputs if node.type == "add"}
    with unique_name.guard():
        written = desc.parse(models.write_program(program))
    first = next(op for op in written.blocks[0].ops if op.type == "scale")
    last = [op for op in written.blocks[0].ops if op.type == "elementwise_add"][-1]
    assert names <= {name for op in (first, last) for slot in op.outputs for name in slot.arguments}


@pytest.mark.parametrize(("expression", "dtype", "operator"), [
    ("x + 2", "float32", "scale"), ("2 - x", "float32", "scale"), ("x * 0.1", "float32", "scale"), ("x / 4", "float64", "scale"),
    ("x * 3", "int64", "scale"), ("x + 1", "bool", "scale"), ("x ** 2", "float32", "pow"),
    ("x * 0.1", "float64", "elementwise_mul"),  # the attribute is float32
    ("wt.clip(x, 1, 3)", "float32", "clip"), ("wt.clip(x, 1)", "float64", "clip"), ("wt.clip(x, max=3)", "int32", "clip"),
    ("wt.clip(x, 1, 3)", "int64", "elementwise_max"),  # the largest int64 is not a constant of a file
    ("x / 3", "float32", "elementwise_div"), ("2 / x", "float32", "fill_any_like"), ("x * 16777217", "int64", "elementwise_mul"),
])  # fmt: skip
def test_an_operator_with_a_number_is_one_of_one_tensor_where_nothing_is_lost(expression, dtype, operator):
    x = wt.to_tensor([[1, 0, 5]], dtype=dtype)
    program = recorded(lambda x: eval(expression, {"x": x, "wt": wt}), x)
    data = models.write_program(program)
    assert next(op.type for op in desc.parse(data).blocks[0].ops if op.type not in ("feed", "fill_constant")) == operator
    (found,) = compiled(models.read_program(data))(x)
    expected = eval(expression, {"x": x, "wt": wt})
    assert (found.dtype, found.tolist()) == (expected.dtype, expected.tolist())


@pytest.mark.parametrize(("dtype", "between"), [("float32", False), ("float64", True)])
def test_an_activation_of_float64_does_not_stand_right_behind_arithmetic(dtype, between):
    # Paddle's predictor makes one operator of the two, which it then refuses.
    x = wt.to_tensor([-1.0, 2.0], dtype=dtype)
    types = [op.type for op in desc.parse(models.write_program(recorded(lambda x: wt.abs(x + x), x))).blocks[0].ops]
    assert ("assign" in types) is between and types.index("abs") > types.index("elementwise_add")


def test_a_small_dividend_has_the_shape_of_the_quotient():
    # Paddle's predictor exchanges the two to broadcast, and divides the wrong way round.
    x, y = wt.to_tensor([[6.0], [3.0]]), wt.to_tensor([[1.0, 2.0, 4.0]])
    program = recorded(wt.divide, x, y)
    written = desc.parse(models.write_program(program)).blocks[0]
    (quotient,) = [op for op in written.ops if op.type == "elementwise_div"]
    shapes = {var.name: list(var.tensor.dims) for var in written.vars if var.tensor is not None}
    assert shapes[quotient.input("X")[0]] == [2, 3]
    (found,) = compiled(models.read_program(models.write_program(program)))(x, y)
    assert found.tolist() == [[6.0, 3.0, 1.5], [3.0, 1.5, 0.75]]


@pytest.mark.parametrize(("shape", "paddings"), [
    ([3], (1, 2)), ([2, 3], (1, 0, 2, 1)), ([2, 3, 4], (0, 0, 0, 0, 1, 1)), ([2, 3, 2, 2], (1, 0, 0, 2, 0, 1, 2, 0)),
    ([1, 2, 2, 3, 2], (0, 0, 1, 1, 0, 2, 1, 0, 0, 1)),
])  # fmt: skip
def test_padding_is_written_as_that_of_volumes(shape, paddings):
    # Paddle's predictor has an operator `pad` that pads other axes.
    x = wt.rand(shape)
    program = recorded(lambda x: ops.pad(x, paddings=paddings, value=1.5), x)
    data = models.write_program(program)
    kinds = {op.type for op in desc.parse(data).blocks[0].ops}
    assert "pad3d" in kinds and "pad" not in kinds
    (found,) = compiled(models.read_program(data))(x)
    assert found.tolist() == ops.pad(x, paddings=paddings, value=1.5).tolist()


def test_index_put_writes_over_a_copy():
    # In a result of its own Paddle's predictor finds, from the second run on, what the run before has left.
    x, value, index = wt.rand([3, 2]), wt.ones([2, 2]), wt.to_tensor([0, 2])
    program = recorded(lambda x, value, index: ops.index_put(x, value, index, axes=(0,), accumulate=True), x, value, index)
    data = models.write_program(program)
    (put,) = [op for op in desc.parse(data).blocks[0].ops if op.type == "index_put"]
    assert put.input("x") == put.output("out")
    for _ in range(2):
        (found,) = compiled(models.read_program(data))(x, value, index)
        assert found.tolist() == ops.index_put(x, value, index, axes=(0,), accumulate=True).tolist()


def test_what_nothing_needs_is_not_written():
    program = recorded(lambda x: F.max_pool3d(x, 3, 2, 1), wt.rand([1, 2, 5, 6, 4]))  # of its masks nobody asks
    kinds = [op.type for op in desc.parse(models.write_program(program)).blocks[0].ops]
    assert kinds.count("pool2d") == 2 and "max_pool2d_with_index" not in kinds and len(kinds) < 11


def test_the_whole_spectrum_of_an_open_size_goes_back():
    program = Program()
    x = program.feed([-1, 3], wt.complex64, "x")
    with capture(program):
        program.fetches = [fft.irfft(x, axis=0)]
    again = models.read_program(models.write_program(program))
    for rows in (2, 5):
        value = wt.complex(wt.rand([rows, 3]), wt.rand([rows, 3]))
        (found,) = compiled(again)(value)
        assert wt.allclose(found, fft.irfft(value, axis=0))


def test_every_result_is_named_in_order_whatever_its_dtype():
    program = recorded(lambda x: (x > 0, x, wt.complex(x, x), wt.cast(x, "int32")), wt.to_tensor([1.0, -2.0]))
    written = desc.parse(models.write_program(program)).blocks[0]
    scaled = {op.output("Out")[0] for op in written.ops if op.type == "scale"}
    fetched = [op.input("X")[0] for op in written.ops if op.type == "fetch"]
    assert set(fetched) == scaled  # Paddle's jit.load gives what is fetched without a scale after all others


# Programs that Paddle's passes have changed.


def test_of_an_attribute_that_is_said_twice_the_last_counts():
    twice = [Attr("fuse_activation", AttrType.STRING, b""), Attr("axis", AttrType.INT, -1), Attr("fuse_activation", AttrType.STRING, b"relu")]
    program = small_program()
    block = program.blocks[0]
    block.vars.append(tensor_var("z", "float32", [-1]))
    position = next(i for i, op in enumerate(block.ops) if op.type == "fetch")
    source = block.ops[position].inputs[0].arguments[0]
    given = [Slot("X", [source]), Slot("Y", [source])]
    block.ops.insert(position, OpDesc("fused_elementwise_sub", given, [Slot("Out", ["z"])], twice))
    assert "relu" in [node.type for node in models.read_program(desc.serialize(program)).walk()]


@pytest.mark.parametrize("training, expected", [(None, "multiply add"), (True, "dropout add"), (False, "multiply add")])
def test_dropout_with_a_summand_that_a_program_for_gpus_holds_is_read(training, expected):
    program = small_program()
    block = program.blocks[0]
    block.vars.append(tensor_var("z", "float32", [-1]))
    position = next(i for i, op in enumerate(block.ops) if op.type == "fetch")
    source = block.ops[position].inputs[0].arguments[0]
    attrs = [Attr("p", AttrType.FLOAT, 0.25), Attr("is_test", AttrType.BOOLEAN, True), Attr("mode", AttrType.STRING, b"downscale_in_infer")]
    block.ops.insert(position, OpDesc("fused_dropout_add", [Slot("x", [source]), Slot("y", [source])], [Slot("out", ["z"])], attrs))
    nodes = program_of(program, training).nodes
    assert [node.type for node in nodes[-2:]] == expected.split()


@pytest.mark.parametrize(
    ("op", "message"),
    [
        (OpDesc("fused_elementwise_add", [Slot("X", ["t1"]), Slot("Y", ["t1"])], [Slot("Out", ["z"])],
                [Attr("fuse_activation", AttrType.STRING, b"cube")]), "'fuse_activation' is 'cube'"),
        (OpDesc("multiclass_nms3", [Slot("BBoxes", ["t1"]), Slot("Scores", ["t1"])], [Slot("Out", ["z"])]), r"\[images, boxes, 4\]"),
        (OpDesc("yolo_box", [Slot("X", ["t1"]), Slot("ImgSize", ["t1"])], [Slot("Boxes", ["z"])], [Attr("anchors", AttrType.INTS, [1])]),
         "a channel for each number"),
        (OpDesc("prior_box", [Slot("Input", ["t1"]), Slot("Image", ["t1"])], [Slot("Boxes", ["z"])], [Attr("min_sizes", AttrType.FLOATS, [-1.0])]),
         "positive numbers"),
        (OpDesc("distribute_fpn_proposals", [Slot("FpnRois", ["t1"])], [Slot("MultiFpnRois", ["z"])],
                [Attr("min_level", AttrType.INT, 0), Attr("max_level", AttrType.INT, 2**31 - 1)]), "num_lvl"),
    ],
)  # fmt: skip
def test_heads_of_detectors_that_do_not_fit_are_refused_by_name(op, message):
    with pytest.raises(ModelFileError, match=message):
        models.read_program(small_with(op, tensor_var("z", "float32", [-1])))


def test_a_head_of_a_detector_gives_the_boxes_of_each_image_for_any_batch():
    program = models.read_program(desc.serialize(detector()))
    said = np.zeros((1, 2, 8, 4, 4), "float32")
    said[:, :, 4:5] = -9.0  # there is nothing
    said[0, 1, 4:6, 2, 3] = 9.0  # but here something of the first class, as large as its anchor
    twice, count = compiled(program)(wt.to_tensor(np.concatenate([said.reshape(1, 16, 4, 4)] * 2)), wt.full([2, 2], 32, "int32"))
    assert count.tolist() == [3, 3]  # all three classes have half of a chance at least
    np.testing.assert_allclose(twice.numpy()[0, 2:] / 2, [20, 5, 31, 31], atol=1e-4)
    alone = compiled(program)(wt.to_tensor(said.reshape(1, 16, 4, 4)), wt.full([1, 2], 32, "int32"))
    assert alone[1].tolist() == [3]
    nothing = compiled(program)(wt.full([1, 16, 4, 4], -9.0), wt.full([1, 2], 32, "int32"))
    assert (nothing[0].shape, nothing[1].tolist()) == ([0, 6], [0])


def test_numbers_that_were_folded_into_constants_decide_on_shapes():
    def f(x):
        return wt.full([3], 2.0) * x.sum()

    program = recorded(f, wt.ones([2]))
    written = desc.parse(models.write_program(program))
    block = written.blocks[0]
    shapes = [[attr.value for attr in op.attrs if attr.name == "shape"] for op in block.ops]
    index, fill = shapes.index([[3]]), block.ops[shapes.index([[3]])]
    block.vars.append(tensor_var("length", "int32", [1], persistable=True, stop_gradient=True))
    block.ops[index] = OpDesc("fill_constant", [Slot("ShapeTensor", ["length"])], fill.outputs, fill.attrs)
    file = BytesIO()
    write_params(file, params={"length": wt.to_tensor([5], dtype="int32")}, mark=None)
    again = models.params_from_bytes(desc.serialize(written), file.getvalue())
    assert again.fetches[0].sizes == (5,)
    assert compiled(again)(wt.ones([2]))[0].tolist() == [4.0] * 5


def test_results_of_decomposed_ops_keep_their_names():
    program = Program()
    x, y = program.feed([-1], wt.float32, "x"), program.feed([-1], wt.float32, "y")
    with capture(program):
        out = F.smooth_l1_loss(x, y)
        program.fetches = [out * 2.0]
    described = desc.parse(models.write_program(program))
    assert out.name in {var.name for var in described.blocks[0].vars}


def test_values_are_put_at_places_of_a_batch_of_any_size():
    program = Program()
    x, index = program.feed([-1, 4], wt.float32, "x"), program.feed([-1, 2], wt.int64, "index")
    with capture(program):
        program.fetches = [wt.put_along_axis(x, index, wt.to_tensor(1.0), 1, reduce="add")]
    again = through_file(program)
    for rows in (1, 3):
        rng = np.random.default_rng(rows)
        same(program, again, wt.to_tensor(rng.standard_normal((rows, 4)).astype("float32")), wt.to_tensor(rng.integers(0, 4, (rows, 2))))


def test_feeds_in_either_order_are_read_by_their_columns(tmp_path):
    program = Program()
    program.feeds = [program.feed([-1], wt.float32, name) for name in ("b", "a")]
    with capture(program):
        program.fetches = [program.feeds[1] - program.feeds[0]]
    written = desc.parse(models.write_program(program))
    ops = written.blocks[0].ops
    assert [op.outputs[0].arguments for op in ops[:2]] == [["a"], ["b"]]  # Paddle's jit.load puts each in front
    ops[:2] = ops[1::-1]  # as earlier versions wrote them
    old = str(tmp_path / "old")
    with open(f"{old}.pdmodel", "wb") as file:
        file.write(desc.serialize(written))
    again = models.load_model(old)
    assert [x.name for x in again.feeds] == ["b", "a"]
    models.replace_models([models.files_again(str(tmp_path / "new"), again)])
    with open(tmp_path / "new.pdmodel", "rb") as file:
        assert [op.outputs[0].arguments for op in desc.parse(file.read()).blocks[0].ops[:2]] == [["a"], ["b"]]


@pytest.mark.parametrize("mode", ["lstm", "gru", "simple_rnn"])
def test_sequences_with_lengths_run_backwards(mode):
    rng = np.random.default_rng(0)
    gates, states = {"lstm": (4, 2), "gru": (3, 1), "simple_rnn": (1, 1)}[mode]
    weights = [wt.to_tensor(rng.standard_normal(s).astype("float32")) for s in ((gates * 2, 3), (gates * 2, 2), (gates * 2,), (gates * 2,))]
    program = Program()
    x, length = program.feed([-1, -1, 3], wt.float32, "x"), program.feed([-1], wt.int64, "length")
    more = {"relu": False} if mode == "simple_rnn" else {}
    with capture(program):
        begin = wt.zeros([2, 2])
        program.fetches = list(getattr(ops, mode)(x, *[begin] * states, *weights, length, reverse=True, **more)[: states + 1])
    again = through_file(program)
    for steps in (3, 5):
        given = wt.to_tensor(rng.standard_normal((steps, 2, 3)).astype("float32"))
        same(program, again, given, wt.to_tensor(np.array([steps, 1], "int64")))


@pytest.mark.parametrize(("rank", "stride", "more", "last"), [(1, 3, 2, True), (2, 2, 1, False), (2, 1, 0, False), (3, 2, 0, False)])
def test_transposed_convolutions_of_open_sizes(rank, stride, more, last):
    function = getattr(F, f"conv{rank}d_transpose")
    weight = wt.to_tensor(np.random.default_rng(0).standard_normal((2, 4, *[3] * rank)).astype("float32"))
    program = Program()
    x = program.feed([-1, *[-1] * rank, 2] if last else [-1, 2, *[-1] * rank], wt.float32, "x")
    with capture(program):
        program.fetches = [function(x, weight, stride=stride, output_padding=more, data_format="NLC" if last else ["NCHW", "NCDHW"][rank - 2])]
    again = through_file(program)
    for size in (4, 5):
        shape = (1, *[size] * rank, 2) if last else (1, 2, *[size] * rank)
        same(program, again, wt.to_tensor(np.random.default_rng(size).standard_normal(shape).astype("float32")))


def test_a_range_begins_at_a_number_that_is_computed():
    program = Program()
    n = program.feed([1], wt.int64, "n")
    with capture(program):
        program.fetches = [wt.arange(n, 0, -1), wt.arange(n, n * 3, 2)]
    again = through_file(program)
    for value in (1, 4):
        same(program, again, wt.to_tensor([value]))


@pytest.mark.parametrize("layout", ["NCHW", "NHWC"])
def test_the_maximum_of_a_whole_picture_is_no_adaptive_pool2d(layout):
    # Of which Paddle's jit.load makes the value of one place.
    program = recorded(lambda x: wt.ops.adaptive_max_pool2d(x, output_size=(1, 1), data_format=layout)[0], wt.rand([2, 3, 4, 5]))
    types = [op.type for op in desc.parse(models.write_program(program)).blocks[0].ops]
    assert "max_pool2d_with_index" in types and "pool2d" not in types


def test_a_pool_whose_channels_are_last_is_one_of_channels_first():
    # Paddle's predictor gives other numbers for the former after some operators.
    pools = (
        lambda x: wt.ops.max_pool2d(x, (2, 2), (1, 1), (0, 0, 0, 0), False, "NHWC")[0],
        lambda x: wt.ops.avg_pool2d(x, (2, 2), (1, 1), (0, 0, 0, 0), False, True, None, "NHWC"),
        lambda x: wt.ops.adaptive_avg_pool2d(x, output_size=(2, 2), data_format="NHWC"),
    )
    for pool in pools:
        x = wt.rand([2, 4, 5, 3])
        program = recorded(pool, x)
        same(program, through_file(program), x)
        found = [op for op in desc.parse(models.write_program(program)).blocks[0].ops if op.type not in ("feed", "fetch", "scale", "assign")]
        assert [op.type for op in found] == ["transpose2", "pool2d", "transpose2"]
        assert {a.name: a.value for a in found[1].attrs}["data_format"] == b"NCHW"


def test_windows_are_folded_by_index_add():
    x = wt.rand([2, 8, 9])
    program = recorded(lambda x: F.fold(x, [4, 5], [2, 2], dilations=1, paddings=[1, 1], strides=2), x)
    same(program, through_file(program), x)
    types = [op.type for op in desc.parse(models.write_program(program)).blocks[0].ops]
    assert types.count("index_add") == 2 and "expand_v2" not in types and "index_put" not in types


def test_images_of_float16_are_resized_in_float32():
    x = wt.rand([2, 3, 4, 6]).astype("float16")
    program = recorded(lambda x: F.interpolate(x, [5, 7], mode="bilinear"), x)
    (found,) = compiled(through_file(program))(x)
    np.testing.assert_allclose(found.numpy(), F.interpolate(x, [5, 7], mode="bilinear").numpy(), atol=2e-3)  # two roundings of float16
    blocks = desc.parse(models.write_program(program)).blocks[0]
    kinds = {var.name: var.type.lod_tensor.tensor.dtype for var in blocks.vars if var.type.lod_tensor}
    half = kinds[blocks.ops[0].outputs[0].arguments[0]]
    products = [op for op in blocks.ops if op.type == "elementwise_mul"]
    assert products and all(kinds[slot.arguments[0]] != half for op in products for slot in op.inputs)


def test_exchanges_of_rows_and_repeats_have_open_sizes_in_files():
    x = wt.rand([2, 3, 3])
    program = recorded(lambda x: factorization.lu_unpack(*factorization.lu(x)), x, unknown=(0,))
    again = through_file(program)
    for one in (x, wt.rand([4, 3, 3])):
        same(program, again, one)
    x, counts = wt.rand([2, 3]), wt.to_tensor([2, 0, 3])
    program = recorded(lambda x, n: wt.repeat_interleave(x, n, axis=1), x, counts)
    again = through_file(program)
    for one in (counts, wt.to_tensor([0, 1, 0])):
        same(program, again, x, one)
        assert compiled(again)(x, one)[0].tolist() == wt.repeat_interleave(x, one, axis=1).tolist()


def test_a_trace_of_paddle_takes_its_offset_by_the_order_of_axes():
    x = wt.to_tensor(np.arange(12).reshape(2, 3, 2))
    for first, second in ((2, -3), (0, 2)):
        attrs = [("offset", AttrType.INT, 1), ("axis1", AttrType.INT, first), ("axis2", AttrType.INT, second)]
        program = read_operator("trace", ["Input"], [x], attrs, "Out")
        assert compiled(program)(x)[0].tolist() == np.trace(x.numpy(), 1, 0, 2).tolist()
