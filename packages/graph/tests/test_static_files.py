"""Programs and their values as files."""
from io import BytesIO

import numpy as np
import pytest

import wherry_nn as nn
from wherry_graph import static
from wherry_nn import functional as F
from wherry_nn import unique_name
from wherry_paddle_files import desc
from wherry_tensor import to_tensor
from wherry_train import load, optimizer, save


@pytest.fixture(autouse=True)
def static_mode():
    static.enable_static()
    with unique_name.guard(), static.scope_guard(static.Scope()), static.program_guard(static.Program(), static.Program()):
        yield
    static.disable_static()


def values(*shape, seed=0):
    return np.random.default_rng(seed).standard_normal(shape).astype("float32")


def trained():
    """A network with its loss, after a step."""
    x, label = static.data("x", [None, 4]), static.data("label", [None, 1], "int64")
    hidden = static.nn.batch_norm(static.nn.fc(x, 8, activation="relu"))
    out = static.nn.fc(F.dropout(hidden, 0.5), 3, activation="softmax")
    loss = F.cross_entropy(out, label, use_softmax=False)
    optimizer.Adam(0.01).minimize(loss)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    exe.run(feed={"x": values(8, 4), "label": np.zeros((8, 1), "int64")})
    return exe, x, out, loss


def test_a_saved_model_predicts_as_the_evaluated_program(tmp_path):
    exe, x, out, _ = trained()
    test = static.default_main_program().clone(for_test=True)
    data = {"x": values(5, 4, seed=2), "label": np.zeros((5, 1), "int64")}
    (expected,) = exe.run(test, feed=data, fetch_list=[out])
    static.save_inference_model(str(tmp_path / "deep" / "model"), [x], [out], exe)
    assert sorted(p.name for p in (tmp_path / "deep").iterdir()) == ["model.pdiparams", "model.pdmodel"]
    with static.scope_guard(static.Scope()):
        program, names, targets = static.load_inference_model(str(tmp_path / "deep" / "model"), exe)
        assert names == ["x"] and not any(op.type == "dropout" for op in program.global_block().ops)
        (got,) = exe.run(program, feed={"x": data["x"]}, fetch_list=targets)
        assert static.global_scope().find_var("fc_0.w_0") is not None
    np.testing.assert_allclose(got, expected, rtol=1e-5, atol=1e-6)
    model, params = (static.load_from_file(str(tmp_path / "deep" / f"model.{end}")) for end in ("pdmodel", "pdiparams"))
    program, _, targets = static.load_inference_model(None, exe, model_filename=model, params_filename=params)
    np.testing.assert_allclose(exe.run(program, feed={"x": data["x"]}, fetch_list=targets)[0], expected, rtol=1e-5, atol=1e-6)


def test_programs_and_values_as_bytes(tmp_path):
    exe, x, out, _ = trained()
    program, params = static.serialize_program([x], [out]), static.serialize_persistables([x], [out], exe)
    static.save_to_file(str(tmp_path / "p"), params)
    data = {"x": values(3, 4)}
    (expected,) = exe.run(static.normalize_program(static.default_main_program(), [x], [out]), feed=data, fetch_list=[out.name])
    with static.scope_guard(static.Scope()):
        again = static.deserialize_program(program)
        static.deserialize_persistables(again, static.load_from_file(str(tmp_path / "p")), exe)
        np.testing.assert_allclose(exe.run(again, feed=data, fetch_list=again.fetches)[0], expected, rtol=1e-5, atol=1e-6)
    assert isinstance(static.Program.parse_from_string(program), static.Program)
    with pytest.raises(TypeError, match="bytes"):
        static.deserialize_program("text")
    with pytest.raises(ValueError):
        static.deserialize_program(b"no program")


@pytest.mark.filterwarnings("ignore:static.save")
def test_training_goes_on_where_it_was_saved(tmp_path):
    exe, _, _, loss = trained()
    main = static.default_main_program()
    static.save(main, str(tmp_path / "ckpt"))
    state = {name: value.numpy().copy() for name, value in main.state_dict().items()}
    exe.run(feed={"x": values(8, 4), "label": np.zeros((8, 1), "int64")}, fetch_list=[loss])
    assert not np.array_equal(main.state_dict()["fc_0.w_0"].numpy(), state["fc_0.w_0"])
    static.load(main, str(tmp_path / "ckpt"), exe)
    for name, value in main.state_dict().items():
        np.testing.assert_array_equal(value.numpy(), state[name])
    found = static.load_program_state(str(tmp_path / "ckpt"))
    assert found.keys() == state.keys()
    found["fc_0.w_0"] = found["fc_0.w_0"] * 0
    static.set_program_state(main, found)
    assert not main.state_dict()["fc_0.w_0"].numpy().any()
    del found["fc_0.w_0"]
    with pytest.warns(UserWarning, match="no value for fc_0.w_0"):
        static.set_program_state(main, found)


