import os
import subprocess
import sys

import numpy as np
import pytest

import wherry_tensor as w
from wherry_tensor.flags import FLAGS


@pytest.fixture
def restored():
    from wherry_tensor import flags

    before = w.get_flags(list(flags._values))
    yield
    w.set_flags(before)


def test_flags_are_set_and_read(restored):
    w.set_flags({"FLAGS_benchmark": 1, "FLAGS_eager_delete_tensor_gb": 2})
    assert w.get_flags(["FLAGS_benchmark", "FLAGS_eager_delete_tensor_gb"]) == {
        "FLAGS_benchmark": True, "FLAGS_eager_delete_tensor_gb": 2.0,
    }
    assert w.get_flags("FLAGS_benchmark") == {"FLAGS_benchmark": True}


def test_unknown_flags_suggest_what_was_meant():
    with pytest.raises(ValueError, match=r"Did you mean 'FLAGS_check_nan_inf'"):
        w.get_flags("FLAGS_chek_nan_inf")
    with pytest.raises(ValueError, match=r"no such flag"):
        w.set_flags({"foo": 1})


def test_wrong_types_are_refused():
    for wrong in (3, None, {"FLAGS_benchmark": 1}):
        with pytest.raises(TypeError, match=r"get_flags"):
            w.get_flags(wrong)
    for wrong in ("FLAGS_benchmark", None, ["FLAGS_benchmark"]):
        with pytest.raises(TypeError, match=r"set_flags"):
            w.set_flags(wrong)
    with pytest.raises(ValueError, match=r"expected a float"):
        w.set_flags({"FLAGS_eager_delete_tensor_gb": "much"})


def test_a_bad_value_changes_nothing(restored):
    with pytest.raises(ValueError):
        w.set_flags({"FLAGS_benchmark": True, "FLAGS_nonsense": 1})
    assert w.get_flags("FLAGS_benchmark") == {"FLAGS_benchmark": False}


def test_nan_and_infinity_are_found(restored):
    x = w.to_tensor([0.0, 1.0])
    w.set_flags({"FLAGS_check_nan_inf": True})
    with pytest.raises(RuntimeError, match=r"log: the result holds NaN or infinity. Got 1 such value"):
        w.log(x)
    w.exp(x)
    w.set_flags({"FLAGS_check_nan_inf": False})
    w.log(x)


def test_number_of_threads_is_a_flag(restored):
    w.set_flags({"FLAGS_paddle_num_threads": 1})
    assert w.get_num_threads() == 1


def test_flags_come_from_the_environment():
    program = "import wherry_tensor as w; print(w.get_flags(['FLAGS_benchmark', 'FLAGS_check_nan_inf']))"
    environment = {**os.environ, "FLAGS_benchmark": "true", "FLAGS_check_nan_inf": "0", "FLAGS_of_somebody_else": "1"}
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, env=environment)
    assert done.stdout == "{'FLAGS_benchmark': True, 'FLAGS_check_nan_inf': False}\n", done.stderr


def test_the_error_names_op_place_line_and_counts(restored):
    w.set_flags({"FLAGS_check_nan_inf": True})
    with pytest.raises(RuntimeError) as caught:
        w.log(w.to_tensor([0.0, 1.0, -1.0]))
    text = str(caught.value)
    assert "(1 NaN, 1 infinite, 1 numbers) in output 0 of shape [3] and dtype float32 on Place(cpu)" in text
    assert "test_flags.py:" in text
    assert "[op=log] [tensor=" in text
    assert text.startswith("(PreconditionNotMet) log:")


def test_a_level_lets_the_check_warn(restored):
    w.set_flags({"FLAGS_check_nan_inf": True, "FLAGS_check_nan_inf_level": 1})
    with pytest.warns(RuntimeWarning, match="log: the result holds NaN or infinity"):
        w.log(w.to_tensor([0.0]))


@pytest.mark.parametrize(
    ("variable", "value", "skipped"),
    [
        ("PADDLE_INF_NAN_SKIP_OP", "exp,log", True),
        ("PADDLE_INF_NAN_SKIP_OP", "lo", False),
        ("PADDLE_INF_NAN_SKIP_ROLE", "forward", True),
        ("PADDLE_INF_NAN_SKIP_ROLE", "backward,optimize", False),
        ("PADDLE_INF_NAN_SKIP_VAR", "log:generated", True),
        ("PADDLE_INF_NAN_SKIP_VAR", "exp:generated", False),
    ],
)
def test_variables_leave_results_out_of_the_check(restored, monkeypatch, variable, value, skipped):
    monkeypatch.setenv(variable, value)
    w.set_flags({"FLAGS_check_nan_inf": True})
    if skipped:
        assert w.log(w.to_tensor([0.0])).numpy()[0] == -np.inf
    else:
        with pytest.raises(RuntimeError, match="log: the result"):
            w.log(w.to_tensor([0.0]))


def test_fresh_memory_holds_no_zeros_when_that_is_asked_for(restored):
    w.set_flags({"FLAGS_init_allocated_mem": True})
    assert (w.empty([7], dtype="uint8").numpy() == 0x7F).all()
    np.testing.assert_array_equal(w.zeros([7]).numpy(), np.zeros(7))


def test_every_flag_says_what_it_does():
    for name, (default, effect) in FLAGS.items():
        assert w.get_flags(name)[name] is not None
        assert isinstance(default, (bool, int, float, str))
        assert effect


def test_the_systems_allocator_keeps_nothing(restored):
    w.set_flags({"FLAGS_use_system_allocator": True})
    x = w.zeros([1 << 18])
    del x
    stats = w._core.memory_stats(0)
    assert stats["reserved"] == stats["allocated"]
