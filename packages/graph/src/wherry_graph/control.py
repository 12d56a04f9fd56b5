"""Control flow and what else a program does that no op of the vocabulary says: choices, loops, lists, print, assert, calls of Python.

The functions here record nodes where a capture is on and their condition is symbolic; otherwise they do what they say at once. Each kind
of node has three rules: how it runs (`RUN`), how it is recorded once more elsewhere (`REPLAY`), and how autograd is told of it (`RETRACE`).

The gradient of a choice is a choice between the gradients of its branches, which compute their branch once more. The gradient of a loop
is a loop backwards: the loop keeps the values that each round began with (`history`), and a round backwards computes its round
once more.
"""
from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any

from wherry_autograd import PyLayer, no_grad
from wherry_autograd.py_layer import layers_in_programs
from wherry_graph.backward import block_gradients
from wherry_graph.capture import ON_ARRAYS, Capture, current_capture
from wherry_graph.ir import Block, ControlOp, Node, Variable
from wherry_graph.replay import ghost_of, replay_block
from wherry_graph.structure import flatten, pack
from wherry_nn import unique_name
from wherry_tensor import _core, ops
from wherry_tensor._core import Tensor, int64, is_symbolic
from wherry_tensor.dtype import is_complex, is_floating_point
from wherry_tensor.sizes import Size, user_line

__all__ = [
    "array_append", "array_length", "array_read", "array_stack", "array_write", "assert_true", "cond", "create_array",
    "own_gradient", "print_tensor", "py_func", "record_cond", "while_loop",
]

COND = ControlOp("cond")
WHILE = ControlOp("while", ("history",))  # history: positions of the carried values that are kept for each round, as arrays
ARRAY_CREATE = ControlOp("create_array")
ARRAY_APPEND = ControlOp("array_append")
ARRAY_WRITE = ControlOp("array_write")
ARRAY_READ = ControlOp("array_read")
ARRAY_LENGTH = ControlOp("array_length")
ARRAY_STACK = ControlOp("array_stack", ("axis", "concat"))
# What gradients of lists are made of.
ARRAY_ZEROS = ControlOp("array_zeros")  # a list of zeros, of the shapes of another one
ARRAY_ADD = ControlOp("array_add")  # sums, position by position
ARRAY_HEAD = ControlOp("array_head")  # as many of the first tensors of a list as another one has
ARRAY_PAD = ControlOp("array_pad")  # a list, with zeros of the shapes of another one behind it, up to its length
ARRAY_UNSTACK = ControlOp("array_unstack", ("axis", "concat"))  # a tensor in the pieces that `array_stack` put together
PRINT = ControlOp("print", ("message", "summarize", "first_n"), ("io",))
ASSERT = ControlOp("assert", ("message",), ("io",))
# Hands on what was computed from the first `n` inputs: the inputs behind them. Its block takes cotangents of outputs `passing`, and
# gives those of inputs `places`.
OWN_GRADIENT = ControlOp("own_gradient", ("n", "passing", "places"))
PY_FUNC = ControlOp("py_func", ("function", "backward"), ("io",))


# What users of a capture call.

def cond(pred: Tensor | bool, true_fn: Callable[[], Any], false_fn: Callable[[], Any]) -> Any:
    """What `true_fn()` returns if `pred`, else what `false_fn()` returns.

    Args:
        pred: one element; where it is symbolic, both functions are recorded and the program chooses.
        true_fn: called without arguments.
        false_fn: as well. Where `pred` is symbolic, both return the same structure, of tensors of the same rank and dtype.

    Raises:
        TypeError, ValueError: the branches return what does not fit together.
    """
    recording = current_capture()
    if recording is None or not (isinstance(pred, Tensor) and is_symbolic(pred)):
        return true_fn() if bool(pred) else false_fn()
    _check_condition("cond", pred)
    program = recording.program
    blocks, results = [], []
    for branch in (true_fn, false_fn):
        block = program.new_block(recording.block)
        with recording.inside(block):
            results.append(branch())
        blocks.append(block)
    left, right = _agreed(recording, blocks, results)
    at = [i for i, x in enumerate(left) if isinstance(x, Tensor)]
    given = record_cond(recording, pred, blocks, [left[i] for i in at], [right[i] for i in at])
    values = list(left)
    for i, x in zip(at, given, strict=True):
        values[i] = x
    return pack(results[0], values)


def record_cond(
    recording: Capture, pred: Tensor, blocks: Sequence[Block], left: Sequence[Tensor], right: Sequence[Tensor],
) -> list[Tensor]:
    """Record a choice whose branches are recorded already.

    Args:
        recording: the capture that is on.
        pred: bool, one element.
        blocks: of the branch that is taken if `pred`, and of the other.
        left: what the first branch gives.
        right: what the other gives, of the same ranks and dtypes.

    Returns:
        Of each pair, the one that the program chooses.
    """
    metas = [_either(position, a, b) for position, (a, b) in enumerate(zip(left, right, strict=True))]
    for block, mine in zip(blocks, (left, right), strict=True):
        block.outputs = [recording.variable_of(x) for x in mine]
    names = unique_name.generate("cond")
    outs = [
        _variable(recording.block, shape, dtype, f"{names}.tmp_{k}", is_array) for k, (shape, dtype, is_array) in enumerate(metas)
    ]
    node = recording.record(COND, (pred,), (), tuple(outs), blocks=tuple(blocks))
    return _with_gradient(recording, node, outs, recording.tensor_of)


