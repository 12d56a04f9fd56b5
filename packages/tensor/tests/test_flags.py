import os
import subprocess
import sys

import pytest

import wherry_tensor as w


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
