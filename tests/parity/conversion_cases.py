"""Functions and layers as other people write them for `to_static`; the same code for both frameworks.

Each case is called with each of its inputs, eagerly and captured, and is saved. Every function that does not begin with an underscore is a
case; none has a decorator of ours, as Paddle applies those again. `conversion_worker.py` runs them, `test_conversion_cases.py` compares.
"""
# What is written here is what others write.
# ruff: noqa: B006, B007, C417, E731, PIE804, PLW0603, S101, SIM102, SIM103, SIM108, T201, UP008, UP031, UP032
import collections
import contextlib
import copy
import functools
import inspect
import math
import typing

import numpy as np
import paddle
import paddle.nn.functional as F
from paddle import nn
from paddle.static import InputSpec

UP = np.arange(6, dtype="float32").reshape(2, 3) / 4 + 0.25
DOWN = -UP
TALL = np.arange(12, dtype="float32").reshape(4, 3) / 8 - 0.5
ROWS = InputSpec([None, 3], "float32", "x")
CASES = {}


def case(*inputs, specs=None):
    """Registers a class of layers; `inputs`: tuples of arrays, each a call."""

    def register(layer):
        CASES[layer.__name__] = layer, inputs or ((UP,), (DOWN,), (TALL,)), specs or [ROWS]
        return layer

    return register


TWO = [ROWS, InputSpec([None, 3], "float32", "y")]


def count(n):
    return np.array([n], "int64")


# The calls and specs of functions, by their parameters without a default.
BY_PARAMETERS = {
    "x": ([(UP,), (DOWN,), (TALL,)], [ROWS]),
    "x n": ([(UP, count(3)), (DOWN, count(1)), (TALL, count(5))], [ROWS, InputSpec([1], "int64", "n")]),
    "x y": ([(UP, DOWN), (DOWN, UP)], TWO),
    "x i": ([(UP, np.array([0, 1, 1])), (TALL, np.array([3]))], [ROWS, InputSpec([None], "int64", "i")]),
}


# Choices.


def if_else(x):
    if x.sum() > 0:
        y = x + 1
    else:
        y = x - 1
    return y


def if_without_else(x):
    if paddle.mean(x) > 0:
        x = x * 2
    return x + 1


def elif_chain(x):
    s = x.sum()
    if s > 5:
        y = x * 1
    elif s > 1:
        y = x * 2
    elif s > -1:
        y = x * 3
    else:
        y = x * 4
    return y


def nested_if(x):
    if x.sum() > 0:
        if x.max() > 1:
            y = x * 10
        else:
            y = x * 20
    else:
        if x.min() < -1:
            y = x * 30
        else:
            y = x * 40
    return y


def new_in_both(x):
    if x.mean() > 0:
        a = x + 1
        b = a * 2
    else:
        a = x - 1
        b = a * 3
    return a, b


def several_changed(x):
    a, b, c = x, x * 2, x * 3
    if x.mean() > 0:
        a, b = b, a
    else:
        c = a + b
    return a + 2 * b + 3 * c


def number_in_branch(x):
    k = 1.0
    if x.mean() > 0:
        k = 3.0
    return x * k


def int_in_branch(x):
    k = 1
    if x.mean() > 0:
        k += 2
    return x * k


def conditional_expression(x):
    return x * 2 if x.sum() > 0 else x * 3


def nested_expression(x):
    return x if x.sum() > 3 else (x * 2 if x.sum() > 0 else x * 3)


def expression_in_call(x):
    return F.relu(x if x.mean() > 0 else -x) + (1.0 if x.max() > 2 else 2.0)


def both_kinds(x):
    flag = True
    if flag:
        x = x + 1
    if x.mean() > 0 and flag:
        x = x + 2
    if not flag or x.mean() > 0:
        x = x + 3
    return x


def boolean_tensors(x):
    a, b = x.mean() > 0, x.max() > 1
    if a and b:
        x = x * 2
    if a or b:
        x = x + 1
    if not a:
        x = x - 1
    return x


def chained_comparison(x):
    if -1 < x.mean() < 1:
        return x + 5
    return x - 5


def equality(x):
    if x.shape[1] == 3:
        x = x + 1
    if paddle.shape(x)[0] == 2:
        x = x * 2
    return x


def truth_of_tensor(x):
    positive = paddle.cast(x.mean() > 0, "int32")
    if positive:
        return x * 7
    else:
        return x * 8


def none_argument(x, y=None):
    if y is None:
        return x * 2
    return x + y


def is_not_none(x, scale=3.0):
    if scale is not None:
        x = x * scale
    return x


def variable_of_one_branch(x):
    if x.mean() > 0:
        y = x * 2
        z = y + 1
    else:
        z = x
    return z


def same_name_again(x):
    if x.mean() > 0:
        tmp = x * 2
        x = tmp + 1
    if x.max() > 1:
        tmp = x * 3
        x = tmp - 1
    return x


