"""Converted functions: on values they do what was written; on symbolic tensors their programs do."""
import functools
import sys
import traceback

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import wherry_nn as nn
import wherry_tensor as wt
from wherry_graph.jit.convert import converted_function, text_of, why_not
from wherry_graph.jit.convert.trace import Trace
from wherry_graph.testing.python_programs import function_of, functions
from wherry_program import Program
from wherry_program.program.capture import capture
from wherry_program.program.structure import flatten
from wherry_program.run.executor import compiled
from wherry_tensor import Tensor, int64
from wherry_tensor.sizes import Size

SETTINGS = settings(max_examples=60, deadline=None, suppress_health_check=list(HealthCheck), derandomize=True)


def tensor(*values, dtype="float32"):
    return wt.to_tensor(list(values), dtype=dtype)


def as_numbers(value):
    return [x.numpy() if isinstance(x, Tensor) else x for x in flatten(value)]


def captured(function, *args, shapes=None):
    """What the captured `function` gives for tensors, as leaves."""
    trace = Trace()
    program = trace.program
    feeds = [program.feed(shapes[i] if shapes else x.shape, x.dtype, f"x{i}") for i, x in enumerate(args)]
    with trace as recording:
        leaves = [x.tensor() if isinstance(x, Size) else x for x in flatten(converted_function(function)(*feeds))]
        fetches = [recording.variable_of(x) for x in leaves if isinstance(x, Tensor)]
    values = iter(compiled(program, feeds, fetches)(*args))
    return [next(values).numpy() if isinstance(x, Tensor) else x for x in leaves]


def agrees(function, *argument_lists, unknown=False):
    """Is the converted function the same as the original, on values and as a program?"""
    for args in argument_lists:
        args = [x if isinstance(x, Tensor) else tensor(*x) for x in args]
        wanted = as_numbers(function(*args))
        for got in (
            as_numbers(converted_function(function)(*args)),
            captured(function, *args),
            *([captured(function, *args, shapes=[[-1] * x.ndim for x in args])] if unknown else []),
        ):
            assert len(got) == len(wanted)
            for mine, theirs in zip(got, wanted, strict=True):
                np.testing.assert_allclose(mine, theirs, rtol=1e-6)


# Everything at once.

def outcome(function, args):
    try:
        return function(*args)
    except NameError:  # UnboundLocalError before, NameError where the variable became a cell
        return NameError


@SETTINGS
@given(functions(), st.tuples(*[st.integers(-3, 6)] * 4))
def test_random_programs_do_on_numbers_what_they_did_before(text, args):
    function = function_of(text)
    converted = converted_function(function)
    assert converted is not function
    assert outcome(function, args) == outcome(converted, args), text_of(function)


@SETTINGS
@given(functions(lists=False), st.lists(st.tuples(*[st.integers(-3, 6)] * 4), min_size=3, max_size=3), st.integers(1, 15))
def test_random_programs_do_on_tensors_what_they_do_on_numbers(text, argument_lists, which):
    function = function_of(text)
    fed = [bool(which >> i & 1) for i in range(4)]
    first = argument_lists[0]
    program = Program()
    args = [program.feed([], int64, f"x{i}") if f else first[i] for i, f in enumerate(fed)]
    with capture(program):
        out = converted_function(function)(*args)
    run = compiled(program, [x for x, f in zip(args, fed, strict=True) if f], [out] if isinstance(out, Tensor) else [])
    for numbers in argument_lists:
        numbers = [n if f else m for n, m, f in zip(numbers, first, fed, strict=True)]
        values = run(*(wt.to_tensor(n) for n, f in zip(numbers, fed, strict=True) if f))
        assert (int(values[0]) if values else out) == function(*numbers), text_of(function)


# One construct after the other.

def test_an_if_without_else_changes_nothing_where_it_is_not_taken():
    def f(x):
        y = x + 1
        if x.sum() > 0:
            y = y * 2
        return y

    agrees(f, [[1.0, 2.0]], [[-1.0, -2.0]])


def test_elif_and_early_return():
    def f(x):
        if x.mean() > 5:
            return x - 1
        elif x.mean() > 2:
            return x * 2
        x = x + 10
        return x

    agrees(f, [[6.0]], [[3.0]], [[0.0]])


def test_while_with_a_number_that_the_program_counts():
    def f(x):
        n = 0
        while x.sum() < 50:
            x = x * 2
            n += 1
        return x, n

    agrees(f, [[1.0, 2.0]], [[100.0, 2.0]], unknown=True)


