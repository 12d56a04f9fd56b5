# View ops: a new shape, strides and offset on the same memory.

cdef inline int64_t int_at(tuple t, Py_ssize_t i) except? -1:
    cdef int overflow = 0
    cdef int64_t value = PyLong_AsLongLongAndOverflow(<object>PyTuple_GET_ITEM(t, i), &overflow)
    if overflow:
        raise ValueError(f"an attribute is too large. Got {<object>PyTuple_GET_ITEM(t, i)}, expected a 64-bit integer.")
    return value


cdef inline int axis_at(tuple t, Py_ssize_t i) except? -1:
    """The same for an axis; one that no int holds is out of range for every tensor."""
    cdef int64_t value = int_at(t, i)
    if not -1024 < value < 1024:
        return 1024 if value > 0 else -1024
    return <int>value


cdef inline tuple tuple_at(Op op, tuple attrs, Py_ssize_t i):
    value = <object>PyTuple_GET_ITEM(attrs, i)
    if not PyTuple_CheckExact(value):
        check_attr_types(op, attrs)
        raise TypeError(f"{op.name}: attribute '{op.attr_names[i]}' is missing. Got {short(value)}, expected a tuple of ints.")
    return <tuple>value


cdef int reshape_steps(Tensor x, Tensor out) noexcept:
    """Strides for a view of `x` with the shape of `out`, or 0 when there are none.

    Walks both shapes together: a run of axes of `x` that lie in memory like one axis may be cut
    anew, and only such a run.
    """
    cdef int i = 0, j = 0, k, m, rank = 0
    cdef int64_t old_dims[WRY_MAX_RANK]
    cdef int64_t old_steps[WRY_MAX_RANK]
    cdef int64_t have, want
    for k in range(x.t.rank):
        if x.dims[k] != 1:
            old_dims[rank] = x.dims[k]
            old_steps[rank] = x.steps[k]
            rank += 1
    while i < rank and j < out.t.rank:
        have = old_dims[i]
        want = out.dims[j]
        k = i
        m = j
        while have != want:
            if have < want:
                k += 1
                have *= old_dims[k]
            else:
                m += 1
                want *= out.dims[m]
        while i < k:
            if old_steps[i] != old_steps[i + 1] * old_dims[i + 1]:
                return 0
            i += 1
        out.steps[m] = old_steps[k]
        while m > j:
            out.steps[m - 1] = out.steps[m] * out.dims[m]
            m -= 1
        # `m` came down to j; skip the axes that were laid out, and axes of size 1 after them
        want = 1
        while want != have:
            want *= out.dims[j]
            j += 1
        i = k + 1
    while j < out.t.rank:
        out.steps[j] = 1
        j += 1
    return 1


cdef int64_t product(int32_t rank, const int64_t *shape) noexcept:
    """Of the sizes that are known, those of -1 left out; -1 where it is larger than any tensor."""
    cdef int64_t result = 1
    cdef int i
    for i in range(rank):
        if shape[i] == 0:
            return 0
    for i in range(rank):
        if shape[i] > 0:
            if result > (<int64_t>1 << 62) // shape[i]:
                return -1
            result *= shape[i]
    return result


cdef Tensor reshaped(Tensor x, int32_t rank, const int64_t *shape):
    """None when the sizes do not match."""
    cdef Tensor out
    cdef int64_t size = 1, known = 1
    cdef int i, unknown = -1
    for i in range(rank):
        if shape[i] == -1:
            if unknown >= 0:
                return None
            unknown = i
        elif shape[i] < 0:
            return None
    known = product(rank, shape)
    if known < 0:
        return None
    if unknown >= 0:
        if known == 0 or x.t.size % known:
            return None
        size = x.t.size
    else:
        size = known
    if size != x.t.size:
        return None
    out = new_view(x)
    out.t.rank = rank
    for i in range(rank):
        out.dims[i] = shape[i]
    if unknown >= 0:
        out.dims[unknown] = x.t.size // known
    if x.flags & CONTIGUOUS or size == 0:
        size = 1
        for i in range(rank - 1, -1, -1):
            out.steps[i] = size
            size = <int64_t>(<uint64_t>size * <uint64_t>out.dims[i])  # beside a size of 0 it may not fit
    elif not reshape_steps(x, out):
        return reshaped(to_contiguous(x), rank, shape)
    settle(out)
    return out