def test_values_that_are_missing_or_do_not_fit_are_named(tmp_path):
    static.nn.fc(static.data("x", [None, 4]), 3, weight_attr="w", bias_attr=False)
    static.Executor().run(static.default_startup_program())
    static.save(static.default_main_program(), str(tmp_path / "a"))
    other = static.Program()
    with static.program_guard(other, static.Program()):
        x = static.data("x", [None, 4])
        static.nn.fc(x, 3, weight_attr="v", bias_attr=False)
    with pytest.raises(ValueError, match=r"Can not find \[v\]"):
        static.load(other, str(tmp_path / "a"))
    with pytest.raises(ValueError, match="nothing of this name"):
        static.load(other, str(tmp_path / "b"))
    with pytest.raises(RuntimeError, match="startup"):
        static.save(other, str(tmp_path / "c"))
    wide = static.Program()
    with static.program_guard(wide, static.Program()):
        static.nn.fc(static.data("x", [None, 4]), 5, weight_attr=nn.ParamAttr(name="w"), bias_attr=False)
    with pytest.raises(ValueError, match=r"expected \[4, 5\]"), static.scope_guard(static.Scope()):
        static.load(wide, str(tmp_path / "a"))


def test_save_writes_a_program_alone_and_load_gives_it_back(tmp_path):
    x = static.data("x", [None, 3])
    y = static.nn.fc(x, 2)
    program = static.default_main_program()
    exe = static.Executor()
    exe.run(static.default_startup_program())
    feed = {"x": np.arange(6, dtype="float32").reshape(2, 3)}
    (expected,) = exe.run(program, feed, [y])
    path = tmp_path / "folder" / "program.pdmodel"
    save(program, str(path))
    assert path.read_bytes()[:1] == b"\n"
    buffer = BytesIO()
    save(program, buffer)
    assert buffer.getvalue() == path.read_bytes()
    buffer.seek(0)
    for loaded in load(str(path)), load(buffer), load(str(path), return_numpy=True):
        assert isinstance(loaded, static.Program)
        np.testing.assert_array_equal(exe.run(loaded, feed, [y.name])[0], expected)  # its values are those of the scope
    with pytest.raises(NotImplementedError, match="use_binary_format"):
        save(program, str(path), use_binary_format=True)
    with pytest.raises(TypeError, match="Program"):
        save({"program": program}, str(path))
    path.write_bytes(buffer.getvalue()[:-10])
    with pytest.raises(ValueError, match=r"can not parse the file.*program.pdmodel"):
        load(str(path))


def test_a_saved_program_has_its_operators_whether_it_was_fetched_from_or_not(tmp_path):
    x = static.data("x", [None, 4])
    out = F.relu(static.nn.fc(x, 3))
    main, exe = static.default_main_program(), static.Executor()
    exe.run(static.default_startup_program())
    static.save(main, str(tmp_path / "net"))
    described = desc.parse((tmp_path / "net.pdmodel").read_bytes())
    types = [op.type for op in described.blocks[0].ops]
    assert types[-1] == "relu" and not {"feed", "fetch"} & set(types)
    again = static.deserialize_program(static.load_from_file(str(tmp_path / "net.pdmodel")))
    data = {"x": values(5, 4)}
    (expected,) = exe.run(main, feed=data, fetch_list=[out])
    static.load(again, str(tmp_path / "net"), exe)
    np.testing.assert_array_equal(exe.run(again, feed=data, fetch_list=[out.name])[0], expected)


def test_a_loop_that_is_not_wanted_is_not_saved(tmp_path):
    x = static.data("x", [None, 4])

    def looped(y):
        return static.nn.while_loop(lambda i, y: i < 3, lambda i, y: [i + 1, y * x], [to_tensor(0), y])[1]

    first, second = looped(static.nn.fc(x, 4)), looped(x + 1.0)
    loss = (first + second).mean()
    test = static.default_main_program().clone(for_test=True)
    optimizer.SGD(0.1).minimize(loss)
    exe = static.Executor()
    exe.run(static.default_startup_program())
    data = {"x": values(3, 4)}
    for program in (test, static.default_main_program(), static.default_main_program().clone(for_test=True)):
        (expected,) = exe.run(test, feed=data, fetch_list=[second])
        ends = [program.global_block().var(one.name) for one in (x, second)]
        static.save_inference_model(str(tmp_path / "net"), ends[:1], ends[1:], exe, program=program)
        saved, _, targets = static.load_inference_model(str(tmp_path / "net"), exe)
        assert saved.num_blocks == 3 and not saved.all_parameters()
        np.testing.assert_allclose(exe.run(saved, feed=data, fetch_list=targets)[0], expected, rtol=1e-5)