def if_in_with(x):
    with paddle.no_grad():
        if x.mean() > 0:
            x = x * 2
        else:
            x = x * 3
    return x


def pass_in_branch(x):
    if x.mean() > 0:
        pass
    else:
        x = x * 3
    return x


def subscript_in_branch(x):
    values = [x, x * 2]
    if x.mean() > 0:
        values[0] = x * 5
    else:
        values[1] = x * 6
    return values[0] + values[1]


def dict_in_branch(x):
    d = {"a": x, "b": x * 2}
    if x.mean() > 0:
        d["a"] = x + 10
    else:
        d["b"] = x - 10
    return d["a"] * d["b"]


def attribute_test(x):
    if x.ndim == 2 and len(x.shape) == 2:
        return x.unsqueeze(0)
    return x


def isinstance_test(x):
    if isinstance(x, (list, tuple)):
        return x[0]
    if isinstance(x, paddle.Tensor) or not isinstance(x, dict):
        return x + 4
    return x


def any_and_all(x):
    if paddle.any(x > 1):
        x = x + 1
    if paddle.all(x > 0):
        x = x * 2
    return x


def none_before(x):
    c = None
    if x.shape[0] > 1:
        c = x * 2
    return x if c is None else c + x


def none_beside_another_test(x):
    mask = None
    if x.sum() > 0:
        mask = x > 0.5
    if x.shape[0] > 2 and mask is not None:
        x = x * 2
    if mask is None or x.shape[0] > 5:
        return x - 1
    return x + mask.astype("float32")


def none_in_nested_choices(x):
    c = None
    if x.sum() > 0:
        if x.shape[0] > 2:
            c = x * 3
    elif x.sum() < -100:
        c = x * 4
    if c is not None:
        x = x + c
    else:
        x = x - 1
    return x


def none_replaced(x):
    c = None
    if x.sum() > 0:
        c = x * 2
    if c is None:
        c = x * 5
    return c


def none_before_a_fixed_loop(x):
    previous = None
    for i in range(3):
        if previous is not None:
            x = x + previous
        previous = x
    return x


# Returns.


def early_return(x):
    if x.mean() > 0:
        return x * 2
    x = x + 1
    return x * 3


def returns_in_chain(x):
    if x.sum() > 5:
        return x
    elif x.sum() > 0:
        return x + 1
    else:
        return x + 2


def return_in_nested_if(x):
    if x.mean() > 0:
        if x.max() > 2:
            return x - 100
        x = x + 1
    else:
        if x.max() > -1:
            return x + 100
    return x * 2


def return_of_tuple(x):
    if x.mean() > 0:
        return x, x + 1
    return x - 1, x


def return_in_loop(x, n):
    i = paddle.zeros([1], "int64")
    while i < n:
        x = x + 1
        if x.mean() > 2:
            return x * 10
        i += 1
    return x


def return_in_for(x, n):
    for i in range(n):
        if x.sum() > 4:
            return x
        x = x + 1
    return x - 1


def return_of_nothing_reached(x):
    if x.mean() > 0:
        y = x + 1
        return y
    else:
        y = x + 2
        return y


def two_early_returns(x):
    if x.mean() > 1:
        return x * 2
    if x.mean() > 0:
        return x * 3
    return x * 4


def return_list(x):
    return [x, [x + 1, x + 2]]


def return_dict(x):
    return {"b": x, "a": x + 1}


# Loops.


def for_range_tensor(x, n):
    for i in range(n):
        x = x + i
    return x


def for_range_two(x, n):
    total = paddle.zeros([1], "int64")
    for i in range(1, n):
        total = total + i
    return x + total.astype("float32")


def for_range_step(x, n):
    for i in range(0, n * 2, 2):
        x = x * 2 - i
    return x


def for_range_down(x, n):
    for i in range(n, 0, -1):
        x = x * 2 - i
    return x


def for_fixed(x):
    for i in range(3):
        x = x + i
    return x


def for_over_tensor(x):
    total = paddle.zeros([3])
    for row in x:
        total = total * 0.5 + row
    return total


def for_enumerate(x):
    total = paddle.zeros([3])
    for i, row in enumerate(x):
        total = total + row * i
    return total


def for_enumerate_start(x):
    total = paddle.zeros([3])
    for i, row in enumerate(x, 2):
        total = total + row * i
    return total


def for_over_rows(x):
    total = paddle.zeros([3])
    for i in range(x.shape[0]):
        total = total * 2 + x[i]
    return total


def for_over_len(x):
    total = paddle.zeros([3])
    for i in range(len(x)):
        total = total * 2 + x[i]
    return total


def for_over_list(x):
    for layer in [F.relu, paddle.tanh, paddle.exp]:
        x = layer(x)
    return x


def for_zip(x):
    out = x
    for a, b in zip([x, x * 2], [1.0, 2.0]):
        out = out + a * b
    return out


def for_dict(x):
    weights = {"a": 1.0, "b": 2.0}
    for name, weight in weights.items():
        x = x * weight + len(name)
    return x


