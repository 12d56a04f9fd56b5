# Basic indexing, x[1:, 0] and x[1:, 0] = v: ints, slices, None and Ellipsis. The rest is indexing.py's.

cdef extern from "Python.h":
    int PySlice_Check(object)

cdef extern from *:
    """
    /* The three parts of a slice object, borrowed. */
    static inline PyObject *wry_slice_start(PyObject *s) { return ((PySliceObject *)s)->start; }
    static inline PyObject *wry_slice_stop(PyObject *s) { return ((PySliceObject *)s)->stop; }
    static inline PyObject *wry_slice_step(PyObject *s) { return ((PySliceObject *)s)->step; }
    """
    PyObject *wry_slice_start(PyObject *)
    PyObject *wry_slice_stop(PyObject *)
    PyObject *wry_slice_step(PyObject *)

cdef int64_t FAR = <int64_t>1 << 62  # beyond every size, and far enough from overflow that a size may be added

cdef Op unsqueeze_op = None


cdef inline int plain_int(PyObject *value, int64_t absent, int64_t *out) except -1:
    """1: `value` is None (which gives `absent`) or an int that fits. 0: something else."""
    cdef int overflow = 0
    if value == <PyObject *>None:
        out[0] = absent
        return 1
    if not PyLong_CheckExact(<object>value):
        return 0
    out[0] = PyLong_AsLongLongAndOverflow(<object>value, &overflow)
    return not overflow and -FAR < out[0] < FAR


# In one piece: one pass over the index fills the arrays of which the view is made; `x[0]` takes some hundred instructions.
cdef object basic_view(Tensor x, object index):
    """The view, or None when the index has other parts or is wrong: indexing.py answers, or says why."""
    cdef PyObject *single[1]
    cdef PyObject *item
    cdef Py_ssize_t n = 1, i, used = 0, ellipsis = -1
    cdef int64_t picks[WRY_MAX_RANK]
    cdef int pick_axes[WRY_MAX_RANK]
    cdef int n_picks = 0, n_slices = 0, n_added = 0, axis = 0, place = 0
    cdef int64_t bounds[WRY_MAX_RANK][4]
    cdef int added[WRY_MAX_RANK]
    cdef int64_t step, size
    cdef tuple as_tuple
    cdef object new_axis
    global unsqueeze_op

    single[0] = <PyObject *>index
    if PyTuple_CheckExact(index):
        n = PyTuple_GET_SIZE(<tuple>index)
        if n > 24:
            return None
    elif not PySlice_Check(index) and index is not None and index is not Ellipsis and not PyLong_CheckExact(index):
        return None
    for i in range(n):
        item = PyTuple_GET_ITEM(<tuple>index, i) if PyTuple_CheckExact(index) else single[0]
        if PyLong_CheckExact(<object>item) or PySlice_Check(<object>item):
            used += 1
        elif item == <PyObject *>Ellipsis:
            if ellipsis >= 0:
                return None
            ellipsis = i
        elif item != <PyObject *>None:
            return None
    if used > x.t.rank:
        return None
    for i in range(n):
        item = PyTuple_GET_ITEM(<tuple>index, i) if PyTuple_CheckExact(index) else single[0]
        if item == <PyObject *>Ellipsis:
            axis += <int>(x.t.rank - used)
            place += <int>(x.t.rank - used)
        elif item == <PyObject *>None:
            if n_added == WRY_MAX_RANK:
                return None
            added[n_added] = place
            n_added += 1
            place += 1
        elif PySlice_Check(<object>item):
            if not plain_int(wry_slice_step(item), 1, &step) or step == 0:
                return None
            bounds[n_slices][0] = axis
            bounds[n_slices][3] = step
            if not plain_int(wry_slice_start(item), 0 if step > 0 else FAR, &bounds[n_slices][1]):
                return None
            if not plain_int(wry_slice_stop(item), FAR if step > 0 else -FAR, &bounds[n_slices][2]):
                return None
            if not (bounds[n_slices][1] == 0 and bounds[n_slices][2] == FAR and step == 1):
                n_slices += 1
            axis += 1
            place += 1
        else:
            if not plain_int(item, 0, &picks[n_picks]):
                return None
            size = x.dims[axis]
            if picks[n_picks] >= size or picks[n_picks] < -size:
                return None
            pick_axes[n_picks] = axis
            n_picks += 1
            axis += 1

    y = x
    if n_slices or not (n_picks or n_added):
        y = apply1(b.slice, y, (
            ints_of(&bounds[0][0], n_slices), ints_of(&bounds[0][1], n_slices), ints_of(&bounds[0][2], n_slices),
            ints_of(&bounds[0][3], n_slices)))
    # Right to left, so that dropping one axis does not renumber those still to come.
    for i in range(n_picks - 1, -1, -1):
        y = apply1(b.select, y, (pick_axes[i], picks[i]))
    if n_added:
        if unsqueeze_op is None:
            unsqueeze_op = registry["unsqueeze"]
        as_tuple = PyTuple_New(n_added)
        for i in range(n_added):
            new_axis = added[i]
            Py_INCREF(new_axis)
            PyTuple_SET_ITEM(as_tuple, i, new_axis)
        y = apply1(unsqueeze_op, y, (as_tuple,))
    return y


cdef tuple ints_of(const int64_t *first, int n):
    """Every fourth of the numbers from `first` on."""
    cdef tuple out = PyTuple_New(n)
    cdef object value
    cdef int i
    for i in range(n):
        value = first[4 * i]
        Py_INCREF(value)
        PyTuple_SET_ITEM(out, i, value)
    return out


cdef bint basic_assign(Tensor x, object index, object value) except -1:
    """Writes through the view, where nothing needs to know of it: no gradients, no layers. False: not done."""
    cdef Tensor y, v
    cdef wry_thread *thread = wry_thread_state()
    cdef PyObject *inputs[1]
    cdef PyObject *outs[MAX_OUTPUTS]
    cdef PyObject *targets[1]
    cdef int i
    if thread.inner != NULL or thread.outer != NULL or x.t.data == NULL or not x.flags & STOP_GRADIENT:
        return False
    if isinstance(value, Tensor):
        v = <Tensor>value
        if v.t.dtype != x.t.dtype or v.t.data == NULL or not (v.flags & STOP_GRADIENT or thread.grad_off):
            return False
    elif PyFloat_CheckExact(value) and x.t.dtype >= WRY_FLOAT16 or PyLong_CheckExact(value):
        v = scalar_tensor(value, x.t.dtype)
    else:
        return False
    if v.t.device != x.t.device and is_host_scalar(v):
        v = copied_to(v, x.t.device)
    found = basic_view(x, index)
    if found is None:
        return False
    y = <Tensor>found
    if v.t.rank != y.t.rank or memcmp(v.dims, y.dims, y.t.rank * sizeof(int64_t)) != 0:
        v = broadcast_view(v, y.t.rank, y.dims)
        if v is None:
            return False
    inputs[0] = <PyObject *>v
    targets[0] = <PyObject *>y
    perform(copy_op, inputs, 1, empty_tuple, outs, targets, thread)
    Py_DECREF(<object>outs[0])
    return True