def while_loop(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], loop_vars: Sequence[Any]) -> list[Any]:
    """Replace `loop_vars` by what `body_fn(*loop_vars)` returns while `cond_fn(*loop_vars)` holds; the last ones.

    Args:
        cond_fn: gives one element, true or false. Where its first answer is symbolic, the loop is recorded.
        body_fn: gives as many values as there are `loop_vars`, of the same structure, rank and dtype.
        loop_vars: tensors, numbers, or nested lists, tuples and dicts of them. A recorded loop makes tensors of numbers.

    Raises:
        TypeError, ValueError: the body returns what does not fit.
    """
    loop_vars = list(loop_vars)
    recording = current_capture()
    if recording is None:
        return _loop_now(cond_fn, body_fn, loop_vars, cond_fn(*loop_vars))
    mark = len(recording.block.nodes)
    first = cond_fn(*loop_vars)
    if not (isinstance(first, Tensor) and is_symbolic(first)):
        return _loop_now(cond_fn, body_fn, loop_vars, first)
    recording.block.forget(mark)  # the look at the condition is no part of the program
    return _record_loop(recording, cond_fn, body_fn, loop_vars)


def _loop_now(cond_fn: Callable[..., Any], body_fn: Callable[..., Any], loop_vars: list[Any], holds: Any) -> list[Any]:
    while bool(holds):
        result = body_fn(*loop_vars)
        loop_vars = list(result) if isinstance(result, (list, tuple)) else [result]
        holds = cond_fn(*loop_vars)
        if isinstance(holds, Tensor) and is_symbolic(holds):
            return while_loop(cond_fn, body_fn, loop_vars)
    return loop_vars


def _record_loop(recording: Capture, cond_fn: Callable[..., Any], body_fn: Callable[..., Any], loop_vars: list[Any]) -> list[Any]:
    program = recording.program
    leaves = [_tensor_of_number(x) for x in flatten(loop_vars)]
    at = [i for i, x in enumerate(leaves) if isinstance(x, Tensor)]
    start = [recording.variable_of(leaves[i]) for i in at]
    shapes = [x.sizes for x in start]
    for _attempt in range(16):
        n_blocks = len(program.blocks)
        test, body = program.new_block(recording.block), program.new_block(recording.block)
        results: list[Any] = []
        for block, function in ((test, cond_fn), (body, body_fn)):
            inner = list(leaves)
            for k, i in enumerate(at):
                x = _variable(block, shapes[k], start[k].dtype, unique_name.generate("while.in"), is_array=start[k].is_array)
                x.stop_gradient = leaves[i].stop_gradient
                block.inputs.append(x)
                inner[i] = x
            with recording.inside(block):
                results.append(function(*pack(loop_vars, inner)))
        holds, result = results
        _check_condition("while_loop", holds)
        result = list(result) if isinstance(result, (list, tuple)) else [result]
        with recording.inside(body):
            new = [_tensor_of_number(x) for x in flatten(result)]
        _check_carried(leaves, new, at)
        wider = [_union(shapes[k], recording.variable_of(new[i]).sizes) for k, i in enumerate(at)]
        if wider == shapes:
            break
        shapes = wider
        del program.blocks[n_blocks:]
    test.outputs = [recording.variable_of(holds)]
    body.outputs = [recording.variable_of(new[i]) for i in at]
    names = unique_name.generate("while")
    outs = tuple(
        _variable(recording.block, shapes[k], x.dtype, f"{names}.tmp_{k}", is_array=x.is_array) for k, x in enumerate(start)
    )
    node = recording.record(WHILE, tuple(leaves[i] for i in at), ((),), outs, blocks=(test, body))
    given = _with_gradient(recording, node, outs, recording.tensor_of)
    values = list(leaves)
    for k, i in enumerate(at):
        values[i] = given[k]
    return pack(loop_vars, values)


def create_array(dtype: Any, values: Sequence[Tensor] = ()) -> Variable:
    """In a capture: a list of tensors that grows while the program runs (Paddle's `LoDTensorArray`)."""
    recording = _recording("create_array")
    out = _array(recording, dtype)
    return _recorded(recording, ARRAY_CREATE, tuple(values), (), out)


def array_append(array: Variable, x: Tensor) -> Variable:
    """In a capture: a list with `x` behind what `array` holds; `array` stays as it is."""
    recording = _recording("array_append")
    out = _array(recording, array.dtype)
    return _recorded(recording, ARRAY_APPEND, (array, x), (), out)


def array_write(array: Variable, i: Tensor, x: Tensor) -> Variable:
    """In a capture: a list with `x` at position `i`, which is at most its length; `array` stays as it is."""
    recording = _recording("array_write")
    out = _array(recording, array.dtype)
    return _recorded(recording, ARRAY_WRITE, (array, i, x), (), out)