def for_unpacked(x):
    total = x
    for k, (i, j) in enumerate([(1, 2), (3, 4)]):
        total = total + i * j + k
    return total


def for_in_for(x):
    total = paddle.zeros([1])
    for i in range(paddle.shape(x)[0]):
        for j in range(x.shape[1]):
            total = total + x[i][j] * (j + 1)
    return total


def for_columns(x):
    total = paddle.zeros([1])
    for j in range(paddle.shape(x)[1]):
        total = total * 2 + x[:, j].sum()
    return total


def while_tensor(x):
    while x.sum() < 20:
        x = x.abs() * 2
    return x


def while_counter(x, n):
    i = paddle.full([1], 0, "int64")
    while i < n:
        x = x + i.astype("float32")
        i = i + 1
    return x, i


def while_two_conditions(x):
    i = paddle.to_tensor(0)
    while x.abs().sum() < 40 and i < 6:
        x = x * 2
        i += 1
    return x, i


def while_number(x):
    i = 0
    while i < 4:
        x = x + i
        i += 1
    return x


def while_with_if(x, n):
    i = paddle.zeros([1], "int64")
    while i < n:
        if x.mean() > 0:
            x = x - 1
        else:
            x = x + 1.5
        i += 1
    return x


def while_in_while(x, n):
    i = paddle.zeros([1], "int64")
    while i < n:
        j = paddle.zeros([1], "int64")
        while j < i:
            x = x + 1
            j += 1
        i += 1
    return x


def if_with_while(x):
    if x.mean() > 0:
        while x.mean() < 5:
            x = x * 2
    else:
        while x.mean() > -5:
            x = x * 2
    return x


def swaps_in_loops(x):
    y = x[:, 0] * 1
    n = y.shape[0]
    for i in range(n):
        for j in range(n - 1):
            if y[j] > y[j + 1]:
                t = y[j] * 1
                y[j] = y[j + 1]
                y[j + 1] = t
    return y


def items_at_a_tensor(x, i):
    at = i[0] % 2
    a, b, c, d = x.clone(), x.clone(), x.clone(), x.clone()
    a[at] = 5.0
    b[:, at] = x[:, 0]
    c[at, at + 1] = 7.0
    d[at] = x[0] * 2
    return a, b, c, d


def whether_all_are_equal(x, y):
    return paddle.equal_all(x, y), paddle.equal_all(x[1:], y), paddle.equal_all(x, x + 0)


def losses_of_open_rows(x, y):
    spread = F.kl_div(F.log_softmax(x), F.softmax(y), "batchmean")
    return spread, F.mse_loss(x, y), F.l1_loss(x[:, :2], y[:, 1:]), F.cross_entropy(x, F.softmax(y), soft_label=True)


def loop_new_variable(x, n):
    for i in range(n):
        y = x * i
        x = x + y
    return x


def loop_index_after(x, n):
    i = paddle.zeros([1], "int64")
    for k in range(n):
        i = i + k
    return x + i.astype("float32")


def break_in_for(x, n):
    for i in range(n):
        if x.mean() > 1.5:
            break
        x = x + 1
    return x


def continue_in_for(x, n):
    for i in range(n):
        if i == 1:
            continue
        x = x + i
    return x


def break_in_while(x):
    i = paddle.zeros([1], "int64")
    while i < 10:
        i += 1
        if x.abs().mean() > 3:
            break
        x = x * 1.5
    return x, i


def continue_in_while(x):
    i = paddle.zeros([1], "int64")
    while i < 6:
        i += 1
        if i % 2 == 0:
            continue
        x = x + i.astype("float32")
    return x


def break_and_continue(x, n):
    for i in range(n * 3):
        if i < 2:
            continue
        if i > 6:
            break
        x = x + i
    return x


def break_of_number(x):
    for i in range(10):
        if i > 3:
            break
        x = x + i
    else:
        x = x - 100
    return x


def break_in_inner(x, n):
    for i in range(n):
        for j in range(5):
            if j > 2:
                break
            x = x + j
        x = x * 0.5
    return x


def break_over_tensor(x):
    total = paddle.zeros([3])
    for row in x:
        if row.sum() > 2.5:
            break
        total = total + row
    return total


def while_true(x, n):
    i = paddle.zeros([1], "int64")
    while True:
        i += 1
        x = x + 1
        if i >= n:
            break
    return x


def fibonacci(x):
    a, b = paddle.zeros([1]), paddle.ones([1])
    for _ in range(paddle.shape(x)[0]):
        a, b = b, a + b
    return a + x


def comprehension(x):
    parts = [x * i for i in range(3)]
    return sum(parts)


def comprehension_with_test(x):
    parts = [x * i for i in range(6) if i % 2]
    return paddle.concat(parts, axis=-1)


def dict_comprehension(x):
    found = {str(i): x + i for i in range(3)}
    return found["2"] * found["1"]


def generator(x):
    return sum(x * i for i in (1.0, 2.0, 3.0))