cdef Tensor broadcast_view(Tensor x, int32_t rank, const int64_t *shape):
    cdef Tensor out
    cdef int i, lead = rank - x.t.rank
    if lead < 0:
        return None
    out = new_view(x)
    out.t.rank = rank
    for i in range(rank):
        out.dims[i] = shape[i]
        if i < lead:
            out.steps[i] = 0
        else:
            if shape[i] == -1:
                out.dims[i] = x.dims[i - lead]
            if x.dims[i - lead] == out.dims[i]:
                out.steps[i] = x.steps[i - lead]
            elif x.dims[i - lead] == 1:
                out.steps[i] = 0
            else:
                return None
        if out.dims[i] < 0:
            return None
    if product(rank, out.dims) < 0:
        return None
    settle(out)
    return out


# The answer of each view op, or None when shapes and attributes do not fit. `x` is inputs[0].

cdef int sizes_at(Op op, tuple attrs, int64_t *sizes) except -2:
    """The first attribute, a shape: its rank, or -1 when that is too large."""
    cdef tuple t = tuple_at(op, attrs, 0)
    cdef int rank = <int>PyTuple_GET_SIZE(t), i
    if rank > WRY_MAX_RANK:
        return -1
    for i in range(rank):
        sizes[i] = int_at(t, i)
    return rank


cdef Tensor view_reshape(Op op, Tensor x, PyObject **inputs, tuple attrs):
    cdef int64_t sizes[WRY_MAX_RANK]
    cdef int rank = sizes_at(op, attrs, sizes)
    return None if rank < 0 else reshaped(x, rank, sizes)


cdef Tensor view_broadcast_to(Op op, Tensor x, PyObject **inputs, tuple attrs):
    cdef int64_t sizes[WRY_MAX_RANK]
    cdef int rank = sizes_at(op, attrs, sizes)
    return None if rank < 0 else broadcast_view(x, rank, sizes)


cdef Tensor view_select(Op op, Tensor x, PyObject **inputs, tuple attrs):
    cdef Tensor out
    cdef int axis, i, j
    cdef int64_t start, n
    axis = axis_at(attrs, 0)
    start = int_at(attrs, 1)
    if axis < 0 or axis >= x.t.rank:
        return None
    n = x.dims[axis]
    if start < 0:
        start += n
    if start < 0 or start >= n:
        return None
    out = new_view(x)
    out.t.rank = x.t.rank - 1
    for i in range(out.t.rank):
        j = i if i < axis else i + 1
        out.dims[i] = x.dims[j]
        out.steps[i] = x.steps[j]
    out.t.data = <char *>x.t.data + start * x.steps[axis] * itemsizes[x.t.dtype]
    settle(out)
    return out


cdef Tensor view_slice(Op op, Tensor x, PyObject **inputs, tuple attrs):
    cdef Tensor out
    cdef tuple t, starts, ends, steps
    cdef int rank, axis, i
    cdef int64_t start, end, step, n, offset
    t = tuple_at(op, attrs, 0)
    starts = tuple_at(op, attrs, 1)
    ends = tuple_at(op, attrs, 2)
    steps = tuple_at(op, attrs, 3)
    rank = <int>PyTuple_GET_SIZE(t)
    if PyTuple_GET_SIZE(starts) != rank or PyTuple_GET_SIZE(ends) != rank or PyTuple_GET_SIZE(steps) != rank:
        return None
    out = new_alias(x)
    offset = 0
    for i in range(rank):
        axis = axis_at(t, i)
        if axis < 0 or axis >= x.t.rank:
            return None
        n = out.dims[axis]  # of the result so far: an axis given twice is a slice of a slice
        start = int_at(starts, i)
        end = int_at(ends, i)
        step = int_at(steps, i)
        if step == 0:
            return None
        # A larger step reaches no more, and products with it would not fit into 64 bits.
        step = n + 1 if step > n + 1 else (-n - 1 if step < -n - 1 else step)
        # Python's rules: negative counts from the end, then clamp into what the step can reach.
        if start < 0:
            start += n
        if end < 0:
            end += n
        if step > 0:
            start = 0 if start < 0 else (n if start > n else start)
            end = 0 if end < 0 else (n if end > n else end)
            n = (end - start + step - 1) // step if end > start else 0
        else:
            start = -1 if start < 0 else (n - 1 if start > n - 1 else start)
            end = -1 if end < 0 else (n - 1 if end > n - 1 else end)
            n = (start - end - step - 1) // -step if start > end else 0
        if n > 0:
            offset += start * out.steps[axis]
        out.dims[axis] = n
        out.steps[axis] *= step
    out.t.data = <char *>x.t.data + offset * itemsizes[x.t.dtype]
    settle(out)
    return out