def array_read(array: Variable, i: Tensor, shape: Sequence[int], of_arrays: bool = False) -> Tensor:
    """In a capture: the tensor at position `i` of a list; `shape` is what is known of it (-1: unknown). `of_arrays`: a list of lists."""
    recording = _recording("array_read")
    out = _variable(recording.block, shape, array.dtype, unique_name.generate("array_read") + ".tmp_0", is_array=of_arrays)
    return _recorded(recording, ARRAY_READ, (array, i), (), out)


def array_length(array: Variable) -> Tensor:
    """In a capture: how many tensors a list holds, int64, 0-d."""
    recording = _recording("array_length")
    out = recording.block.variable((), int64, unique_name.generate("array_length") + ".tmp_0")
    recording.record(ARRAY_LENGTH, (array,), (), (out,))
    return out


def array_stack(array: Variable, shape: Sequence[int], axis: int = 0, concat: bool = False) -> Tensor:
    """In a capture: the tensors of a list along a new axis (or, with `concat`, along an axis that they have).

    Args:
        array: the list.
        shape: of the result, as far as it is known (-1: unknown).
        axis: not negative.
        concat: join them along `axis`.
    """
    recording = _recording("array_stack")
    out = _variable(recording.block, shape, array.dtype, unique_name.generate("array_stack") + ".tmp_0")
    return _recorded(recording, ARRAY_STACK, (array,), (axis, concat), out)


def print_tensor(x: Tensor, message: str = "", summarize: int = 20, first_n: int = -1) -> Tensor:
    """Print a tensor when the program runs; gives `x` back. `first_n` bounds how often (-1: always)."""
    recording = current_capture()
    if recording is None:
        print(_printed(x, message))
        return x
    recording.record(PRINT, (x,), (message, summarize, first_n), ())
    return x


def assert_true(condition: Tensor | bool, message: str = "", data: Sequence[Tensor] = ()) -> None:
    """Refuse to go on, when the program runs, unless the one element of `condition` is true."""
    recording = current_capture()
    if recording is None or not (isinstance(condition, Tensor) and is_symbolic(condition)):
        assert bool(condition), message
        return
    _check_condition("assert", condition)
    recording.record(ASSERT, (condition, *data), (message,), ())


def py_func(
    function: Callable[..., Any], inputs: Sequence[Tensor], outputs: Sequence[tuple[Sequence[int], Any] | Variable],
    backward: Callable[..., Any] | None = None,
) -> list[Tensor]:
    """In a capture: call Python when the program runs.

    Args:
        function: takes a Tensor for each input, returns one for each output.
        inputs: tensors.
        outputs: shape and dtype of each result, or a variable of the program that nothing has made yet.
        backward: takes inputs, outputs and cotangents of the outputs, returns the cotangent of each input; None: no gradient passes.
    """
    recording = _recording("py_func")
    names = unique_name.generate("py_func")
    outs = tuple(
        x if isinstance(x, Variable) else _variable(recording.block, *x, f"{names}.tmp_{i}") for i, x in enumerate(outputs)
    )
    node = recording.record(PY_FUNC, tuple(inputs), (function, backward), outs)
    return _with_gradient(recording, node, outs, recording.tensor_of)


def own_gradient(
    inputs: Sequence[Tensor], results: Sequence[Tensor], backward: Callable[[list[Tensor | None]], Sequence[Tensor | None]] | None,
    constant: Sequence[Tensor] = (),
) -> list[Tensor]:
    """In a capture: `results`, whose gradients are not those of the ops that computed them.

    Args:
        inputs: tensors that the results were computed from.
        results: tensors.
        backward: from the cotangent of each result, to that of each input or None; recorded at once. None: no gradient passes.
        constant: those of the results that no gradient passes.
    """
    recording = _recording("own_gradient")
    for x in results:
        if not any(x is y for y in inputs):
            recording.variable_of(x).__dict__["cuts_gradient"] = True
    names = unique_name.generate("own_gradient")
    outs = [_variable(recording.block, _sizes(x), x.dtype, f"{names}.tmp_{i}") for i, x in enumerate(results)]
    blocks: tuple[Block, ...] = ()
    places: tuple[int, ...] = ()
    passing = tuple(i for i, x in enumerate(results) if _floats(x) and not any(x is y for y in constant))
    if backward is not None:
        block = recording.program.new_block(recording.block)
        cotangents: list[Tensor | None] = [None] * len(results)
        for i in passing:
            cotangents[i] = _variable(block, _sizes(results[i]), results[i].dtype, unique_name.generate("own_gradient.in"))
        block.inputs = [cotangents[i] for i in passing]  # type: ignore[misc]
        cuts, recording.no_grad_cuts = recording.no_grad_cuts, False  # the gradient may be differentiated again
        try:
            with recording.inside(block), recording.standing_in(), no_grad():
                found = backward(cotangents)
                block.outputs = [recording.variable_of(g) for g in found if g is not None]
        finally:
            recording.no_grad_cuts = cuts
        places, blocks = tuple(i for i, g in enumerate(found) if g is not None), (block,)
    node = recording.record(OWN_GRADIENT, (*inputs, *results), (len(inputs), passing, places), tuple(outs), blocks=blocks)
    for i, out in enumerate(outs):
        out.__dict__["cuts_gradient"] = i not in passing
    return _with_gradient(recording, node, outs, recording.tensor_of) if blocks else list(outs)