# Containers.


def list_of_fixed(x):
    parts = []
    for i in range(3):
        parts.append(x * i)
    return paddle.concat(parts, 0)


def list_grows(x):
    parts = []
    for i in range(paddle.shape(x)[0]):
        parts.append(x[i] * i)
    return paddle.stack(parts)


def list_grows_in_branch(x):
    parts = [x]
    if x.mean() > 0:
        parts.append(x + 1)
    else:
        parts.append(x - 1)
    return paddle.concat(parts, 0)


def list_in_while(x, n):
    i = paddle.zeros([1], "int64")
    parts = [x * 0]
    while i < n:
        parts.append(x + i.astype("float32"))
        i += 1
    return paddle.concat(parts, 0)


def list_pop(x):
    parts = [x, x + 1, x + 2]
    last = parts.pop()
    first = parts.pop(0)
    return last * first + parts[0]


def list_methods(x):
    parts = [x]
    parts.extend([x * 2, x * 3])
    parts.insert(0, x * 4)
    parts.reverse()
    parts += [x * 5]
    return paddle.concat(parts[1:], 1)


def list_index(x):
    parts = [x, x * 2, x * 3]
    parts[1] = parts[0] + parts[2]
    return parts[-1] + parts[1], len(parts)


def tuple_unpacked(x):
    (a, b), c = (x, x + 1), x + 2
    first, *rest = [a, b, c]
    return first + rest[0] * rest[1]


def tuple_in_branch(x):
    t = (x, x * 2)
    if x.mean() > 0:
        t = (x * 3, x * 4)
    return t[0] + t[1]


def dict_methods(x):
    d = dict(a=x)
    d.update({"b": x * 2})
    d.setdefault("c", x * 3)
    popped = d.pop("a")
    return popped + sum(d.values()) + d.get("z", 1.0)


def dict_pop_default(x):
    d = {"a": x, "b": x * 3}
    return d.pop("q", x) + d.pop("b") * 2


def dict_in_loop(x):
    d = {"sum": x * 0}
    for i in range(3):
        d["sum"] = d["sum"] + x * i
    return d["sum"]


def dict_in_tensor_loop(x, n):
    d = {"sum": x * 0, "last": x}
    for i in range(n):
        d["sum"] = d["sum"] + d["last"]
        d["last"] = d["last"] * 0.5
    return d["sum"]


def nested_containers(x):
    tree = {"a": [x, {"b": x + 1}], "c": (x + 2,)}
    tree["a"][1]["b"] = tree["a"][1]["b"] * 2
    return tree["a"][1]["b"] + tree["c"][0]


Pair = collections.namedtuple("Pair", ["left", "right"])


def named_tuple(x):
    pair = Pair(x, right=x * 2)
    return pair.left - pair.right


def ordered_dict(x):
    d = collections.OrderedDict()
    d["b"], d["a"] = x, x * 2
    total = x * 0
    for key in d:
        total = total * 3 + d[key]
    return total


def slices(x):
    return x[:, 1:] + x[:, :-1], x[0], x[-1], x[:, 0], x[..., 1], x[:, ::2], x[None]


def set_items(x):
    y = x * 1
    y[0] = 5.0
    y[:, 1] = y[:, 0] + 1
    return y


def set_item_in_branch(x):
    y = x * 1
    if x.mean() > 0:
        y[0] = 1.0
    else:
        y[0] = 2.0
    return y


def set_item_in_loop(x):
    y = x * 1
    for i in range(3):
        y[:, i] = y[:, i] * i
    return y


def masked(x):
    return x[x > 0].sum() + paddle.masked_select(x, x < 0).sum()


def indexed_by_tensor(x):
    i = paddle.argmax(x.sum(0))
    return x[:, i] + paddle.index_select(x, paddle.to_tensor([0]), axis=1)


def gathered(x, i):
    return paddle.gather(x, i), x[i]


def zip_and_map(x):
    a = list(map(lambda v: v * 2, [x, x + 1]))
    return sum(p * q for p, q in zip(a, reversed(a)))


def sorted_and_min(x):
    sizes = sorted([3, 1, 2])
    return x * sizes[0] + max(sizes) - min(2, 5) + abs(-3) + sum(sizes)


# Shapes.


def shape_tuple(x):
    rows, columns = x.shape
    return x.reshape([columns, rows])


def shape_of_tensor(x):
    shape = paddle.shape(x)
    return paddle.reshape(x, [shape[0] * shape[1]])


def shape_in_zeros(x):
    return paddle.zeros([paddle.shape(x)[0], 2]) + x[:, :2], paddle.ones(x.shape) * x


def shape_in_expand(x):
    return paddle.ones([1, 3]).expand([x.shape[0], 3]) + paddle.full([x.shape[0], 1], 2.0)


def shape_arithmetic(x):
    n = x.shape[0]
    return x.reshape([n * 3]) * (n + 1), paddle.arange(0, n * 2)