cdef Tensor view_transpose(Op op, Tensor x, PyObject **inputs, tuple attrs):
    cdef Tensor out
    cdef tuple t
    cdef int rank, axis, i
    cdef uint32_t mask = 0
    t = tuple_at(op, attrs, 0)
    rank = x.t.rank
    if PyTuple_GET_SIZE(t) != rank:
        return None
    out = new_view(x)
    out.t.rank = rank
    for i in range(rank):
        axis = axis_at(t, i)
        if axis < 0 or axis >= rank or (mask >> axis) & 1:
            return None
        mask |= <uint32_t>1 << axis
        out.dims[i] = x.dims[axis]
        out.steps[i] = x.steps[axis]
    settle(out)
    return out


cdef Tensor view_squeeze(Op op, Tensor x, PyObject **inputs, tuple attrs):
    cdef Tensor out
    cdef tuple t
    cdef int axis, i, j
    cdef uint32_t mask = 0
    t = tuple_at(op, attrs, 0)
    for i in range(<int>PyTuple_GET_SIZE(t)):
        axis = axis_at(t, i)
        if axis < 0 or axis >= x.t.rank or x.dims[axis] != 1:
            return None
        mask |= <uint32_t>1 << axis
    out = new_view(x)
    j = 0
    for i in range(x.t.rank):
        if not (mask >> i) & 1:
            out.dims[j] = x.dims[i]
            out.steps[j] = x.steps[i]
            j += 1
    out.t.rank = j
    settle(out)
    return out


cdef Tensor with_axes(Tensor x, tuple axes, int rank, uint32_t *mask):
    """`x` with axes of size 1 where `axes` says, `rank` in all; their bits in `mask`. The caller settles it."""
    cdef Tensor out
    cdef int axis, i, j
    if rank > WRY_MAX_RANK:
        return None
    for i in range(<int>PyTuple_GET_SIZE(axes)):
        axis = axis_at(axes, i)
        if axis < 0 or axis >= rank or (mask[0] >> axis) & 1:
            return None
        mask[0] |= <uint32_t>1 << axis
    if x.t.rank + <int>PyTuple_GET_SIZE(axes) != rank:
        return None
    out = new_view(x)
    out.t.rank = rank
    j = 0
    for i in range(rank):
        if (mask[0] >> i) & 1:
            out.dims[i] = 1
            out.steps[i] = 0 if j == x.t.rank else x.dims[j] * x.steps[j]
        else:
            out.dims[i] = x.dims[j]
            out.steps[i] = x.steps[j]
            j += 1
    return out


cdef Tensor view_unsqueeze(Op op, Tensor x, PyObject **inputs, tuple attrs):
    cdef tuple axes = tuple_at(op, attrs, 0)
    cdef uint32_t mask = 0
    cdef Tensor out = with_axes(x, axes, x.t.rank + <int>PyTuple_GET_SIZE(axes), &mask)
    if out is not None:
        settle(out)
    return out


cdef Tensor view_unreduce_like(Op op, Tensor x, PyObject **inputs, tuple attrs):
    cdef Tensor like = <Tensor>inputs[1], out
    cdef tuple axes = tuple_at(op, attrs, 0)
    cdef uint32_t mask = 0
    cdef int i
    if int_at(attrs, 1):
        return broadcast_view(x, like.t.rank, like.dims)
    out = with_axes(x, axes, like.t.rank, &mask)
    if out is None:
        return None
    for i in range(like.t.rank):
        if (mask >> i) & 1:
            out.dims[i] = like.dims[i]
            out.steps[i] = 0
        elif out.dims[i] != like.dims[i]:
            return None
    settle(out)
    return out


cdef Tensor view_reshape_like(Op op, Tensor x, PyObject **inputs, tuple attrs):
    cdef Tensor like = <Tensor>inputs[1]
    return reshaped(x, like.t.rank, like.dims)


cdef Tensor view_broadcast_like(Op op, Tensor x, PyObject **inputs, tuple attrs):
    cdef Tensor like = <Tensor>inputs[1]
    return broadcast_view(x, like.t.rank, like.dims)


cdef Tensor view_diagonal(Op op, Tensor x, PyObject **inputs, tuple attrs):
    cdef Tensor out
    cdef int axis, axis2, rank, i, j
    cdef int64_t offset, start, n
    offset = int_at(attrs, 0)
    axis = axis_at(attrs, 1)
    axis2 = axis_at(attrs, 2)
    rank = x.t.rank
    if axis < 0 or axis >= rank or axis2 < 0 or axis2 >= rank or axis == axis2:
        return None
    out = new_view(x)
    j = 0
    for i in range(rank):
        if i != axis and i != axis2:
            out.dims[j] = x.dims[i]
            out.steps[j] = x.steps[i]
            j += 1
    n = min(x.dims[axis], x.dims[axis2] - offset) if offset >= 0 else min(x.dims[axis] + offset, x.dims[axis2])
    if n < 0:
        n = 0
    out.dims[j] = n
    out.steps[j] = x.steps[axis] + x.steps[axis2]
    out.t.rank = j + 1
    if n > 0:
        start = offset * x.steps[axis2] if offset >= 0 else -offset * x.steps[axis]
        out.t.data = <char *>x.t.data + start * itemsizes[x.t.dtype]
    settle(out)
    return out