layers_in_programs(own_gradient)


# Checks.

def _recording(what: str) -> Capture:
    recording = current_capture()
    if recording is None:
        raise RuntimeError(f"{what}: nothing is being captured. Got the call outside of a program, expected it inside. Use a list.")
    return recording


def _check_condition(what: str, x: Any) -> None:
    size = x.size if isinstance(x, Tensor) else 1
    if not isinstance(x, (Tensor, bool)) or size not in (1, -1):
        got = f"shape {x.shape}" if isinstance(x, Tensor) else f"{type(x).__name__}"
        raise TypeError(
            f"{what}: the condition is not one true or false. Got {got} at {user_line()}, expected a Tensor of one element. "
            f"Reduce it with paddle.all or paddle.any."
        )


def _tensor_of_number(x: Any) -> Any:
    """Numbers of Python that a program may change become tensors; anything else stays."""
    if isinstance(x, Size):
        return x.tensor()
    if type(x) is bool:
        return ops.full(shape=(), value=x, dtype=_core.bool_)
    if type(x) is int:
        return ops.full(shape=(), value=x, dtype=int64)
    if type(x) is float:
        from wherry_tensor.dtype import default_dtype

        return ops.full(shape=(), value=x, dtype=default_dtype())
    return x


def _agreed(recording: Capture, blocks: list[Block], results: list[Any]) -> list[list[Any]]:
    """The leaves of what two branches return, made to agree: numbers become tensors where they differ."""
    a, b = results
    if _kind(a) != _kind(b):
        raise TypeError(
            f"cond: the branches return different structures. Got {_kind(a)} if true and {_kind(b)} if false (at {user_line()}), "
            f"expected the same. Give both branches the same values."
        )
    left, right = flatten(a), flatten(b)
    for i, (x, y) in enumerate(zip(left, right)):
        if isinstance(x, Tensor) and isinstance(y, Tensor):
            continue
        if not isinstance(x, (Tensor, Size)) and not isinstance(y, (Tensor, Size)) and (x is y or (type(x) is type(y) and x == y)):
            continue
        for mine, block, value, other in ((left, blocks[0], x, y), (right, blocks[1], y, x)):
            with recording.inside(block):
                value = _tensor_of_number(value)
                if isinstance(value, Tensor) and isinstance(other, Tensor) and not isinstance(mine[i], Tensor):
                    value = ops.cast(value, dtype=other.dtype) if value.dtype is not other.dtype else value
                    if other.ndim and not value.ndim:
                        value = ops.reshape(value, shape=(1,) * other.ndim) if other.size == 1 else value
            mine[i] = value
        if not isinstance(left[i], Tensor) or not isinstance(right[i], Tensor):
            raise TypeError(
                f"cond: value {i} that the branches return is not a tensor in both. Got {_short(x)} if true and {_short(y)} if false "
                f"(at {user_line()}), expected tensors or numbers. Give it a value of the same kind in both branches."
            )
    return [left, right]


