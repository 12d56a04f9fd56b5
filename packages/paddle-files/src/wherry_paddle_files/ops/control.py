"""Conditionals, loops and lists of tensors. A list of Paddle that was never written to is empty; others are overwritten."""
import functools

import wherry_program.program.control as flow
import wherry_tensor as api
from wherry_paddle_files.column import reads, writes_node
from wherry_paddle_files.desc import EMPTY, dtype_name
from wherry_paddle_files.undefined import choice, is_undefined, loop
from wherry_paddle_files.writing import Value, long
from wherry_program.program.ir import Variable
from wherry_tensor import _core, ops
from wherry_tensor.dtype import as_dtype, is_floating_point
from wherry_tensor.errors import UnimplementedError
from wherry_tensor.sizes import equals


class Branch:
    """An output of a conditional block that has no value before: it exists only if the condition holds."""

    def __init__(self, op, name):
        self.op, self.name = op, name


@reads("conditional_block", "conditional_block_infer")
def read_conditional_block(o):
    """Outputs that exist before are chosen now; others when `select_input` puts two blocks together."""
    reader = o.reader
    names = [name for name in o.desc.output("Out") if name != EMPTY]
    old = [name for name in names if reader.has(name) and not isinstance(reader.value(name, o), Branch)]
    for name in names:
        if name not in old:
            reader.bind(name, Branch(o, name), o)
    if old:
        before = [reader.value(name, o) for name in old]
        found = choice(api.reshape(o.x("Cond"), []), lambda: _run(o, old), lambda: before)
        for name, x in zip(old, found):
            reader.bind(name, x, o)
    return None


def _run(o, names):
    return o.reader.inner(o.block(), {}, lambda: [o.reader.value(name, o) for name in names])


def _side(o, x, other):
    """What gives one side of a choice: of a block, or a variable from before, as early returns and `break` are written."""
    if isinstance(x, Branch):
        return lambda: _run(x.op, [x.name])
    if is_undefined(x):
        return lambda: [x]
    described = o.reader.described(other.name) if isinstance(other, Branch) else None
    rank = x.ndim if described is None or described.tensor is None else len(described.tensor.dims)
    # Where this side has no value, Paddle writes one element, which nothing reads; a choice wants both sides of one rank.
    return lambda: [_of_rank(x, rank)]


@reads("select_input")
def read_select_input(o):
    reader = o.reader
    chosen = o.xs("X")
    if len(chosen) != 2:
        raise o.bad(f"it chooses among {len(chosen)}", "two")
    mask = api.cast(api.reshape(o.x("Mask"), []), "bool")
    if not all(isinstance(x, Branch) for x in chosen):
        no, yes = (_side(o, x, other) for x, other in zip(chosen, reversed(chosen)))
        return choice(mask, yes, no)[0]
    # All that is chosen between the same two blocks becomes one choice; the body of a loop may be read twice, and has one in each.
    pair = chosen[0].op, chosen[1].op
    whole = reader.choices.get(pair)
    if whole is None:
        pairs = reader.pairs_of(*pair)
        results = choice(mask, lambda: _run(chosen[1].op, [b for _, b in pairs]), lambda: _run(chosen[0].op, [a for a, _ in pairs]))
        whole = reader.choices[pair] = dict(zip(pairs, results))
    return whole[chosen[0].name, chosen[1].name]


def _of_rank(x, rank):
    """One element with as many axes as before: Paddle's conditions and counters are `[]` here and `[1]` there, loops here want one rank."""
    if x.ndim == rank or not all(equals(n, 1) for n in x.shape):
        return x
    return api.reshape(x, [1] * rank)


