"""Sequences and optionals. A sequence is a list; in a recorded loop a list of the program."""
import wherry_program.program.control as flow
from wherry_onnx_files.column import reads
from wherry_onnx_files.numbers import Numbers, is_known
from wherry_onnx_files.ops.movement import cut
from wherry_tensor import _core, ops


def _items(o, i=0):
    found = o.value(i)
    if not isinstance(found, list) and not getattr(found, "is_array", False):
        raise o.bad(f"input {i} is not a sequence", "one")
    return found


def _place(o, i, length, most):
    """A position, counted from the front; without the input the last one."""
    at = int(o.scalar(i, "the position")) if o.has(i) else most
    at = at + length if at < 0 else at
    if not 0 <= at <= most:
        raise o.bad(f"it asks for position {at} of a sequence of {length}", "one that is there")
    return at


@reads("SequenceEmpty", folds=False, keeps=False)
def read_sequence_empty(o):
    return []


@reads("SequenceConstruct", folds=False, keeps=False)
def read_sequence_construct(o):
    return o.xs()


@reads("SequenceInsert", folds=False, keeps=False)
def read_sequence_insert(o):
    items, x = _items(o), o.x(1)
    if not isinstance(items, list):
        if o.has(2):
            raise o.unsupported("a position in a sequence of a loop", "the end")
        return flow.array_append(items, x)
    at = _place(o, 2, len(items), len(items))
    return [*items[:at], x, *items[at:]]


@reads("SequenceErase", folds=False, keeps=False)
def read_sequence_erase(o):
    items = _items(o)
    at = _place(o, 1, len(items), len(items) - 1)
    return [*items[:at], *items[at + 1 :]]


@reads("SequenceAt", folds=False, keeps=False)
def read_sequence_at(o):
    items = _items(o)
    return items[_place(o, 1, len(items), len(items) - 1)]


@reads("SequenceLength", folds=False, keeps=False)
def read_sequence_length(o):
    items = _items(o)
    return Numbers(len(items)) if isinstance(items, list) else flow.array_length(items)


@reads("ConcatFromSequence", folds=False, keeps=False)
def read_concat_from_sequence(o):
    items, new = _items(o), o.flag("new_axis")
    if not items:
        raise o.bad("its sequence is empty", "a tensor or more")
    axis = o.integer("axis") % (items[0].ndim + new)
    return ops.concat(*(ops.unsqueeze(x, axes=(axis,)) if new else x for x in items), axis=axis)


@reads("SplitToSequence", folds=False, keeps=False)
def read_split_to_sequence(o):
    x = o.x(0)
    axis = o.integer("axis") % x.ndim
    n = x.shape[axis]
    if not is_known(n):
        raise o.open_size("the size that it splits")
    o.bound(n, 1 << 16, "the size that it splits")
    if not o.has(1):
        parts = [cut(x, axis, i, i + 1) for i in range(n)]
        return parts if o.flag("keepdims", True) else [ops.squeeze(p, axes=(axis,)) for p in parts]
    given = o.array(1, "the sizes")
    if given.ndim:
        sizes = [int(m) for m in given]
    else:
        each = int(given)
        if each < 1:
            raise o.bad(f"it splits into parts of {each}", "a positive number")
        sizes = [each] * (n // each) + ([n % each] if n % each else [])
    if sum(sizes) != n:
        raise o.bad(f"it splits {n} into {sizes}", "sizes whose sum it is")
    ends = [sum(sizes[: i + 1]) for i in range(len(sizes))]
    return [cut(x, axis, e - s, e) for s, e in zip(sizes, ends)]


@reads("SequenceMap", folds=False, keeps=False)
def read_sequence_map(o):
    body = o.graph("body")
    items = _items(o)
    others = [o.value(i) for i in range(1, len(o))]
    found = [
        o.reader.inner(body, [x, *(y[i] if isinstance(y, list) else y for y in others)]) for i, x in enumerate(items)
    ]
    return tuple([x.tensor() if isinstance(x, Numbers) else x for x in each] for each in zip(*found)) if found else tuple([] for _ in body.outputs)


# Optionals.


@reads("Optional", folds=False, keeps=False)
def read_optional(o):
    return o.value(0) if o.has(0) else None


@reads("OptionalHasElement", folds=False, keeps=False)
def read_optional_has_element(o):
    return _core.scalar(bool(o.has(0) and o.value(0) is not None), _core.bool_)


@reads("OptionalGetElement", folds=False, keeps=False)
def read_optional_get_element(o):
    found = o.value(0)
    if found is None:
        raise o.bad("its optional is empty", "a value")
    return found