def _kind(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return f"{type(value).__name__}({', '.join(_kind(v) for v in value)})"
    if isinstance(value, dict):
        return "dict(" + ", ".join(f"{k!r}: {_kind(v)}" for k, v in value.items()) + ")"
    return "value"


def _short(x: Any) -> str:
    return f"a Tensor of shape {x.shape}" if isinstance(x, Tensor) else f"{type(x).__name__} {x!r}"


def _either(position: int, a: Tensor, b: Tensor) -> tuple[Any, ...]:
    if a.dtype is not b.dtype or a.ndim != b.ndim:
        raise ValueError(
            f"cond: value {position} that the branches return does not fit. Got shape {a.shape}, {a.dtype.name} if true and "
            f"shape {b.shape}, {b.dtype.name} if false (at {user_line()}), expected the same rank and dtype. Cast or reshape it in one branch."
        )
    is_array = getattr(a, "is_array", False)
    return _union(_sizes(a), _sizes(b)), a.dtype, is_array


def _sizes(x: Tensor) -> tuple[int, ...]:
    return tuple(-1 if type(n) is Size else n for n in x.shape)


def _union(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...]:
    return tuple(m if m == n else -1 for m, n in zip(a, b))


def _check_carried(before: list[Any], after: list[Any], at: list[int]) -> None:
    if len(before) != len(after):
        raise ValueError(
            f"while_loop: the body returns another number of values than it takes. Got {len(after)}, expected {len(before)}. "
            f"Return all loop_vars, also those that do not change."
        )
    for i in range(len(before)):
        x, y = before[i], after[i]
        if i not in at:
            if isinstance(y, Tensor) or not (x is y or x == y):
                raise TypeError(
                    f"while_loop: value {i} changes but is no tensor. Got {_short(x)} before and {_short(y)} after a round (at {user_line()}), "
                    f"expected a Tensor or a number. Make it a tensor before the loop."
                )
            continue
        if not isinstance(y, Tensor) or y.dtype is not x.dtype or y.ndim != x.ndim:
            raise ValueError(
                f"while_loop: value {i} does not fit the next round. Got {_short(y)}{'' if not isinstance(y, Tensor) else ', ' + y.dtype.name} "
                f"behind a round (at {user_line()}), expected rank {x.ndim} and {x.dtype.name} as before it. Cast or reshape it in the body."
            )


def _variable(block: Block, shape: Any, dtype: Any, name: str, is_array: bool = False) -> Variable:
    return block.variable(shape, dtype, name, is_array=is_array)


def _array(recording: Capture, dtype: Any) -> Variable:
    return recording.block.variable((), dtype, unique_name.generate("array") + ".tmp_0", is_array=True)



# Gradients.

class _Rule:
    """What `_Control` is given: it is no tensor, so PyLayer passes it by."""

    def __init__(self, outs: Sequence[Tensor], backward: Callable[[Sequence[Tensor]], Sequence[Tensor | None]]) -> None:
        self.outs, self.backward = tuple(outs), backward


class _Control(PyLayer):
    """Lets autograd pass a node of control flow: the outputs depend on tensors from around it."""

    _is_written = False  # the node is in the program already

    @staticmethod
    def forward(ctx: Any, rule: _Rule, *needed: Tensor) -> Any:
        ctx.rule = rule
        ctx.mark_non_differentiable(*(x for x in rule.outs if not _floats(x)))
        return rule.outs

    @staticmethod
    def backward(ctx: Any, *cotangents: Tensor) -> Any:
        return tuple(ctx.rule.backward(cotangents))


def _with_gradient(
    recording: Capture, node: Node, outs: Sequence[Tensor], tensor_of: Callable[[Variable], Tensor],
) -> list[Tensor]:
    """Tell autograd of a node. Returns what stands for its outputs."""
    needed = node.reads()
    tensors = [tensor_of(x) for x in needed]
    wanted = [i for i, x in enumerate(tensors) if not x.stop_gradient and _floats(x)]
    if not wanted or not _core.is_grad_enabled() or not any(_floats(x) for x in outs):
        return list(outs)
    variables = [needed[i] for i in wanted]

    def backward(cotangents: Sequence[Tensor]) -> Sequence[Tensor | None]:
        cts = [ct if _floats(out) else None for ct, out in zip(cotangents, outs)]
        return GRADIENT[node.op.name](node, variables, cts)

    found = _Control.apply(_Rule(outs, backward), *(tensors[i] for i in wanted))
    return list(found)


def _floats(x: Tensor) -> bool:
    return is_floating_point(x) or is_complex(x)


def _cond_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Tensor | None]) -> Sequence[Tensor]:
    def gradients_of(block: Block) -> Callable[[], Any]:
        return lambda: block_gradients(block, [], [], wanted, cotangents)

    return cond(node.inputs[0], gradients_of(node.blocks[0]), gradients_of(node.blocks[1]))  # type: ignore[arg-type]


def _while_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    body = node.blocks[1]
    given = [x for x in node.inputs if x is not None]
    n = len(given)
    histories = _keep_history(node)
    floating = [k for k in range(n) if _floats(body.inputs[k])]
    used_inside = {id(x) for x in body.free()}
    free = [x for x in wanted if id(x) in used_inside]
    rounds = array_length(histories[0])
    sums = [ops.full_like(x, value=0, dtype=x.dtype) for x in free]
    flowing = [cotangents[k] for k in floating]
    # What the rounds began with may have been used itself: by a gradient that is differentiated.
    kept = {k: ct for k, ct in enumerate(cotangents[n:]) if k in floating and ct is not None}

    def one_round(i: Tensor, *state: Tensor) -> list[Tensor]:
        i = i - 1
        flow, sums = list(state[: len(floating)]), list(state[len(floating) :])
        began = [_at(histories[k], i, body.inputs[k]) for k in range(n)]
        cts: list[Tensor | None] = [None] * n
        for k, ct in zip(floating, flow):
            cts[k] = ct
        found = block_gradients(body, began, floating, free, cts)
        flow = [g + _at(kept[k], i, body.inputs[k]) if k in kept else g for k, g in zip(floating, found)]
        return [i, *flow, *(s + g for s, g in zip(sums, found[len(floating) :]))]

    _i, *ended = while_loop(lambda i, *_rest: i > 0, one_round, [rounds, *flowing, *sums])
    flow, sums = ended[: len(floating)], ended[len(floating) :]
    results: list[Tensor | None] = []
    for x in wanted:
        total = None
        for position, y in enumerate(free):
            if y is x:
                total = sums[position]
        for k, ct in zip(floating, flow):
            if given[k] is x:
                total = ct if total is None else total + ct
        results.append(total)
    return results


def _keep_history(node: Node) -> list[Variable]:
    """Let a loop keep what each round begins with. Arrays, one for each carried value."""
    n = len(node.inputs)
    if not node.attrs[0]:
        arrays = tuple(
            node.block.variable((), x.dtype, unique_name.generate("while.history"), is_array=True) for x in node.blocks[1].inputs
        )
        for x in arrays:
            x.made_by = node
        node.outputs = (*node.outputs, *arrays)
        node.attrs = (tuple(range(n)),)
    return list(node.outputs[n:])


def _own_gradient_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Any]) -> Sequence[Any]:
    _n, passing, places = node.attrs
    found: list[Any] = [None] * len(node.inputs)
    if node.blocks:
        recording, given = _recording("own_gradient"), [cotangents[i] for i in passing]
        for place, g in zip(places, replay_block(node.blocks[0], given, {}, recording.tensor_of), strict=True):
            found[place] = g
    return _by_input(node, wanted, found)