@reads("while")
def read_while(o):
    reader = o.reader
    block = o.block()
    condition = o.desc.input("Condition")[0]
    written = reader.written_in(block)
    if condition not in written:
        raise o.bad(f"its block does not write the condition {condition!r}", "a block that does")
    for name in written:
        if not reader.has(name) and reader.is_array(name):
            reader.value(name, o)
    lasting = reader.lasting(written, o) | reader.momentary(block, written, o)
    names = [name for name in written if reader.has(name) and name not in lasting and not isinstance(reader.value(name, o), Branch)]
    at = names.index(condition)

    def body(*values):
        return reader.inner(block, dict(zip(names, values)), lambda: [_of_rank(reader.value(name, o), x.ndim) for name, x in zip(names, values)])

    found = loop(lambda *values: api.reshape(values[at], []), body, [reader.value(name, o) for name in names])
    for name, x in zip(names, found):
        reader.bind(name, x, o)
    return None


# Of Paddle 3 (`pir`): blocks that say what they take and give.


@reads("pd_op.if")
def read_pd_if(o):
    then, otherwise = (functools.partial(_given, o, o.block(f"{side}_block"), {}, o.attr(side)) for side in ("then", "else"))
    return {"Out": choice(api.reshape(o.x("Cond"), []), then, otherwise)}


@reads("pd_op.while")
def read_pd_while(o):
    block, carried, yielded = o.block(), o.attr("carried"), o.attr("yielded")

    def body(_, *values):
        condition, *found = _given(o, block, dict(zip(carried, values)), yielded)
        return [api.reshape(condition, []), *found]

    return {"Out": loop(lambda condition, *_: condition, body, [api.reshape(o.x("Condition"), []), *o.xs("X")])[1:]}


def _given(o, block, taken, names):
    """What a block gives; a parameter or an outer value is copied, because a choice or round has results of its own."""
    return o.reader.inner(block, taken, lambda: [o.reader.value(name, o) for name in names])


# Gradients. What a branch or a round computed is what autograd says of the choice or loop that it was read as.


@reads("select_output")
def read_select_output(o):
    """The cotangent for both branches: the gradient of the branch that was not taken is zero."""
    return {"Out": [o.x("X")] * len(o.desc.output("Out"))}


@reads("conditional_block_grad")
def read_conditional_block_grad(o):
    """Read the branch again as a conditional without else branch, and differentiate that."""
    reader = o.reader
    index = o.block().forward
    if not isinstance(index, int) or not 0 < index < len(reader.desc.blocks):
        raise o.bad(f"its block is the backward pass of block {index!r}", "the index of a block")
    forward = reader.desc.blocks[index]
    given = [(name, reader.value(ct, o)) for name, ct in zip(o.desc.input("Out"), o.desc.input("Out@GRAD")) if ct != EMPTY and reader.has(ct)]
    begin = len(reader.recording.block.nodes)

    def branch():
        return reader.inner(forward, {}, lambda: [ops.copy(reader.value(name, o)) for name, _ in given])

    chosen = flow.cond(api.reshape(o.x("Cond"), []), branch, lambda: [api.zeros_like(ct) for _, ct in given])
    nodes = reader.recording.block.nodes[begin:]
    if any(each.op.random for node in nodes for inner in node.blocks for each in inner.walk()):
        raise o.bad("its branch draws random numbers, others than those that are differentiated", "a branch without dropout and the like")
    return _gradients(o, "Input", nodes, chosen, [ct for _, ct in given], {})


@reads("while_grad")
def read_while_grad(o):
    found = o.reader.made(o.desc.output("X@GRAD"), "while") or o.reader.made(o.desc.input("Out"), "while")
    if found is None:
        raise o.bad("there is no loop before it that writes what it reads", "an operator 'while'")
    _, nodes, before = found
    pairs = [(ct.split("@GRAD")[0], ct) for ct in o.desc.input("Out@GRAD") if ct != EMPTY and o.reader.has(ct)]
    outputs, cotangents = ([o.reader.value(pair[i], o) for pair in pairs] for i in (0, 1))
    return _gradients(o, "X", nodes, outputs, cotangents, before)