def test_break_and_continue_in_loops_over_tensors_and_numbers():
    def f(x):
        total = 0.0
        for i, row in enumerate(x):
            if i == 1:
                continue
            if row > 6:
                break
            for k in range(3):
                if row < k:
                    break
                total = total + row * k
        return total

    agrees(f, [[1.0, 2.0, 3.0, 9.0, 1.0]], [[7.0, 1.0]], [[0.5]], unknown=True)


def test_a_for_over_a_range_of_a_tensor_runs_as_often_as_the_program_says():
    def f(x):
        out = wt.zeros([2])
        for i in range(wt.shape(x)[0]):
            out = out + x[i]
        for i in range(1, x.shape[0], 2):
            out = out - i
        return out

    agrees(f, [wt.ones([3, 2])], [wt.ones([1, 2])], unknown=True)


def test_a_return_inside_of_a_loop():
    def f(x):
        for i in range(len(x)):
            if x[i] == 2.0:
                return i, x[i] * 10
        return -1, x[0]

    agrees(f, [[1.0, 2.0, 3.0]], [[5.0, 6.0]], [[2.0]], unknown=True)


def test_else_of_a_loop_runs_unless_it_was_broken():
    def f(x):
        for v in x:
            if v > 3:
                found = v
                break
        else:
            found = x.sum() - 100
        return found

    agrees(f, [[1.0, 4.0]], [[1.0, 2.0]], unknown=True)


def test_zip_and_reversed_and_enumerate_with_a_start():
    def f(x, y):
        total = 0.0
        for i, (a, b) in enumerate(zip(x, y), 2):
            total = total * 2 + a * b + i
        for a in reversed(x):
            total = total * 2 + a
        return total

    agrees(f, [[1.0, 2.0, 3.0], [4.0, 5.0, 6.0]], unknown=True)


def test_zip_of_an_unknown_number_of_rows_ends_with_the_shortest():
    def f(x, y):
        total = 0.0
        for a, b in zip(x, y):
            total = total + a * b
        return total

    agrees(f, [[1.0, 2.0, 3.0], [4.0, 5.0]], unknown=True)


def test_and_or_not_and_chains_of_comparisons():
    def f(x):
        a = x.sum()
        if 0 < a <= 3 and not (a > 1 and a < 3) or a < -5:
            return x * 10
        return x

    agrees(f, *[[[v]] for v in (-6.0, -1.0, 0.0, 1.0, 2.0, 3.0, 4.0)])


def test_the_middle_of_a_chain_is_computed_once():
    calls = []

    def middle(x):
        calls.append(x)
        return x

    def f(x):
        return 0 < middle(x) < 10

    assert converted_function(f)(5) is True
    assert len(calls) == 1


def test_and_or_keep_the_values_of_python():
    def f(a, b):
        return (a and b), (a or b), not a

    for a in (0, 1, "", "x", None, []):
        for b in (0, 2, "y"):
            assert converted_function(f)(a, b) == f(a, b)


def test_a_conditional_expression():
    def f(x):
        return (x * 2 if x.mean() > 0 else -x) + (1 if x.sum() > 3 else 2.5)

    agrees(f, [[1.0]], [[-1.0]], [[4.0]])


def test_casts_of_tensors_stay_tensors():
    def f(x):
        return float(x.sum() > 1), int(x.sum()), bool(x.sum())

    program = Program()
    with capture(program):
        out = converted_function(f)(program.feed([2], wt.float32, "x"))
    assert [x.dtype.name for x in out] == ["float32", "int32", "bool"]
    assert converted_function(lambda a: (float(a), int(a), int("12", 8)))("3") == (3.0, 3, 10)


def test_a_list_that_grows_in_a_loop_of_the_program():
    def f(x):
        rows = []
        for i in range(x.shape[0]):
            if x[i] > 0:
                rows.append(x[i] * i)
        rows.append(x[0])
        n = len(rows)
        rows[0] = rows[0] + 100
        last = rows.pop()
        return n, rows[0], rows[-1], last, len(rows)

    agrees(f, [[1.0, -2.0, 3.0]], [[1.0, 1.0]], unknown=True)


def test_a_list_that_grew_is_stacked_and_joined():
    def f(x):
        rows = []
        for i in range(wt.shape(x)[0]):
            if x[i].sum() > 0:
                rows.append(x[i] * i)
        return wt.stack(rows), wt.stack(rows, axis=1), wt.concat(rows), wt.stack(rows, -1)

    x = wt.to_tensor([[1.0, 2.0], [-5.0, 1.0], [3.0, 4.0]])
    agrees(f, [x], [wt.to_tensor([[1.0, 2.0]])])
    for got, wanted in zip(captured(f, x, shapes=[[-1, 2]]), f(x), strict=True):
        np.testing.assert_array_equal(got, wanted.numpy())