def _py_func_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Tensor | None]) -> Sequence[Tensor | None]:
    backward = node.attr("backward")
    if backward is None:
        return [None] * len(wanted)
    cts = [
        ops.full_like(x, value=0, dtype=x.dtype) if ct is None else ct for x, ct in zip(node.outputs, cotangents)
    ]
    inputs = [x for x in node.inputs if x is not None]
    found = py_func(backward, [*inputs, *node.outputs, *cts], [(x.sizes, x.dtype) for x in inputs])
    by_input = {id(x): g for x, g in zip(inputs, found)}
    return [by_input.get(id(x)) for x in wanted]


def _recorded(recording: Capture, op: ControlOp, inputs: tuple[Tensor, ...], attrs: tuple[Any, ...], out: Variable) -> Any:
    """Record a node with one output, and tell autograd of it."""
    return _with_gradient(recording, recording.record(op, inputs, attrs, (out,)), (out,), recording.tensor_of)[0]


# Of lists. The cotangent of a list is a list of the same length.

def _of_arrays(op: ControlOp, *inputs: Any, attrs: tuple[Any, ...] = ()) -> Any:
    """A list that is made of others."""
    recording = _recording(op.name)
    return _recorded(recording, op, inputs, attrs, _array(recording, inputs[0].dtype))


def _by_input(node: Node, wanted: list[Variable], found: Sequence[Any]) -> list[Any]:
    """Of the cotangents of all inputs, those of `wanted`; an input that comes twice has their sum."""
    out: list[Any] = []
    for x in wanted:
        mine = [ct for y, ct in zip(node.inputs, found, strict=True) if y is x and ct is not None]
        out.append(None if not mine else sum(mine[1:], mine[0]))
    return out


def _at(array: Any, i: Any, like: Variable) -> Tensor:
    return array_read(array, i, like.sizes, of_arrays=like.is_array)


def _zeros_of(x: Tensor) -> Tensor:
    return ops.full_like(x, value=0, dtype=x.dtype)


def _array_create_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Any]) -> Sequence[Any]:
    places = [ops.full(shape=(), value=i, dtype=int64) for i in range(len(node.inputs))]
    return _by_input(node, wanted, [_at(cotangents[0], i, x) for i, x in zip(places, node.inputs, strict=True)])  # type: ignore[arg-type]


def _array_append_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Any]) -> Sequence[Any]:
    array, x = node.inputs
    last = _at(cotangents[0], array_length(array), x)  # type: ignore[arg-type]
    return _by_input(node, wanted, [_of_arrays(ARRAY_HEAD, cotangents[0], array), last])


def _array_write_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Any]) -> Sequence[Any]:
    array, i, x = node.inputs
    written = _at(cotangents[0], i, x)  # type: ignore[arg-type]
    others = _of_arrays(ARRAY_HEAD, array_write(cotangents[0], i, _zeros_of(written)), array)  # type: ignore[arg-type]
    return _by_input(node, wanted, [others, None, written])


def _array_read_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Any]) -> Sequence[Any]:
    array, i = node.inputs
    return _by_input(node, wanted, [array_write(_of_arrays(ARRAY_ZEROS, array), i, cotangents[0]), None])  # type: ignore[arg-type]


def _array_stack_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Any]) -> Sequence[Any]:
    recording = _recording("array_unstack")
    out = _array(recording, node.outputs[0].dtype)
    return [_recorded(recording, ARRAY_UNSTACK, (cotangents[0], node.inputs[0]), node.attrs, out)]  # type: ignore[arg-type]


def _array_unstack_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Any]) -> Sequence[Any]:
    x = node.inputs[0]
    assert x is not None
    return _by_input(node, wanted, [array_stack(cotangents[0], x.sizes, *node.attrs), None])


def _array_add_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Any]) -> Sequence[Any]:
    return _by_input(node, wanted, [cotangents[0], cotangents[0]])


def _array_head_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Any]) -> Sequence[Any]:
    return _by_input(node, wanted, [_of_arrays(ARRAY_PAD, cotangents[0], node.inputs[0]), None])


def _array_pad_gradient(node: Node, wanted: list[Variable], cotangents: Sequence[Any]) -> Sequence[Any]:
    return _by_input(node, wanted, [_of_arrays(ARRAY_HEAD, cotangents[0], node.inputs[0]), None])


# Sums and zeros, which autograd makes of all cotangents.
ON_ARRAYS[ops.add] = lambda a, b: _of_arrays(ARRAY_ADD, a, b)
ON_ARRAYS[ops.full_like] = lambda x: _of_arrays(ARRAY_ZEROS, x)


GRADIENT: dict[str, Callable[[Node, list[Variable], Sequence[Tensor | None]], Sequence[Tensor | None]]] = {
    "cond": _cond_gradient, "while": _while_gradient, "py_func": _py_func_gradient, "own_gradient": _own_gradient_gradient,
    "create_array": _array_create_gradient,
    "array_append": _array_append_gradient, "array_write": _array_write_gradient, "array_read": _array_read_gradient,
    "array_stack": _array_stack_gradient, "array_unstack": _array_unstack_gradient, "array_add": _array_add_gradient,
    "array_head": _array_head_gradient, "array_pad": _array_pad_gradient,
}