def shape_slice(x):
    return x.unsqueeze(0).reshape(x.shape[:1] + [-1]), paddle.reshape(x, [-1] + x.shape[1:])


def shape_test(x):
    if x.shape[0] > 2:
        return x * 2
    return x * 3


def shape_in_while(x):
    i = 0
    y = x
    while i < x.shape[0]:
        y = y + 1
        i += 1
    return y


def size_and_numel(x):
    return x.numel().astype("float32") * x, paddle.numel(x), x.size


def half_of_rows(x):
    half = x.shape[0] // 2
    return x[:half], x[half:], x[half - 1]


def length(x):
    return len(x), x * len([1, 2]), len(x.shape)


def new_like(x):
    return paddle.zeros_like(x) + paddle.full_like(x, 2) + paddle.ones(paddle.shape(x))


def transposed(x):
    return x.t(), x.transpose([1, 0]).flatten(), x.T if hasattr(x, "T") else x


def tiled(x):
    return paddle.tile(x, [2, 1]), paddle.tile(x, [x.shape[0], 1]), paddle.expand(x.unsqueeze(0), [2, -1, -1])


def split_and_stack(x):
    a, b, c = paddle.split(x, 3, axis=1)
    return paddle.stack([a, b], 0), paddle.concat([c, a], axis=1), paddle.chunk(x, 3, 1)[2], x.unbind(1)[0]


def padded(x):
    return F.pad(x.unsqueeze(0), [1, 2], data_format="NCL"), paddle.argmax(x, -1), paddle.argsort(x, -1), paddle.topk(x, 2)[0]


# Functions.


def _double(x):
    return x * 2


def _clipped(x, low=-1.0, high=1.0):
    if x.max() > high:
        x = paddle.clip(x, max=high)
    if x.min() < low:
        x = paddle.clip(x, min=low)
    return x


def calls_another(x):
    return _clipped(_double(x)) + _clipped(x, high=0.5)


def nested_function(x):
    def inner(v):
        if v.mean() > 0:
            return v * 2
        return v * 3

    return inner(x) + inner(-x)


def closure(x):
    scale = x.mean()

    def inner(v):
        return v * scale

    if scale > 0:
        return inner(x)
    return inner(x) + 1


def nonlocal_variable(x):
    calls = 0

    def inner(v):
        nonlocal calls
        calls += 1
        return v * calls

    return inner(x) + inner(x)


SCALE = 3.0


def global_variable(x):
    return x * SCALE


COUNTER = 0


def global_statement(x):
    global COUNTER
    COUNTER = 5
    return x + COUNTER


def recursive(x, depth=3):
    if depth == 0:
        return x
    return recursive(x + depth, depth - 1)


def lambdas(x):
    square = lambda v: v * v
    pick = lambda v: v if v.mean() > 0 else -v
    return square(x) + pick(x)


def partial(x):
    f = functools.partial(_clipped, high=0.75)
    return f(x) + functools.partial(paddle.sum, axis=1, keepdim=True)(x)


def reduced(x):
    return functools.reduce(lambda a, b: a + b, [x, x * 2, x * 3])


def _adding(n):
    def wrap(function):
        @functools.wraps(function)
        def inner(*args, **kwargs):
            return function(*args, **kwargs) + n

        return inner

    return wrap


@_adding(2.0)
def decorated(x):
    if x.mean() > 0:
        return x
    return -x


@_adding(1.0)
def _decorated_helper(x):
    if x.mean() > 0:
        y = x * 2
    else:
        y = x * 3
    return y


def calls_decorated(x):
    return _decorated_helper(x)


def star_arguments(x):
    def inner(*args, **kwargs):
        out = args[0]
        for a in args[1:]:
            out = out + a
        for name in kwargs:
            out = out * kwargs[name]
        return out

    values = (x, x * 2)
    return inner(*values, x * 3, **{"k": 2.0})


def default_arguments(x, k=2, names=("a", "b"), options={"c": 3}):
    return x * k + len(names) + options["c"]


def two_inputs(x, y):
    if (x - y).mean() > 0:
        return x - y
    return y * x


def keyword_call(x, y):
    def inner(a, *, b):
        return a - b

    return inner(b=x, a=y)


def function_as_value(x):
    f = F.relu if x.shape[1] == 3 else F.sigmoid
    table = {"relu": F.relu, "tanh": paddle.tanh}
    return f(x) + table["tanh"](x)


def function_in_branch(x):
    def positive():
        return x * 2

    def negative():
        return x * 3

    return paddle.static.nn.cond(x.mean() > 0, positive, negative)


def inner_loop_function(x):
    def step(v, k):
        for i in range(k):
            v = v + i
        return v

    return step(x, paddle.shape(x)[0]) + step(x, 3)


def static_while(x):
    i = paddle.zeros([1], "int64")
    _, out = paddle.static.nn.while_loop(lambda i, v: i < 4, lambda i, v: [i + 1, v * 2], [i, x])
    return out


# Casts, prints, asserts, text.