def test_lists_of_the_same_length_stay_lists():
    def f(x):
        out = [x]
        if x.sum() > 0:
            out.append(x + 1)
        else:
            out.append(x - 1)
        out[0] = out[1] * 2
        return out

    agrees(f, [[1.0]], [[-1.0]])


def test_a_list_changed_in_a_branch_keeps_its_other_names():
    def f(x):
        out = [x]
        also = out
        if x.sum() > 0:
            out.append(x + 1)
        else:
            out.append(x - 1)
        return also[1]

    agrees(f, [[1.0]], [[-1.0]])


def test_dicts_in_branches_and_loops():
    def f(x):
        d = {"a": x, "n": 0}
        if x.sum() > 0:
            d["b"] = x * 2
        else:
            d["b"] = x * 3
        while d["n"] < abs(x.sum()).astype("int64"):
            d["n"] += 1
            d["a"] = d["a"] + d["b"]
        total = 0.0
        for key, value in d.items():
            if key != "n":
                total = total + value.sum()
        return total, d["n"]

    agrees(f, [[1.0, 2.0]], [[-1.0, -2.0]])


def test_names_that_only_a_branch_uses_may_be_anything():
    def f(x):
        if x.sum() > 0:
            note = "positive"
            scale = {"positive": 2}[note]
            y = x * scale
        else:
            note = ["negative"]
            y = x * len(note)
        return y

    agrees(f, [[1.0]], [[-1.0]])


def test_a_variable_of_one_branch_may_be_left_alone():
    def f(x):
        if x.sum() > 0:
            extra = x * 3
            x = extra + 1
        return x

    agrees(f, [[1.0]], [[-1.0]])


def test_using_a_variable_of_one_branch_says_which_and_where():
    def f(x):
        if x.sum() > 0:
            y = x
        return y

    with pytest.raises(NameError) as caught:
        captured(f, tensor(1.0))
    assert any("'y' has a value only if the condition at" in note and "is true" in note for note in caught.value.__notes__)


def test_attributes_of_objects_are_variables_too():
    class Box:
        pass

    def f(x):
        box = Box()
        box.value = x
        if x.sum() > 0:
            box.value = box.value * 2
        while box.value.sum() < 10:
            box.value = box.value + 1
        return box.value

    agrees(f, [[1.0]], [[-1.0]])


def test_closures_and_nonlocal_variables_are_shared_with_the_original():
    factor, count = 2, 0

    def f(x):
        nonlocal count
        count += 1

        def inner(v):
            if v.sum() > 0:
                return v * factor
            return v

        return inner(x)

    converted = converted_function(f)
    assert converted(tensor(1.0)).item() == 2.0
    factor = 5
    assert converted(tensor(1.0)).item() == 5.0
    assert count == 2


def test_a_nonlocal_variable_of_an_inner_function_is_seen_by_the_branch():
    def f(x):
        total = x * 0

        def add(v):
            nonlocal total
            total = total + v

        if x.sum() > 0:
            add(x)
        for _ in range(2):
            add(x)
        return total

    agrees(f, [[1.0]], [[-1.0]])


SCALE = 3


def test_globals_are_those_of_the_module():
    def f(x):
        global SCALE
        if x.sum() > 0:
            SCALE = x * 2
        else:
            SCALE = x * 0
        return SCALE

    before = SCALE
    try:
        agrees(f, [[1.0]], [[-1.0]])
    finally:
        globals()["SCALE"] = before


def test_defaults_keywords_and_decorators():
    def twice(function):
        @functools.wraps(function)
        def wrapped(*args, **kwargs):
            result = function(*args, **kwargs)
            if result.sum() > 10:
                return result
            return function(result, **kwargs)

        return wrapped

    @twice
    def f(x, *, by=3, plus: float = 1.0):
        if x.sum() > 0:
            return x * by + plus
        return x

    agrees(f, [[1.0]], [[5.0]], [[-1.0]])
    assert converted_function(f)(tensor(1.0), by=2).item() == f(tensor(1.0), by=2).item()


def test_lambdas_are_told_apart_by_where_they_stand():
    fs = [lambda x: x * 2 if x.sum() > 0 else x, lambda x: x * 3 if x.sum() > 0 else -x]
    for f in fs:
        agrees(f, [[1.0]], [[-1.0]])


def test_functions_that_are_called_are_converted_too():
    agrees(outer, [[1.0]], [[-1.0]], [[7.0]])