cdef Tensor view_as_complex(Op op, Tensor x, PyObject **inputs, tuple attrs):
    cdef Tensor out
    cdef int rank, i
    cdef bint odd = False
    rank = x.t.rank
    if rank == 0 or x.dims[rank - 1] != 2 or (x.t.dtype != WRY_FLOAT32 and x.t.dtype != WRY_FLOAT64):
        return None
    for i in range(rank - 1):
        if x.steps[i] & 1 and x.dims[i] > 1:
            odd = True
    if odd or x.steps[rank - 1] != 1:
        x = to_contiguous(x)
    out = new_view(x)
    out.t.rank = rank - 1
    out.t.dtype = WRY_COMPLEX64 if x.t.dtype == WRY_FLOAT32 else WRY_COMPLEX128
    for i in range(rank - 1):
        out.dims[i] = x.dims[i]
        out.steps[i] = x.steps[i] // 2
    settle(out)
    return out


cdef Tensor view_as_real(Op op, Tensor x, PyObject **inputs, tuple attrs):
    cdef Tensor out
    cdef int rank, i
    rank = x.t.rank
    if rank >= WRY_MAX_RANK or x.t.dtype < WRY_COMPLEX64:
        return None
    out = new_view(x)
    out.t.rank = rank + 1
    out.t.dtype = WRY_FLOAT32 if x.t.dtype == WRY_COMPLEX64 else WRY_FLOAT64
    for i in range(rank):
        out.dims[i] = x.dims[i]
        out.steps[i] = x.steps[i] * 2
    out.dims[rank] = 2
    out.steps[rank] = 1
    settle(out)
    return out


cdef Tensor view_by_rule(Op op, Tensor x, PyObject **inputs, Py_ssize_t n, tuple attrs):
    """A view op of another package: its rule, in Python, says where in the memory of `x` the result is."""
    cdef Py_ssize_t i
    find_columns()
    rule = column_view.get(op)
    if rule is None:
        raise NotImplementedError(
            f"no view rule for '{op.name}'. Got a call, expected a rule in the column 'view'. "
            f"Add view_{op.name} to the module that declares the op."
        )
    meta = infer_metas(op, inputs, n, attrs)[0]  # refuses what does not fit
    named = attr_dict(op, attrs)
    rest = [None if inputs[i] == <PyObject *>None else layout_of(<Tensor>inputs[i]) for i in range(1, n)]
    place = rule(layout_of(x), *rest, **named)
    if place is None and not x.flags & CONTIGUOUS:
        x = to_contiguous(x)  # as reshape does where strides allow no view
        place = rule(layout_of(x), *rest, **named)
    if place is None:
        return None
    shape, steps, offset = place
    if tuple(shape) != tuple(meta.shape):
        raise AssertionError(f"view_{op.name} gave shape {list(shape)}, infer_{op.name} {list(meta.shape)}")
    return strided(x, shape, steps, offset)


cdef object layout_of(Tensor x):
    cdef int i
    return layout_class(
        tuple([x.dims[i] for i in range(x.t.rank)]), tuple([x.steps[i] for i in range(x.t.rank)]), dtype_of_code(x.t.dtype)
    )


cdef Tensor view(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs):
    """The answer of a view op, or None when shapes and attributes do not fit."""
    if op.view_code == BY_RULE:
        return view_by_rule(op, <Tensor>inputs[0], inputs, n, attrs)
    return view_functions[op.view_code](op, <Tensor>inputs[0], inputs, attrs)


ctypedef Tensor (*view_function)(Op op, Tensor x, PyObject **inputs, tuple attrs)

cdef view_function view_functions[16]
cdef dict view_codes = {}  # name of an op to its place in view_functions; other views have a rule
cdef enum:
    BY_RULE = 15


cdef int add_view(str name, view_function function) except -1:
    view_codes[name] = len(view_codes) + 1
    view_functions[len(view_codes)] = function
    return 0


add_view("reshape", view_reshape)
add_view("transpose", view_transpose)
add_view("broadcast_to", view_broadcast_to)
add_view("slice", view_slice)
add_view("select", view_select)
add_view("squeeze", view_squeeze)
add_view("unsqueeze", view_unsqueeze)
add_view("diagonal", view_diagonal)
add_view("as_complex", view_as_complex)
add_view("as_real", view_as_real)
add_view("reshape_like", view_reshape_like)
add_view("broadcast_like", view_broadcast_like)
add_view("unreduce_like", view_unreduce_like)