# How nodes run: rules for the interpreter.

def _run_cond(run: Any, node: Node, env: dict[int, Any]) -> None:
    block = node.blocks[0 if bool(run.value_of(node.inputs[0], env)) else 1]
    for x, value in zip(node.outputs, run.run_block(block, env), strict=True):
        env[id(x)] = value


def _run_while(run: Any, node: Node, env: dict[int, Any]) -> None:
    test, body = node.blocks
    values = [run.value_of(x, env) for x in node.inputs]
    kept: list[list[Any]] = [[] for _ in node.attrs[0]]
    while bool(run.run_block(test, env, values)[0]):
        for history, k in zip(kept, node.attrs[0]):
            history.append(values[k])
        values = run.run_block(body, env, values)
    for x, value in zip(node.outputs, [*values, *kept], strict=True):
        env[id(x)] = value


def _run_array_create(run: Any, node: Node, env: dict[int, Any]) -> None:
    env[id(node.outputs[0])] = [run.value_of(x, env) for x in node.inputs]


def _run_array_append(run: Any, node: Node, env: dict[int, Any]) -> None:
    array, x = (run.value_of(y, env) for y in node.inputs)
    env[id(node.outputs[0])] = [*array, x]


def _run_array_write(run: Any, node: Node, env: dict[int, Any]) -> None:
    array, i, x = (run.value_of(y, env) for y in node.inputs)
    at = int(i)
    at = at + len(array) if at < 0 else at
    if not 0 <= at <= len(array):
        raise IndexError(f"array_write: the position is out of range. Got {at}, expected 0 to {len(array)}, the length of the list.")
    env[id(node.outputs[0])] = [*array[:at], x, *array[at + 1 :]]


def _run_array_read(run: Any, node: Node, env: dict[int, Any]) -> None:
    array, i = (run.value_of(y, env) for y in node.inputs)
    at = int(i)
    if not -len(array) <= at < len(array):
        raise IndexError(f"array_read: the position is out of range. Got {at} for a list of {len(array)}, expected less than that.")
    env[id(node.outputs[0])] = array[at]


def _run_array_length(run: Any, node: Node, env: dict[int, Any]) -> None:
    env[id(node.outputs[0])] = _core.scalar(len(run.value_of(node.inputs[0], env)), int64)


def _run_array_stack(run: Any, node: Node, env: dict[int, Any]) -> None:
    array = run.value_of(node.inputs[0], env)
    axis, concat = node.attrs
    if not array:
        raise ValueError("array_stack: the list is empty. Got no tensors, expected at least one. Let the loop run once.")
    if not concat:
        array = [ops.unsqueeze(x, axes=(axis,)) for x in array]
    env[id(node.outputs[0])] = ops.concat(*array, axis=axis)


def _zeros(x: Any) -> Any:
    return [_zeros(item) for item in x] if isinstance(x, list) else ops.full_like(x, value=0, dtype=x.dtype)


def _sum(x: Any, y: Any) -> Any:
    return [_sum(a, b) for a, b in zip(x, y, strict=True)] if isinstance(x, list) else x + y


def _run_array_zeros(run: Any, node: Node, env: dict[int, Any]) -> None:
    env[id(node.outputs[0])] = _zeros(run.value_of(node.inputs[0], env))


def _run_array_add(run: Any, node: Node, env: dict[int, Any]) -> None:
    env[id(node.outputs[0])] = _sum(*(run.value_of(x, env) for x in node.inputs))


def _run_array_head(run: Any, node: Node, env: dict[int, Any]) -> None:
    array, like = (run.value_of(x, env) for x in node.inputs)
    env[id(node.outputs[0])] = array[: len(like)]


def _run_array_pad(run: Any, node: Node, env: dict[int, Any]) -> None:
    array, like = (run.value_of(x, env) for x in node.inputs)
    env[id(node.outputs[0])] = [*array, *_zeros(like[len(array) :])]


def _run_array_unstack(run: Any, node: Node, env: dict[int, Any]) -> None:
    x, like = (run.value_of(y, env) for y in node.inputs)
    axis, concat = node.attrs
    ends = list(accumulate(piece.shape[axis] if concat else 1 for piece in like))
    pieces = []
    for begin, end in pairwise([0, *ends]):
        piece = ops.slice(x, axes=(axis,), starts=(begin,), ends=(end,), steps=(1,))
        pieces.append(piece if concat else ops.squeeze(piece, axes=(axis,)))
    env[id(node.outputs[0])] = pieces


_printed_times: dict[int, int] = {}


def _run_print(run: Any, node: Node, env: dict[int, Any]) -> None:
    message, _summarize, first_n = node.attrs
    times = _printed_times[id(node)] = _printed_times.get(id(node), 0) + 1
    if first_n < 0 or times <= first_n:
        print(_printed(run.value_of(node.inputs[0], env), message))


def _printed(x: Any, message: str) -> str:
    return f"{message.encode(errors='backslashreplace').decode()} {x}" if message else str(x)  # any text can be printed


