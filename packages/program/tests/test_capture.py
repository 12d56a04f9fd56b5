"""The recording itself: entered, left, left in the wrong order."""
import pytest

from wherry_program import Program
from wherry_program.program.capture import capture, captures_of_thread, current_capture
from wherry_tensor import _core, float32, ones


def test_the_capture_that_records_is_the_one_that_was_entered_last():
    first, second = capture(Program()), capture(Program())
    assert current_capture() is None
    with first:
        with second:
            assert captures_of_thread() == [first, second] and current_capture() is second
        assert current_capture() is first
    assert captures_of_thread() == [] and _core.inner_layers() == ()


def test_what_an_interrupt_left_on_goes_with_what_is_around_it():
    program = Program()
    x = program.feed([2], float32, "x")
    with capture(program) as recording:
        capture(Program()).__enter__()  # and nobody leaves it
    assert _core.inner_layers() == ()
    assert recording.variable_of(x) is x and not _core.is_symbolic(ones([2]) + 1)


def test_leaving_twice_is_refused():
    recording = capture(Program())
    with recording:
        pass
    with pytest.raises(ValueError, match="a layer was left that is not on"):
        recording.__exit__(None, None, None)
