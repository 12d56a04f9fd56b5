"""Recording on and off: blocks, functions, generators, threads."""
import threading

import pytest

from wherry_autograd import enable_grad, is_grad_enabled, no_grad, set_grad_enabled


def test_no_grad_block(x):
    with no_grad():
        assert not is_grad_enabled()
        y = x * 2
    assert is_grad_enabled()
    assert y.stop_gradient and y.is_leaf


def test_enable_grad_inside_no_grad(x):
    with no_grad(), enable_grad():
        y = x * 2
    assert not y.stop_gradient


def test_one_object_may_be_entered_twice():
    mode = no_grad()
    with mode:
        with mode:
            pass
        assert not is_grad_enabled()
    assert is_grad_enabled()


@pytest.mark.parametrize("decorate", [no_grad(), no_grad])
def test_decorated_functions(decorate, x):
    @decorate
    def double(x):
        """Doc."""
        return x * 2

    assert double(x).stop_gradient
    assert double.__name__ == "double" and double.__doc__ == "Doc."
    assert is_grad_enabled()


def test_a_decorated_function_that_raises_restores_the_mode():
    @no_grad()
    def fail():
        raise KeyError

    with pytest.raises(KeyError):
        fail()
    assert is_grad_enabled()


def test_decorated_generators_switch_only_while_they_run():
    seen = []

    @no_grad()
    def count():
        try:
            seen.append(is_grad_enabled())
            got = yield 1
            seen.append((is_grad_enabled(), got))
            try:
                yield 2
            except KeyError:
                seen.append(("thrown", is_grad_enabled()))
            yield 3
        finally:
            seen.append(("closed", is_grad_enabled()))

    generator = count()
    assert next(generator) == 1 and is_grad_enabled()
    assert generator.send("sent") == 2 and is_grad_enabled()
    assert generator.throw(KeyError()) == 3 and is_grad_enabled()
    generator.close()
    assert is_grad_enabled()
    assert seen == [False, (False, "sent"), ("thrown", False), ("closed", False)]


def test_a_decorated_generator_returns_its_value():
    @no_grad()
    def give():
        yield 1
        return "end"

    generator = give()
    next(generator)
    with pytest.raises(StopIteration) as stop:
        next(generator)
    assert stop.value.value == "end"


def test_set_grad_enabled_acts_at_once_and_as_a_block():
    set_grad_enabled(False)
    assert not is_grad_enabled()
    set_grad_enabled(True)
    with set_grad_enabled(False):
        assert not is_grad_enabled()
    assert is_grad_enabled()
    with pytest.raises(TypeError, match="Got str, expected True or False"):
        set_grad_enabled("no")


def test_threads_begin_with_recording_on():
    seen = []
    with no_grad():
        thread = threading.Thread(target=lambda: seen.append(is_grad_enabled()))
        thread.start()
        thread.join()
    assert seen == [True]


def test_clones_switch_as_the_original(x):
    for mode, enabled in ((no_grad(), False), (enable_grad(), True)):
        with enable_grad(), no_grad(), mode.clone():
            assert is_grad_enabled() == enabled
    with enable_grad():
        switch = set_grad_enabled(False)
        with switch, switch.clone():
            assert not is_grad_enabled()
        assert is_grad_enabled()
