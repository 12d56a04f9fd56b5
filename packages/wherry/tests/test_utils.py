"""What installation guides and old programs call first."""
import importlib

import pytest

import wherry
import wherry_tensor
from wherry import utils
from wherry._absent import NOT_YET


def test_run_check_says_that_everything_works(capsys):
    utils.run_check()
    assert "Wherry works well on 1 CPU." in capsys.readouterr().out


def test_run_check_says_what_the_package_of_the_device_has_to_tell(capsys, monkeypatch):
    monkeypatch.setitem(wherry_tensor.device.notes, "cpu", lambda: ["a library: found"])
    utils.run_check()
    assert capsys.readouterr().out.splitlines()[-2] == "a library: found"


def test_run_check_notices_wrong_kernels(monkeypatch):
    monkeypatch.setattr(wherry.nn.functional, "mse_loss", lambda x, y: (x - 2 * y).square().mean())
    with pytest.raises(RuntimeError, match="expected 3"):
        utils.run_check()


@pytest.mark.parametrize("versions", [("2.0",), ("2.6.2",), ("2.6.2.0",), ("0.1", "2.6.2"), ("2", "99")])
def test_versions_that_fit(versions):
    utils.require_version(*versions)


@pytest.mark.parametrize(("versions", "error", "match"), [
    (("2.6.2.1",), RuntimeError, "at least 2.6.2.1"),
    (("0.1", "2.6.1"), RuntimeError, "0.1 to 2.6.1"),
    ((2,), TypeError, "min_version"),
    (("2", 3), TypeError, "max_version"),
    (("2.6.2rc1",), ValueError, "not a version"),
    (("1.2.3.4.5",), ValueError, "not a version"),
])
def test_versions_that_do_not_fit(versions, error, match):
    with pytest.raises(error, match=match):
        utils.require_version(*versions)


def test_try_import():
    assert utils.try_import("math") is __import__("math")
    with pytest.raises(ImportError, match="pip install no_such_module"):
        utils.try_import("no_such_module.part")
    with pytest.raises(ImportError, match="^get it from the shelf$"):
        utils.try_import("no_such_module", "get it from the shelf")


def test_deprecated_functions_warn_and_keep_their_name():
    @utils.deprecated(update_to="wherry.add", since="2.0", reason="two names")
    def plus(x, y):
        """The sum."""
        return x + y

    with pytest.warns(DeprecationWarning, match="plus is deprecated since 2.0. Use wherry.add instead. Reason: two names"):
        assert plus(1, y=2) == 3
    assert (plus.__name__, plus.__doc__) == ("plus", "The sum.")


def test_deprecated_functions_of_level_2_raise():
    with pytest.raises(RuntimeError, match="len is deprecated"):
        utils.deprecated(level=2)(len)([])
    with pytest.raises(ValueError, match="level=3"):
        utils.deprecated(level=3)


def test_programs_run_op_by_op_unless_static_mode_is_on():
    wherry.disable_static()
    wherry.disable_static(wherry.CPUPlace())
    wherry.disable_signal_handler()
    assert wherry.in_dynamic_mode()
    wherry.enable_static()
    assert not wherry.in_dynamic_mode()
    wherry.disable_static()
    assert wherry.in_dynamic_mode()
    with pytest.raises((ValueError, RuntimeError), match="gpu"):
        wherry.disable_static("gpu:4095")


def test_check_shape_looks_at_shapes_of_static_programs_alone():
    wherry.check_shape([1.5], "full")
    wherry.enable_static()
    try:
        with wherry.static.program_guard(wherry.static.Program()):
            size = wherry.static.data("size", [], "int32")
            wherry.check_shape([2, -1, size], "full")
            wherry.check_shape(size, "full")
            for shape, match in ((3, "'shape' is of another type. Got 3"), ([1.5], "an element"), ([size.astype("float32")], "float32")):
                with pytest.raises(TypeError, match=match):
                    wherry.check_shape(shape, "full")
    finally:
        wherry.disable_static()


def test_tensor_has_what_paddle_has_on_it_though_it_takes_none():
    assert wherry.ones([2]).block is wherry.static.default_main_program().global_block()
    x = wherry.Tensor.create_tensor("float64", name="filled", persistable=True)
    assert (x.shape, x.dtype, x.name, x.persistable) == ([], wherry.float64, "filled", True)
    assert wherry.Tensor.create_parameter([2, 3], "float32").shape == [2, 3]


def test_what_is_not_there_yet_says_so():
    assert not hasattr(wherry, "async_save")
    with pytest.raises(AttributeError, match="wherry.async_save: Paddle has it"):
        wherry.async_save  # noqa: B018
    with pytest.raises(AttributeError, match="has no attribute 'no_such_name'"):
        wherry.no_such_name  # noqa: B018
    for path, names in NOT_YET.items():
        module = importlib.import_module(f"wherry.{path}".rstrip("."))
        assert set(names).isdisjoint(dir(module)), f"these have arrived in wherry.{path}: take them off the list"