def casts(x):
    n = int(x.sum() * 0 + 3)
    f = float(x.mean())
    return x * n + f


def cast_of_bool(x):
    if bool(x.mean() > 0):
        return x * 2
    return x * 3


def cast_in_range(x):
    for i in range(int(x.abs().max() * 0 + 2)):
        x = x + 1
    return x


def dtype_casts(x):
    return x.astype("int32"), paddle.cast(x, "float64"), (x > 0).astype("float32"), x.cast("bool")


def assertions(x):
    assert x.shape[1] == 3, "three columns"
    assert x.abs().sum() > 0
    return x


def prints(x):
    print("begin", x.shape[1])
    print(x.mean())
    return x + 1


def formatted(x):
    text = f"{x.shape[1]} columns"
    name = "%s-%d" % ("a", 2) + "{}".format(3)
    return x * len(text) + len(name)


def formatted_tensor(x):
    message = f"mean {x.mean()}"
    return x if message else x * 0


def numpy_constant(x):
    weights = np.array([1.0, 2.0, 3.0], dtype="float32")
    return x * paddle.to_tensor(weights) + float(weights.sum())


def math_functions(x):
    return x * math.sqrt(4.0) + math.pi + round(2.6)


def operators(x):
    y = x.abs() + 1
    return y**2, y // 2, y % 2, -y, 2 - y, 3 / y, y @ y.t(), 2.0**y, x != y, ~(x > 0), (x > 0) & (y > 1)


def augmented(x):
    x += 1
    x *= 2
    x -= 0.5
    x /= 3
    x **= 2
    return x


def tensor_methods(x):
    return x.exp().log().sum(-1).mean(), x.max(axis=1), x.norm(), x.clip(0, 1), x.numpy if False else x.square()


def no_grad_block(x):
    with paddle.no_grad():
        y = x * 2
    return x + y


def no_grad_decorated(x):
    @paddle.no_grad()
    def inner(v):
        if v.mean() > 0:
            v = v * 2
        return v

    return inner(x)


def detached(x):
    return x.detach() * x + x.clone()


def deleted(x):
    y = x + 1
    z = y * 2
    del y
    return z


def walrus(x):
    if (s := x.mean()) > 0:
        return x * s
    return x - s


def try_finally(x):
    try:
        y = x + 1
    finally:
        z = x * 2
    return y + z


def annotated(x: paddle.Tensor) -> paddle.Tensor:
    k: int = 2
    y: typing.Any = x * k
    return y


def documented(x):
    """Says something."""
    # and so does this
    return x  # and this


def import_inside(x):
    import math as m
    from functools import reduce

    return reduce(lambda a, b: a * b, [x, m.floor(2.5)])


def not_to_static(x):
    return _unconverted(x) + 1


@paddle.jit.not_to_static
def _unconverted(x):
    return x * 2


def constants_in_condition(x):
    mode = "train"
    if mode == "train" and x.shape[-1] == 3:
        x = x * 2
    elif mode in ("eval", "test"):
        x = x * 3
    return x


def isin_test(x):
    kinds = {"a": 1}
    if "a" in kinds and "b" not in kinds:
        x = x + kinds["a"]
    return x


def context_manager(x):
    @contextlib.contextmanager
    def doubled():
        yield 2.0

    with doubled() as k:
        x = x * k
    return x


def deep_copies(x):
    options = copy.deepcopy({"k": [1, 2]})
    options["k"].append(3)
    return x * options["k"][-1]


def where_and_cond(x):
    return paddle.where(x > 0, x, -x), paddle.where(x.mean() > 0, x, x * 2)


def uses_create_array(x):
    array = paddle.tensor.create_array("float32")
    i = paddle.zeros([1], "int64")
    paddle.tensor.array_write(x, i, array)
    paddle.tensor.array_write(x * 2, i + 1, array)
    return paddle.tensor.array_read(array, i + 1), paddle.tensor.array_length(array)


for _name, _function in list(globals().items()):
    if inspect.isfunction(_function) and _function.__module__ == __name__ and not _name.startswith("_") and _name not in ("case", "count"):
        _parameters = inspect.signature(_function).parameters.values()
        _needed = [p.name for p in _parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
        CASES[_name] = _function, *BY_PARAMETERS[" ".join(_needed)]


# Layers.


def filled(layer):
    """With parameters that depend on nothing but their shapes."""
    for k, p in enumerate(layer.parameters()):
        values = np.random.default_rng(k).uniform(-0.5, 0.5, p.shape).astype("float32")
        p.set_value(np.abs(values) if p.stop_gradient else values)  # a variance
    return layer


@case()
class PlainLayer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 2)

    def forward(self, x):
        y = self.fc(x)
        if y.mean() > 0:
            y = F.relu(y)
        else:
            y = paddle.tanh(y)
        return y