def _gradients(o, slot, nodes, outputs, cotangents, before):
    """The gradients by the inputs of a slot; `before` has values of names that were written over since."""
    reader = o.reader
    targets = o.desc.output(f"{slot}@GRAD")
    wanted = [
        (i, before[name] if name in before else reader.value(name, o))
        for i, (name, ct) in enumerate(zip(o.desc.input(slot), targets)) if ct != EMPTY
    ]  # fmt: skip
    for i, x in wanted:
        if not isinstance(x, Variable) or not is_floating_point(x):
            raise o.bad(f"it differentiates by {o.desc.input(slot)[i]!r}", "a floating tensor")
    results = reader.differentiated(nodes, outputs, [x for _, x in wanted], cotangents)
    found = [None] * len(targets)
    for (i, _), result in zip(wanted, results):
        found[i] = result
    return {f"{slot}@GRAD": found}


@reads("write_to_array")
def read_write_to_array(o):
    reader, name = o.reader, o.desc.output("Out")[0]
    x = o.x("X")
    array = reader.value(name, o) if reader.has(name) else flow.create_array(x.dtype)
    return flow.array_write(array, api.reshape(o.x("I"), []), x)


@reads("create_array", "init_array")
def read_create_array(o):
    described = o.out()


    tensor = described.tensor if described is not None else None
    return flow.create_array(_core.float32 if tensor is None else as_dtype(dtype_name(tensor.dtype, "a list"), "load"))


@reads("read_from_array")
def read_read_from_array(o):
    described = o.out()
    shape = described.tensor.dims if described is not None and described.tensor is not None else [-1]
    return flow.array_read(o.x("X"), api.reshape(o.x("I"), []), shape)


@reads("lod_array_length")
def read_array_length(o):
    return api.reshape(flow.array_length(o.x("X")), [1])


@reads("tensor_array_to_tensor")
def read_tensor_array_to_tensor(o):
    described = o.out()
    shape = described.tensor.dims if described is not None and described.tensor is not None else [-1]
    return flow.array_stack(o.x("X"), shape, o.integer("axis"), not o.flag("use_stack"))


@reads("print")
def read_print(o):
    x = o.x("In")
    flow.print_tensor(x, o.text("message", ""), o.integer("summarize", 20), o.integer("first_n", -1))
    return ops.copy(x)


@reads("assert")
def read_assert(o):
    flow.assert_true(o.x("Cond"), "Assert", o.xs("Data"))
    return {}


# Writing.


@writes_node("cond")
def write_cond(w, node):
    pred = w.value(node.inputs[0])
    pred = pred if pred.shape == (1,) else w.reshape(pred, (1,))
    other = w("logical_not", {"X": pred})
    chosen = []
    for block, condition in zip(node.blocks, (pred, other)):
        outer = [w.declare(_placeholder(w, x, "cond")) for x in node.outputs]
        with w.inner() as index:
            w.nodes(block)
            for x, target in zip(block.outputs, outer):
                w("assign", {"X": w.value(x)}, {}, into={"Out": target})
        scope = w.step_scopes()
        given = {"Cond": [condition], "Input": w.read_by(index)}
        made = {"Out": [*outer, *w.written_by(index, outer)], "Scope": [scope]}
        w.run_block("conditional_block", index, given, made, {"is_scalar_condition": True})
        chosen.append(outer)
    mask = w.cast(pred, "int32")
    for x, yes, no in zip(node.outputs, *chosen):
        w.bind(x, w("select_input", {"X": [no, yes], "Mask": mask}, dtype=x.dtype, shape=x.sizes))


@writes_node("while")
def write_while(w, node):
    if node.attrs[0]:
        raise UnimplementedError(
            "paddle files: a loop whose gradient is computed cannot be written. Got a loop that keeps the values of each round, expected one of a "
            "program without gradients. Save the program before its backward pass is added."
        )
    test, body = node.blocks
    carried = []
    for x, out in zip(node.inputs, node.outputs):
        value = w("assign", {"X": w.value(x)}, dtype=out.dtype, shape=out.sizes)
        value.array = out.is_array
        w.bind(out, value)
        carried.append(value)

    def holds():
        for x, value in zip(test.inputs, carried):
            w.stand_for(x, value)
        w.nodes(test)
        found = w.value(test.outputs[0])
        return found if found.shape == (1,) else w.reshape(found, (1,))

    condition = w("assign", {"X": holds()}, dtype="bool", shape=(1,))
    with w.inner() as index:
        for x, value in zip(body.inputs, carried):
            w.stand_for(x, value)
        w.nodes(body)
        results = [w.value(x) for x in body.outputs]
        if any(value in carried and value is not target for value, target in zip(results, carried)):
            results = [w("assign", {"X": value}) if value in carried else value for value in results]
        for value, target in zip(results, carried):
            w.assign_into(target, value)
        w.assign_into(condition, holds())
    written = [*carried, condition]
    w.run_block(
        "while", index, {"X": [*written, *w.read_by(index, written)], "Condition": [condition]},
        {"Out": [*written, *w.written_by(index, written)], "StepScopes": [w.step_scopes()]}, {"is_test": True},
    )