def _run_assert(run: Any, node: Node, env: dict[int, Any]) -> None:
    if not bool(run.value_of(node.inputs[0], env)):
        data = "".join(f"\n{x.name}: {run.value_of(x, env)}" for x in node.inputs[1:] if x is not None)
        raise AssertionError(f"{node.attr('message') or 'the condition of an assert does not hold'} ({node.line}){data}")


def _run_own_gradient(run: Any, node: Node, env: dict[int, Any]) -> None:
    for x, y in zip(node.outputs, node.inputs[node.attrs[0] :], strict=True):
        env[id(x)] = run.value_of(y, env)


def _run_py_func(run: Any, node: Node, env: dict[int, Any]) -> None:
    from wherry_tensor.functions.creation import to_tensor

    result = node.attr("function")(*(run.value_of(x, env) for x in node.inputs))
    results = [] if result is None else list(result) if isinstance(result, (list, tuple)) else [result]
    if len(results) != len(node.outputs):
        raise ValueError(f"py_func: got {len(results)} results, expected {len(node.outputs)}, one for each variable in `out`.")
    for x, value in zip(node.outputs, results):
        env[id(x)] = value if isinstance(value, Tensor) else to_tensor(value)


RUN: dict[str, Callable[[Any, Node, dict[int, Any]], None]] = {
    "cond": _run_cond, "while": _run_while, "create_array": _run_array_create, "array_append": _run_array_append,
    "array_write": _run_array_write, "array_read": _run_array_read, "array_length": _run_array_length,
    "array_stack": _run_array_stack, "array_zeros": _run_array_zeros, "array_add": _run_array_add, "array_head": _run_array_head,
    "array_pad": _run_array_pad, "array_unstack": _run_array_unstack,
    "print": _run_print, "assert": _run_assert, "py_func": _run_py_func, "own_gradient": _run_own_gradient,
}


# How nodes are recorded once more.

def _replay_cond(node: Node, env: dict[int, Any], value_of: Callable[[Any], Any]) -> None:
    branches = [lambda block=block: replay_block(block, (), env, value_of) for block in node.blocks]
    for x, value in zip(node.outputs, cond(value_of(node.inputs[0]), *branches), strict=True):
        env[id(x)] = value


def _replay_while(node: Node, env: dict[int, Any], value_of: Callable[[Any], Any]) -> None:
    test, body = node.blocks
    start = [value_of(x) for x in node.inputs]
    ended = while_loop(
        lambda *xs: replay_block(test, xs, env, value_of)[0], lambda *xs: replay_block(body, xs, env, value_of), start
    )
    if node.attrs[0]:
        ended += _keep_history(_recording("while_loop").variable_of(ended[0]).made_by)  # type: ignore[arg-type]
    for x, value in zip(node.outputs, ended, strict=True):
        env[id(x)] = value


def _replay_plain(node: Node, env: dict[int, Any], value_of: Callable[[Any], Any]) -> None:
    recording = _recording(node.op.name)
    outs = tuple(
        _variable(recording.block, x.sizes, x.dtype, unique_name.generate(node.op.name) + ".tmp_0", is_array=x.is_array)
        for x in node.outputs
    )
    inputs = tuple(None if x is None else value_of(x) for x in node.inputs)
    again = recording.record(node.op, inputs, node.attrs, outs)
    given = _with_gradient(recording, again, outs, recording.tensor_of) if node.op.name in GRADIENT else outs
    for x, value in zip(node.outputs, given, strict=True):
        env[id(x)] = value


def _replay_own_gradient(node: Node, env: dict[int, Any], value_of: Callable[[Any], Any]) -> None:
    values = [value_of(x) for x in node.inputs]
    n, passing, places = node.attrs

    def backward(cotangents: list[Tensor | None]) -> list[Tensor | None]:
        found: list[Tensor | None] = [None] * n
        outs = replay_block(node.blocks[0], [ct for ct in cotangents if ct is not None], env, value_of)
        for place, g in zip(places, outs, strict=True):
            found[place] = g
        return found

    constant = [x for i, x in enumerate(values[n:]) if i not in passing]
    fresh = own_gradient(values[:n], values[n:], backward if node.blocks else None, constant)
    for x, value in zip(node.outputs, fresh, strict=True):
        env[id(x)] = value


_REPLAY_WITH_BLOCKS = {"cond": _replay_cond, "while": _replay_while, "own_gradient": _replay_own_gradient}
REPLAY: dict[str, Callable[[Node, dict[int, Any], Callable[[Any], Any]], None]] = {
    name: _REPLAY_WITH_BLOCKS.get(name, _replay_plain) for name in RUN
}


# How autograd is told of nodes that are in the program.

def _retrace(recording: Capture, node: Node, env: dict[int, Any], value_of: Callable[[Any], Any]) -> None:
    outs = [ghost_of(recording, x) for x in node.outputs]
    given = _with_gradient(recording, node, outs, value_of) if node.op.name in GRADIENT else outs
    for x, value in zip(node.outputs, given, strict=True):
        env[id(x)] = value


RETRACE: dict[str, Callable[[Capture, Node, dict[int, Any], Callable[[Any], Any]], None]] = dict.fromkeys(RUN, _retrace)