class Base(nn.Layer):
    def __init__(self, width):
        super().__init__()
        self.fc = nn.Linear(3, width)
        self.width = width

    def head(self, y):
        if y.mean() > 0:
            return y * 2
        return y

    def forward(self, x):
        return self.head(self.fc(x))


@case()
class Inherited(Base):
    def __init__(self):
        super().__init__(3)
        self.out = nn.Linear(3, 1)

    def head(self, y):
        y = super().head(y)
        for i in range(2):
            y = y + i
        return y

    def forward(self, x):
        y = super().forward(x)
        return self.out(y)


@case()
class OldSuper(Base):
    def __init__(self):
        super(OldSuper, self).__init__(4)

    def forward(self, x):
        return super(OldSuper, self).forward(x) * self.width


@case()
class Stacked(nn.Layer):
    def __init__(self):
        super().__init__()
        self.layers = nn.LayerList([nn.Linear(3, 3) for _ in range(3)])
        self.seq = nn.Sequential(nn.Linear(3, 3), nn.ReLU())

    def forward(self, x):
        outs = []
        for i, layer in enumerate(self.layers):
            x = layer(x)
            if i % 2 == 0:
                x = F.relu(x)
            outs.append(x)
        return self.seq(sum(outs)), paddle.concat(outs, -1)


@case()
class InDict(nn.Layer):
    def __init__(self):
        super().__init__()
        self.parts = nn.LayerDict({"a": nn.Linear(3, 3), "b": nn.Linear(3, 3)})
        self.weights = nn.ParameterList([self.create_parameter([3]) for _ in range(2)])

    def forward(self, x):
        for name in ["b", "a"]:
            x = self.parts[name](x)
        for w in self.weights:
            x = x * w
        return x


@case()
class WithBuffer(nn.Layer):
    def __init__(self):
        super().__init__()
        self.register_buffer("offset", paddle.to_tensor([1.0, 2.0, 3.0]))
        self.scale = self.create_parameter([3])
        self.constants = [1, 2]

    def forward(self, x):
        return x * self.scale + self.offset * self.constants[1]


@case()
class OwnMethods(nn.Layer):
    def __init__(self):
        super().__init__()
        self.k = 2

    @staticmethod
    def plus(x, n):
        return x + n

    @classmethod
    def times(cls, x, n):
        if x.mean() > 0:
            return x * n
        return x / n

    @property
    def factor(self):
        return self.k * 2

    def forward(self, x):
        x = self.plus(x, 1)
        x = self.times(x, self.factor)
        return self.plus(x, self.k) if self.training else self.plus(x, -self.k)


@case()
class AttributeInBranch(nn.Layer):
    def forward(self, x):
        self.last = x
        if x.mean() > 0:
            self.last = x * 2
        return self.last + 1


@case((UP, DOWN), (TALL, TALL), specs=TWO)
class TwoInputs(nn.Layer):
    def __init__(self):
        super().__init__()
        self.a, self.b = nn.Linear(3, 2), nn.Linear(3, 2, bias_attr=False)

    def forward(self, x, y, scale=2.0):
        return self.a(x) - self.b(y) * scale


@case()
class Normalized(nn.Layer):
    def __init__(self):
        super().__init__()
        self.norm, self.drop = nn.BatchNorm1D(3), nn.Dropout(0.5)

    def forward(self, x):
        return self.drop(self.norm(x))


@case()
class CallsLayerInLoop(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cell = nn.Linear(3, 3)

    def forward(self, x):
        h = paddle.zeros([1, 3])
        for i in range(paddle.shape(x)[0]):
            h = paddle.tanh(self.cell(h) + x[i])
        return h


@case((np.stack([TALL, -TALL]),), specs=[InputSpec([None, None, 3], "float32", "x")])
class Recurrent(nn.Layer):
    def __init__(self):
        super().__init__()
        self.cell = nn.GRUCell(3, 4)

    def forward(self, x):
        h = paddle.zeros([x.shape[0], 4])
        outs = []
        for t in range(x.shape[1]):
            out, h = self.cell(x[:, t], h)
            outs.append(out)
        return paddle.stack(outs, 1), h


@case((np.stack([TALL, -TALL]),), specs=[InputSpec([None, None, 3], "float32", "x")])
class WholeLSTM(nn.Layer):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, direction="bidirect")

    def forward(self, x):
        y, (h, c) = self.lstm(x)
        return y, h, c


@case((np.stack([TALL, -TALL]), np.array([4, 2])), specs=[InputSpec([None, None, 3], "float32", "x"), InputSpec([None], "int64", "n")])
class LengthsLSTM(nn.Layer):
    def __init__(self):
        super().__init__()
        self.lstm = nn.LSTM(3, 4, direction="bidirect")

    def forward(self, x, n):
        y, (h, c) = self.lstm(x, sequence_length=n)
        return y, h, c


@case((np.stack([TALL, -TALL]), np.array([3, 1])), specs=[InputSpec([None, None, 3], "float32", "x"), InputSpec([None], "int64", "n")])
class LengthsGRU(nn.Layer):
    def __init__(self):
        super().__init__()
        self.gru = nn.GRU(3, 4, num_layers=2, direction="bidirect")

    def forward(self, x, n):
        return self.gru(x, sequence_length=n)