def _placeholder(w, x, base):
    value = Value(w.fresh(base), x.dtype.name, x.sizes)
    value.array = x.is_array
    return value


def _index(w, x):
    return w.cast(w.value(x) if w.value(x).shape == (1,) else w.reshape(w.value(x), (1,)), "int64")


def _array_like(w, node):
    """A copy of the list that the node takes: Paddle's lists are overwritten."""
    out, source = node.outputs[0], node.inputs[0]
    if w.used_once(source):
        w.stand_for(out, w.value(source))
        return w.value(source)
    value = w("assign", {"X": w.value(source)}, dtype=out.dtype, shape=())
    value.array = True
    w.bind(out, value)
    return value


@writes_node("create_array")
def write_create_array(w, node):
    out = node.outputs[0]
    value = w.declare(_placeholder(w, out, "array"))
    value.array = True
    w.bind(out, value)
    for i, x in enumerate(node.inputs):
        w("write_to_array", {"X": w.value(x), "I": w.constant(i, "int64", (1,))}, into={"Out": value})


@writes_node("array_append")
def write_array_append(w, node):
    value = _array_like(w, node)
    length = w("lod_array_length", {"X": value}, dtype="int64", shape=(1,))
    w("write_to_array", {"X": w.value(node.inputs[1]), "I": length}, into={"Out": value})


@writes_node("array_write")
def write_array_write(w, node):
    value = _array_like(w, node)
    w("write_to_array", {"X": w.value(node.inputs[2]), "I": _index(w, node.inputs[1])}, into={"Out": value})


@writes_node("array_read")
def write_array_read(w, node):
    out = node.outputs[0]
    w.bind(out, w("read_from_array", {"X": w.value(node.inputs[0]), "I": _index(w, node.inputs[1])}, dtype=out.dtype, shape=out.sizes))


@writes_node("array_length")
def write_array_length(w, node):
    w.bind(node.outputs[0], w.reshape(w("lod_array_length", {"X": w.value(node.inputs[0])}, dtype="int64", shape=(1,)), ()))


@writes_node("array_stack")
def write_array_stack(w, node):
    axis, concat = node.attrs
    out = node.outputs[0]
    attrs, outs = {"axis": axis, "use_stack": not concat}, ("Out", "~OutIndex")
    given = {"X": w.value(node.inputs[0])}
    w.bind(out, w("tensor_array_to_tensor", given, attrs, outs, dtype=[out.dtype, "int32"], shape=out.sizes))


@writes_node("print")
def write_print(w, node):
    message, summarize, first_n = node.attrs
    attrs = {
        "first_n": first_n, "message": message, "summarize": summarize, "print_tensor_name": True, "print_tensor_type": True,
        "print_tensor_shape": True, "print_tensor_layout": True, "print_tensor_lod": True, "print_phase": "FORWARD", "is_forward": True,
    }
    w("print", {"In": w.value(node.inputs[0])}, attrs)


@writes_node("assert")
def write_assert(w, node):
    condition = w.value(node.inputs[0])
    w("assert", {"Cond": condition, "Data": [w.value(x) for x in node.inputs[1:]]}, {"summarize": long(20)}, ())


@writes_node("own_gradient")
def write_own_gradient(w, node):
    for x, out in zip(node.inputs[node.attr("n") :], node.outputs):
        w.bind(out, w("assign", {"X": w.value(x)}, dtype=out.dtype, shape=out.sizes))