def helper(x):
    if x.sum() > 5:
        return x - 5
    return x


def outer(x):
    y = helper(x)
    return functools.partial(helper)(y + 6) + sum(map(helper, [x, x]))


class Scaled(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layer = nn.Linear(2, 2)

    def forward(self, x):
        return self.shifted(self.layer(x))

    def shifted(self, x):
        return x


class Gated(Scaled):
    __private = 2.0

    def forward(self, x):
        y = super().forward(x)
        if y.sum() > 0:
            y = super().shifted(y) * self.__private
        return y


def test_methods_super_and_private_names():
    net = Gated()
    for x in (wt.ones([1, 2]), -wt.ones([1, 2])):
        got = captured(lambda v: net(v), x)
        np.testing.assert_allclose(got[0], net(x).numpy(), rtol=1e-6)


def test_layers_inside_of_containers_of_the_library_are_converted():
    net = nn.Sequential(Gated(), nn.Sequential(Gated(), nn.ReLU()))
    layers = nn.LayerList([Gated(), Gated()])

    def f(x):
        x = net(x)
        for layer in layers:
            x = layer(x)
        return x

    for x in (wt.ones([1, 2]), -wt.ones([1, 2])):
        np.testing.assert_allclose(captured(f, x)[0], f(x).numpy(), rtol=1e-6)


def test_generators_unroll():
    def halves(x, n):
        for _ in range(n):
            x = x / 2
            yield x

    def f(x):
        total = x * 0
        for v in halves(x, 3):
            if v.sum() > 1:
                total = total + v
        return total + sum(v for v in halves(x, 2))

    agrees(f, [[4.0]], [[1.0]])


def test_comprehensions_unroll():
    def f(x):
        parts = [row * i for i, row in enumerate(x) if i != 1]
        return parts[0] + parts[1], {i: row * 2 for i, row in enumerate(x)}[2]

    agrees(f, [[1.0, 2.0, 3.0]])


def test_try_with_and_assert():
    def f(x):
        try:
            if x.sum() > 0:
                return x * 2
            y = x * 3
        finally:
            x = x + 1
        with np.errstate(divide="ignore"):
            for _ in range(2):
                y = y + x
                if y.sum() > 100:
                    break
        assert y.sum() < 1000, "too large"
        return y

    agrees(f, [[1.0]], [[-1.0]])


def test_an_assert_of_the_program_names_the_line():
    def f(x):
        assert x.sum() > 0, f"got {1 + 1}"
        return x

    with pytest.raises(AssertionError, match=r"got 2 .*test_conversion.py:\d+"):
        captured(f, tensor(-1.0))
    with pytest.raises(AssertionError, match="^got 2$"):
        converted_function(f)(tensor(-1.0))


def test_print_shows_values_when_the_program_runs(capsys):
    def f(x):
        print("the sum:", x.sum())
        print("plain", 3)
        return x

    captured(f, tensor(1.0, 2.0))
    shown = capsys.readouterr().out
    assert "plain 3" in shown
    assert "the sum:" in shown and "3." in shown


def test_shape_arithmetic_decides_at_run_time():
    def f(x):
        if x.shape[0] > 2 and x.shape[0] % 2 == 0:
            return x.reshape([x.shape[0] // 2, 2]).sum()
        return x.sum() * max(x.shape[0], 2)

    agrees(f, [[1.0, 2.0, 3.0, 4.0]], [[1.0, 2.0, 3.0]], [[1.0]], unknown=True)


def test_any_all_min_and_max():
    def f(x):
        rows = [x[0], x[1]]
        if any(r > 3 for r in rows) and not all(r > 3 for r in rows):
            return max(x[0], x[1]), min(x[0], 2.0)
        return x[0], x[1]

    agrees(f, [[1.0, 4.0]], [[4.0, 5.0]], [[1.0, 2.0]])


def test_match_statements_stay():
    text = """
def f(a):
    out = []
    for x in [1, (2, 3), {'k': 4}]:
        match x:
            case 1:
                continue
            case (p, q):
                out.append(p + q + a)
            case {'k': v}:
                if v > a:
                    return out, v
    return out
"""
    function = function_of(text)
    for a in (1, 10):
        assert converted_function(function)(a) == function(a)


# What is refused.

def test_recursion_that_a_tensor_would_end_is_refused():
    def f(x):
        if x.sum() > 10:
            return x
        return f(x * 2)

    assert converted_function(f)(tensor(2.0)).item() == 16.0
    with pytest.raises(RecursionError, match="calls itself, and a tensor decides when it ends"):
        captured(f, tensor(2.0))


def test_recursion_that_a_number_ends_unrolls():
    def f(x, n=3):
        if n == 0:
            return x
        if x.sum() > 0:
            return f(x * 2, n - 1)
        return f(x - 1, n - 1)

    agrees(f, [[1.0]], [[-1.0]])


@pytest.mark.parametrize(
    ("yes", "no", "error", "message"),
    [
        ("x", "None", TypeError, "y may be None here: a tensor decides"),
        ("x", "'text'", TypeError, "y is not the same kind of value"),
        ("x", "x.astype('int32')", TypeError, "y has another dtype in each branch"),
        ("x", "x.sum()", ValueError, "y has another rank in each branch"),
        ("(x, x)", "(x,)", TypeError, "y is not the same kind of value .*a tuple of 2.*a tuple of 1"),
    ],
)
def test_branches_that_do_not_fit_name_the_variable_and_the_line(yes, no, error, message):
    function = function_of(f"def f(x):\n    if x.sum() > 0:\n        y = {yes}\n    else:\n        y = {no}\n    return y\n")
    with pytest.raises(error, match=message) as caught:
        captured(function, tensor(1.0, 2.0))
    assert "<program" in str(caught.value)


def test_a_condition_of_several_elements_is_refused():
    def f(x):
        if x > 0:
            return x
        return -x

    with pytest.raises(ValueError, match=r"a condition is one true or false. Got a tensor of shape \[2\]"):
        captured(f, tensor(1.0, 2.0))


def test_a_loop_whose_variable_changes_its_kind_is_refused():
    def f(x):
        y = "none"
        while x.sum() < 10:
            x = x + 1
            y = x
        return y

    with pytest.raises(TypeError, match="y changes in a loop that depends on a tensor, and is not a tensor"):
        captured(f, tensor(1.0))


def test_items_of_different_shape_do_not_go_into_a_list_that_grows():
    def f(x):
        out = [x.sum()]
        for _ in range(wt.shape(x)[0]):
            out.append(x)
        return len(out)

    with pytest.raises(ValueError, match="items of a list that the program grows have one shape"):
        captured(f, tensor(1.0, 2.0))


def test_a_generator_cannot_yield_from_a_choice_of_the_program():
    def rows(x):
        if x.sum() > 0:
            yield x

    def f(x):
        return sum(rows(x))

    with pytest.raises(RuntimeError, match="yields or awaits"):
        captured(f, tensor(1.0))


def test_functions_that_look_at_their_own_variables_stay_as_they_are():
    def f(x):
        y = x
        return sorted(locals()), y

    assert converted_function(f) is f
    assert "locals()" in why_not(f)
    assert "source cannot be read" in why_not(eval("lambda x: x"))
    assert why_not(len) == "it is not a Python function but builtin_function_or_method"


# Lines.

def test_errors_end_at_the_line_of_the_user():
    from wherry_graph.jit.errors import tidy_converted

    def f(x):
        for _ in range(2):
            if x.sum() > 0:
                x = x.reshape([7])  # this line
        return x

    for run in (lambda: converted_function(f)(tensor(1.0)), lambda: captured(f, tensor(1.0))):
        with pytest.raises(ValueError) as caught:
            run()
        tidy_converted(caught.value)
        entries = traceback.extract_tb(caught.value.__traceback__)
        assert entries[-1].line.endswith("# this line")
        assert entries[-1].name == "f"
        assert [e.name for e in entries].count("f") == 1


def test_a_debugger_sees_the_lines_of_the_file():
    def f(x):
        y = 0
        while y < 2:
            if x > y:
                y += 1
            else:
                y += 2
        return y

    def lines_of(function):
        found = set()

        def trace(frame, event, arg):
            if frame.f_code.co_filename == __file__ and frame.f_code.co_name == "f":
                if event == "line":
                    found.add(frame.f_lineno)
                return trace
            return trace

        sys.settrace(trace)
        try:
            function(5), function(-5)
        finally:
            sys.settrace(None)
        return found

    assert lines_of(f) <= lines_of(converted_function(f))


def test_the_text_of_converted_code_is_python():
    def f(x):
        if x.sum() > 0:
            return x
        return -x

    compile(text_of(f), "text", "exec")
    assert "_graph.if_(" in text_of(f)


def _halved(x, depth):
    return x if depth == 0 else _halved(x * 0.5, depth - 1)


def test_a_function_of_a_module_calls_itself():
    assert converted_function(_halved)(tensor(8.0), 3).tolist() == [1.0]