@case((np.stack([TALL, -TALL]),), specs=[InputSpec([None, None, 3], "float32", "x")])
class Attention(nn.Layer):
    def __init__(self):
        super().__init__()
        self.q, self.k, self.v = nn.Linear(3, 4), nn.Linear(3, 4), nn.Linear(3, 4)

    def split(self, y):
        return y.reshape([y.shape[0], y.shape[1], 2, 2]).transpose([0, 2, 1, 3])

    def forward(self, x, mask=None):
        q, k, v = self.split(self.q(x)), self.split(self.k(x)), self.split(self.v(x))
        score = paddle.matmul(q, k, transpose_y=True) / math.sqrt(2)
        if mask is not None:
            score = score + mask
        y = paddle.matmul(F.softmax(score), v).transpose([0, 2, 1, 3])
        return y.reshape([0, 0, 4]), y.flatten(2)


@case((np.stack([TALL, -TALL]),), specs=[InputSpec([None, None, 3], "float32", "x")])
class Encoder(nn.Layer):
    def __init__(self):
        super().__init__()
        layer = nn.TransformerEncoderLayer(3, 1, 6, dropout=0.0)
        self.encoder = nn.TransformerEncoder(layer, 2)

    def forward(self, x):
        length = x.shape[1]
        mask = paddle.tensor.triu(paddle.full([length, length], -1e4), 1)
        return self.encoder(x, mask.unsqueeze([0, 1]))


@case((np.arange(96, dtype="float32").reshape(1, 2, 6, 8) / 96,), specs=[InputSpec([None, 2, None, None], "float32", "x")])
class Convolutions(nn.Layer):
    def __init__(self):
        super().__init__()
        self.conv = nn.Conv2D(2, 4, 3, padding=1)
        self.norm = nn.BatchNorm2D(4)
        self.up = nn.Conv2DTranspose(4, 2, 2, stride=2)
        self.pool = nn.AdaptiveAvgPool2D(1)

    def forward(self, x):
        y = F.max_pool2d(F.relu(self.norm(self.conv(x))), 2)
        z = F.interpolate(self.up(y), size=x.shape[2:], mode="bilinear")
        return z, self.pool(y).flatten(1)


@case((np.array([[1, 2, 0], [3, 1, 1]]),), specs=[InputSpec([None, None], "int64", "ids")])
class Embedded(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.places = nn.Embedding(5, 4, padding_idx=0), nn.Embedding(9, 4)

    def forward(self, ids, places=None):
        if places is None:
            ones = paddle.ones_like(ids)
            places = paddle.cumsum(ones, axis=-1) - ones
        return self.words(ids) + self.places(places)


@case((np.array([[1], [2]]),), specs=[InputSpec([None, 1], "int64", "ids")])
class Greedy(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(5, 4), nn.Linear(4, 5)

    def forward(self, ids):
        for _ in range(3):
            logits = self.out(self.words(ids[:, -1:]))
            ids = paddle.concat([ids, logits.argmax(-1)], axis=-1)
        return ids


@case((np.array([[1], [2]]), count(4)), specs=[InputSpec([None, 1], "int64", "ids"), InputSpec([1], "int64", "n")])
class Decoded(nn.Layer):
    def __init__(self):
        super().__init__()
        self.words, self.out = nn.Embedding(5, 4), nn.Linear(4, 5)

    def forward(self, ids, n):
        last, total = ids, paddle.zeros([ids.shape[0], 1])
        i = paddle.zeros([1], "int64")
        while i < n:
            logits = self.out(self.words(last)).squeeze(1)
            last = paddle.argmax(logits, axis=-1, keepdim=True)
            total = total + logits.max(-1, keepdim=True)
            if (last == 0).all():
                break
            i += 1
        return last, total


@case()
class WeightNormed(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.utils.weight_norm(nn.Linear(3, 2))

    def forward(self, x):
        return self.fc(x)


@case()
class CallsFunctionOnSelf(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.act = lambda v: v if v.mean() > 0 else -v
        self.table = {"relu": F.relu}

    def forward(self, x):
        return self.table["relu"](self.act(self.fc(x)))


@case()
class Hooked(nn.Layer):
    def __init__(self):
        super().__init__()
        self.fc = nn.Linear(3, 3)
        self.fc.register_forward_post_hook(lambda layer, inputs, out: out * 2)
        self.fc.register_forward_pre_hook(lambda layer, inputs: (inputs[0] + 1,))

    def forward(self, x):
        return self.fc(x)


@case()
class CallableLayer(nn.Layer):
    class Scale:
        def __init__(self, k):
            self.k = k

        def __call__(self, v):
            return v * self.k

    def __init__(self):
        super().__init__()
        self.scale = self.Scale(3.0)

    def forward(self, x):
        return self.scale(x)
