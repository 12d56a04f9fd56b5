# The dispatcher: from an op and its inputs through the layers to the kernel.

# Where the caller looks at the answer itself.
ctypedef int (*unchecked_record)(Op, PyObject **, Py_ssize_t, tuple, PyObject **, Py_ssize_t, bint) noexcept

cdef record_function record = NULL
cdef protect_function protect = NULL
cdef int32_t process_threads = 1
cdef bint any_kernels = False
cdef Op copy_op = None
cdef bint tracing = False
cdef dict random_rules = None   # what draws in place of the kernels of random ops: FLAGS_paddle_random
cdef Op transfer_op = None


cdef void set_record_functions(record_function record_, protect_function protect_) noexcept:
    global record, protect
    record = record_
    protect = protect_


cdef bint grad_enabled() noexcept nogil:
    return not wry_thread_state().grad_off


cdef bint set_grad_enabled_flag(bint enabled) noexcept nogil:
    cdef wry_thread *thread = wry_thread_state()
    cdef bint before = not thread.grad_off
    thread.grad_off = not enabled
    return before


cdef void *give_workspace(wry_context *context, size_t bytes) noexcept nogil:
    cdef Caller *caller = <Caller *>context.caller
    if caller.mark < 0:
        caller.mark = wry_workspace_mark()
    return wry_workspace_take(bytes)


cdef void *give_device_workspace(wry_context *context, size_t bytes) noexcept nogil:
    """Memory of the device that is let go of after the launch: whoever gets it next comes later in the stream."""
    cdef Caller *caller = <Caller *>context.caller
    cdef wry_storage *storage
    if caller.n_scratch == MAX_SCRATCH:
        return NULL
    storage = wry_device_storage_new(context.device, bytes, context.stream, context.error)
    if storage == NULL:
        return NULL
    caller.scratch[caller.n_scratch] = storage
    caller.n_scratch += 1
    return storage.data


cdef enum:
    MAX_SCRATCH = 32

ctypedef struct Caller:
    PyObject **outs         # new references, NULL until allocated
    wry_tensor **outputs
    const int32_t *dtypes
    int n
    int mark                # where the scratch of this call begins; -1: it took none
    int n_scratch
    wry_storage *scratch[MAX_SCRATCH]


cdef void *allocate_output(wry_context *context, int32_t index, int32_t rank, const int64_t *shape) noexcept with gil:
    cdef Caller *caller = <Caller *>context.caller
    cdef Tensor out
    try:
        out = new_tensor_on(context.device, caller.dtypes[index], rank, shape)
    except MemoryError:
        return NULL
    Py_XDECREF(caller.outs[index])
    Py_INCREF(out)
    caller.outs[index] = <PyObject *>out
    caller.outputs[index] = &out.t
    return out.t.data


cdef int check_into(Op op, Plan plan, PyObject **into) except -1:
    cdef int i, j
    cdef Tensor out
    for i in range(plan.n_outputs):
        out = <Tensor>into[i]
        if out.t.device != plan.device:
            raise ValueError(
                f"{op.name}: the result is on another device than the tensor it should be written to. Got a tensor of shape "
                f"{out.shape} on {device_name(out.t.device)}, expected {device_name(plan.device)}. Move one: x.to('cpu')."
            )
        fits = plan.out_rank[i] == out.t.rank and plan.out_dtype[i] == out.t.dtype
        if fits:
            for j in range(out.t.rank):
                fits = fits and out.dims[j] == plan.out_shape[i * WRY_MAX_RANK + j]
        if not fits:
            expected = [plan.out_shape[i * WRY_MAX_RANK + j] for j in range(max(plan.out_rank[i], 0))]
            from wherry_tensor.errors import InvalidArgumentError
            raise InvalidArgumentError(
                f"{op.name}: the result does not fit the tensor it should be written to. "
                f"Got a tensor of shape {out.shape} and dtype {out.dtype.name}, expected shape {expected} and dtype "
                f"{dtype_of_code(plan.out_dtype[i]).name}. In-place operations keep shape and dtype; "
                f"use the form without underscore."
            )
    return 0


cdef inline bint writes_in_place(Plan plan, Tensor out, PyObject **inputs, Py_ssize_t n, int index) noexcept:
    """May the kernel write straight into `out`? Not if it would read what it has overwritten."""
    cdef Py_ssize_t i
    cdef Tensor x
    cdef int j
    if not out.flags & CONTIGUOUS and not plan.flags & WRY_STRIDED_OUTPUT:
        return False
    for i in range(out.t.rank):
        if out.steps[i] == 0 and out.dims[i] > 1:
            return False
    for i in range(n):
        if inputs[i] == <PyObject *>None:
            continue
        x = <Tensor>inputs[i]
        if x.storage != out.storage:
            continue
        if not plan.flags & WRY_MAY_ALIAS or x.t.data != out.t.data or x.t.rank != out.t.rank:
            return False
        if i != index:  # the ABI allows output i to be input i, no other
            return False
        for j in range(x.t.rank):
            if x.dims[j] != out.dims[j] or (x.steps[j] != out.steps[j] and x.dims[j] != 1):
                return False
    return True


cdef inline bint is_host_scalar(Tensor x) noexcept:
    """A number, or what the library made of Python's values: goes along with tensors of any device."""
    return x.t.device == 0 and (x.t.rank == 0 or x.flags & CONSTANT != 0)


cdef int32_t device_of_call(Op op, PyObject **inputs, Py_ssize_t n, PyObject **into) except -1:
    """Where a call runs: where its inputs are, all on one device (numbers of rank 0 on the cpu go along).

    Without inputs that have data it is the device written to, or the current one.
    """
    cdef Py_ssize_t k, first = -1
    cdef Tensor t
    cdef bint numbers = False
    for k in range(n):
        if inputs[k] == <PyObject *>None:
            continue
        t = <Tensor>inputs[k]
        if t.t.data == NULL:
            continue
        if is_host_scalar(t):
            numbers = numbers or not t.flags & CONSTANT
        elif first < 0:
            first = k
        elif t.t.device != (<Tensor>inputs[first]).t.device:
            raise mixed_devices(op, first, <Tensor>inputs[first], k, t)
    if first >= 0:
        return (<Tensor>inputs[first]).t.device
    if into != NULL:
        return (<Tensor>into[0]).t.device
    return 0 if numbers else current_device(wry_thread_state())


cdef int32_t symbolic_device(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs) except -1:
    """Where a call that is captured would run. Devices that do not fit are refused when the program runs: it may run elsewhere."""
    cdef Py_ssize_t k
    cdef Tensor t
    cdef bint numbers = False
    if op is transfer_op:
        return code_of_device(<str?><object>PyTuple_GET_ITEM(attrs, 0))
    for k in range(n):
        if inputs[k] == <PyObject *>None or (k < op.n_fixed and op.shape_only >> k & 1):
            continue
        t = <Tensor>inputs[k]
        if not is_host_scalar(t):
            return t.t.device
        numbers = numbers or not t.flags & CONSTANT
    return 0 if numbers else current_device(wry_thread_state())


cdef object mixed_devices(Op op, Py_ssize_t i, Tensor x, Py_ssize_t k, Tensor y):
    def named(at, Tensor t):
        name = op.inputs[min(at, len(op.inputs) - 1)][0]
        given = f" ({t.name_value})" if t.name_value is not None else ""
        return f"'{name}'{given} of shape {t.shape} on {device_name(t.t.device)}"
    return ValueError(
        f"{op.name}: the inputs are on different devices. Got {named(i, x)} and {named(k, y)}, expected one device. "
        f"Move one of them: x.to('{device_name(x.t.device)}')."
    )


cdef inline bint plan_fits(Plan plan, PyObject **inputs, Py_ssize_t n, tuple attrs) except -1:
    """Is `plan` that of a call whose inputs are all on the cpu, which is the current device?"""
    cdef const int64_t *key = plan.key
    cdef Tensor t
    cdef Py_ssize_t k
    cdef int i
    if plan.n_inputs != n:
        return False
    for k in range(n):
        if inputs[k] == <PyObject *>None:
            if key[0] != -1:
                return False
            key += 1
            continue
        t = <Tensor>inputs[k]
        if key[0] != (t.t.dtype | (t.t.rank << 8)) or t.t.device:
            return False
        for i in range(t.t.rank):
            key += 1
            if key[0] != t.dims[i]:
                return False
        key += 1
    # A key with one word more is of another current device.
    return key == plan.key + plan.key_length and (plan.attrs is attrs or same_attr(plan.attrs, attrs))


cdef int run(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs, PyObject **outs, PyObject **into) except -1:
    return run_on(wry_thread_state(), op, inputs, n, attrs, outs, into)


cdef int run_on(wry_thread *thread, Op op, PyObject **inputs, Py_ssize_t n, tuple attrs, PyObject **outs,
                PyObject **into) except -1:
    """Finds the plan of a call and runs it. Gives new references in `outs`, one for each output."""
    cdef int64_t begun = rebinds
    cdef Plan plan = op.recent
    if tracing:
        return run_traced(thread, op, inputs, n, attrs, outs, into)
    if plan is None or current_device(thread) or not plan_fits(plan, inputs, n, attrs):
        plan = find_plan(op, inputs, n, attrs, into)
        op.recent = plan
    if plan.simple and run_simple(op, plan, inputs, n, outs, into, begun, thread):
        return 0
    return run_plan(op, plan, inputs, n, attrs, outs, into, begun, thread)


cdef int run_simple(Op op, Plan plan, PyObject **inputs, Py_ssize_t n, PyObject **outs, PyObject **into, int64_t begun,
                    wry_thread *thread) except -1:
    """What `run_plan` does, where nothing has to be copied, pinned or asked for; 0: something has to be."""
    cdef const wry_tensor *ins[MAX_SIMPLE]
    cdef wry_tensor *outputs[1]
    cdef wry_call call
    cdef wry_context context
    cdef Caller caller
    cdef Tensor x, out
    cdef Py_ssize_t k
    cdef int status
    for k in range(n):
        if inputs[k] == <PyObject *>None:
            ins[k] = NULL
            continue
        x = <Tensor>inputs[k]
        if (x.t.dtype == WRY_BOOL and x.storage != NULL and x.storage.foreign) or \
                (plan.flags & WRY_WANTS_CONTIGUOUS and not x.flags & CONTIGUOUS):
            return 0
        ins[k] = &x.t
    if into == NULL:
        out = new_simple(op, plan)
        if rebinds != begun:
            still_fits(op, plan, ins, n)
    else:
        check_into(op, plan, into)
        out = <Tensor>into[0]
        if rebinds != begun or not writes_in_place(plan, out, inputs, n, 0):
            return 0
    outputs[0] = &out.t
    call.inputs = ins
    call.outputs = outputs
    call.attrs = plan.encoded
    call.context = &context
    call.n_inputs = <int32_t>n
    call.n_outputs = 1
    call.n_attrs = plan.n_attrs
    call.data = plan.data
    context.abi_version = WRY_ABI_VERSION
    context.stream = NULL
    context.device = 0
    context.num_threads = thread.budget if thread.budget else process_threads
    context.workspace = give_workspace
    context.allocate_output = allocate_output
    context.error[0] = 0
    context.caller = &caller
    caller.outs = outs
    caller.outputs = outputs
    caller.dtypes = plan.out_dtype
    caller.n = 1
    caller.mark = -1
    Py_INCREF(out)
    outs[0] = <PyObject *>out
    status = plan.kernel(&call)
    if caller.mark >= 0:
        wry_workspace_reset(caller.mark)
    if status != WRY_OK:
        Py_XDECREF(outs[0])
        outs[0] = NULL
        raise_text(status, f"{op.name}: the kernel", context.error)
    if into != NULL:
        out.storage.version += 1
    return 1


cdef Plan find_plan(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs, PyObject **into):
    cdef int64_t small_key[64]
    cdef int64_t *key = small_key
    cdef int length = 0, i
    cdef Py_ssize_t k, slots, at
    cdef uint64_t h
    cdef Plan plan
    cdef list plans
    cdef Tensor t
    cdef int32_t device = 0, elsewhere = 0
    cdef bint anchored = False  # an input has a place of its own

    if n > 4:
        key = <int64_t *>malloc((n * (WRY_MAX_RANK + 1) + 1) * sizeof(int64_t))
        if key == NULL:
            raise MemoryError()
    try:
        for k in range(n):
            if inputs[k] == <PyObject *>None:
                key[length] = -1
                length += 1
                continue
            t = <Tensor>inputs[k]
            key[length] = t.t.dtype | (t.t.rank << 8) | (<int64_t>t.t.device << 16)
            elsewhere |= t.t.device
            anchored |= t.t.rank != 0 and not t.flags & CONSTANT and t.t.data != NULL
            length += 1
            for i in range(t.t.rank):
                key[length] = t.dims[i]
                length += 1
        # Mostly the cpu, and nothing to look up. (0-d tensors alone do not say where they want to be.)
        if elsewhere or (not anchored and current_device(wry_thread_state())):
            device = device_of_call(op, inputs, n, into)
            key[length] = device
            length += 1
        h = <uint64_t>length + (<uint64_t>n << 32)
        for i in range(length):
            h = wry_mix(h, <uint64_t>key[i])
        for k in range(op.n_attrs):
            h = wry_mix(h, hash_attr(<object>PyTuple_GET_ITEM(attrs, k)))

        plans = op.plans  # held: comparing attributes may run Python, which may make other plans
        slots = len(plans)
        at = <Py_ssize_t>(h & <uint64_t>(slots - 1))
        plan = None
        while True:
            found = plans[at]
            if found is None:
                break
            plan = <Plan>found
            if plan.hash == h and plan.key_length == length and \
                    memcmp(plan.key, key, length * sizeof(int64_t)) == 0 and same_attr(plan.attrs, attrs):
                break
            plan = None
            at = (at + 1) & (slots - 1)
        if plan is None:
            plan = make_plan(op, inputs, n, attrs, key, length, h, device)
            keep_plan(op, plan)
    finally:
        if key != small_key:
            free(key)
    return plan


cdef int keep_plan(Op op, Plan plan) except -1:
    cdef Py_ssize_t slots = len(op.plans), at
    cdef list old
    if 2 * (op.used + 1) > slots:
        old = op.plans
        # A program with ever new shapes must not grow for ever: start over.
        if slots >= 2 * PLAN_LIMIT:
            old = []
            slots = 8
        else:
            slots *= 2
        op.plans = [None] * slots
        op.used = 0
        for p in old:
            if p is not None:
                keep_plan(op, <Plan>p)
    at = <Py_ssize_t>(plan.hash & <uint64_t>(slots - 1))
    while op.plans[at] is not None:
        at = (at + 1) & (slots - 1)
    op.plans[at] = plan
    op.used += 1
    return 0


cdef bint host_fallback = True
cdef set fell_back = set()  # (name of an op, kind of device) that a warning was given for


def set_host_fallback(bint on):
    """Whether an op that a device has neither kernel nor decomposition for runs on copies in host memory."""
    global host_fallback
    host_fallback = on


cdef int run_on_host(Op op, int32_t device, PyObject **inputs, Py_ssize_t n, tuple attrs, PyObject **outs) except -1:
    """What a device cannot do yet: on copies in host memory, and back."""
    cdef wry_thread *thread = wry_thread_state()
    cdef Generator drawn_before = None if thread.generator == NULL else <Generator>thread.generator
    cdef int32_t device_before
    cdef Py_ssize_t i
    cdef Tensor x
    cdef list host = []
    kind = kind_names[WRY_DEVICE_KIND(device)]
    if wry_device_capturing(device):
        refuse_capture(op, device, "it has no kernel there and runs on the cpu")
    if (op.name, kind) not in fell_back:
        fell_back.add((op.name, kind))
        import warnings
        warnings.warn(
            f"{op.name}: '{kind}' has no kernel for it, so each call copies its inputs to the cpu, runs there and copies the "
            f"result back. `python -m wherry ops --device {kind}` lists such ops; FLAGS_host_fallback=0 makes them errors.",
            RuntimeWarning, stacklevel=2,
        )
    for i in range(n):
        if inputs[i] == <PyObject *>None:
            host.append(None)
            continue
        x = <Tensor>inputs[i]
        shape_only = i < op.n_fixed and op.shape_only >> i & 1
        host.append(new_ghost(x.t.dtype, x.t.rank, x.dims) if shape_only else host_view(x))
    # The numbers that the device would have drawn, of its own generator.
    put_generator(thread, generator_of(thread, device))
    device_before = set_thread_device(0)
    try:
        result = op.run(tuple(host), attrs)
    finally:
        set_thread_device(device_before)
        put_generator(thread, drawn_before)
    if op.n_outputs == 1:
        result = (result,)
    for i in range(op.n_outputs):
        x = copied_to(<Tensor>result[i], device)
        Py_INCREF(x)
        outs[i] = <PyObject *>x
    return 0


cdef int run_decomposition(Op op, Plan plan, PyObject **inputs, Py_ssize_t n, tuple attrs, PyObject **outs) except -1:
    rule = column_decompose.get(op)
    if rule is None and plan.device and host_fallback:
        return run_on_host(op, plan.device, inputs, n, attrs, outs)
    if rule is None:
        raise no_kernel(op, inputs, n, plan)
    return run_rule(op, rule, plan.device, inputs, n, attrs, outs)


cdef int run_rule(Op op, object rule, int32_t on, PyObject **inputs, Py_ssize_t n, tuple attrs, PyObject **outs) except -1:
    """Runs a rule that is written with ops in place of a kernel; 0 if it left the call to the kernel."""
    cdef Py_ssize_t i
    cdef bint before
    cdef int32_t device
    # Whoever records this call records the op as a whole.
    before = set_grad_enabled_flag(False)
    device = set_thread_device(on)  # what it makes from nothing belongs there too
    try:
        result = rule(*[<object>inputs[i] for i in range(n)], **attr_dict(op, attrs))
    finally:
        set_thread_device(device)
        set_grad_enabled_flag(before)
    if result is NotImplemented:
        return 0
    if op.n_outputs == 1:
        result = (result,)
    for i in range(op.n_outputs):
        item = result[i]
        if not isinstance(item, Tensor):
            raise AssertionError(f"{getattr(rule, '__name__', rule)} returned {type(item).__name__}, expected Tensor")
        # An op gives a fresh tensor; a decomposition may have handed an input through.
        item = new_alias(<Tensor>item)
        Py_INCREF(item)
        outs[i] = <PyObject *>item
    return 1


# How often a tensor was given other memory or another shape (`become`): a call that finds it unchanged
# after allocating knows that nothing has touched its inputs meanwhile.
cdef int64_t rebinds = 0


cdef struct Pin:
    # A tensor as it was when the call began, with a reference to its memory.
    wry_tensor t
    int64_t shape[WRY_MAX_RANK]
    int64_t strides[WRY_MAX_RANK]
    wry_storage *storage


cdef wry_tensor *pin(Pin *at, Tensor x) noexcept:
    at.t = x.t
    memcpy(at.shape, x.dims, x.t.rank * sizeof(int64_t))
    memcpy(at.strides, x.steps, x.t.rank * sizeof(int64_t))
    at.t.shape = at.shape
    at.t.strides = at.strides
    at.storage = x.storage
    if at.storage != NULL:
        at.storage.refs += 1
    return &at.t


cdef int still_fits(Op op, Plan plan, const wry_tensor **ins, Py_ssize_t n) except -1:
    """Something gave tensors other memory while this call allocated; do the inputs still have the shapes of the plan?"""
    cdef const int64_t *key = plan.key
    cdef Py_ssize_t k
    cdef int i
    cdef bint same
    for k in range(n):
        if ins[k] == NULL:
            key += 1
            continue
        same = key[0] == (ins[k].dtype | (ins[k].rank << 8) | (<int64_t>ins[k].device << 16))
        key += 1
        for i in range(ins[k].rank if same else 0):
            same = same and key[i] == ins[k].shape[i]
        if not same:
            raise RuntimeError(
                f"{op.name}: input {k} changed its shape while the op was running. Got it given other memory by a finalizer, "
                f"a signal handler or another thread, expected it left alone. Work on a copy there."
            )
        key += ins[k].rank
    return 0


cdef void note_uses(void *stream, PyObject **inputs, Py_ssize_t n, PyObject **outs, int n_outputs) noexcept:
    """Tells the memory of a device on which stream it is about to be used."""
    cdef Py_ssize_t k
    cdef Tensor t
    for k in range(n):
        t = None if inputs[k] == <PyObject *>None else <Tensor>inputs[k]
        if t is not None and t.t.device and t.storage != NULL:
            wry_device_used_on(t.storage, stream)
    for k in range(n_outputs):
        t = None if outs[k] == NULL else <Tensor>outs[k]
        if t is not None and t.storage != NULL:
            wry_device_used_on(t.storage, stream)


# In one piece: whatever of a call is borrowed, pinned or made is given back in one place, and as functions its parts would cost each call.
cdef int run_plan(Op op, Plan plan, PyObject **inputs, Py_ssize_t n, tuple attrs, PyObject **outs, PyObject **into,
                  int64_t begun, wry_thread *thread) except -1:
    cdef const wry_tensor *small_in[8]
    cdef const wry_tensor **ins = small_in
    cdef wry_tensor *outputs[MAX_OUTPUTS]
    cdef wry_call call
    # Of this call alone: while it waits for memory, a finalizer or a signal handler may run another.
    cdef wry_context context
    cdef Caller caller
    cdef Generator generator
    cdef list temporaries = None
    cdef Tensor x, out
    cdef Py_ssize_t k
    cdef int i, status
    cdef bint done = False
    # While the kernel runs without the GIL, or asks for memory, others may give an input other memory.
    cdef bint pinning = plan.allocates or plan.release
    cdef Pin *pins = NULL
    cdef Py_ssize_t n_pins = 0

    for i in range(plan.n_outputs):
        outs[i] = NULL
    if into != NULL:
        check_into(op, plan, into)
    try:
        if random_rules is not None and op.random and op in random_rules and \
                run_rule(op, random_rules[op], plan.device, inputs, n, attrs, outs):
            pass
        elif plan.kernel == NULL:
            run_decomposition(op, plan, inputs, n, attrs, outs)
        else:
            if n > 8:
                ins = <const wry_tensor **>malloc(n * sizeof(void *))
                if ins == NULL:
                    raise MemoryError()
            if pinning:
                pins = <Pin *>malloc((n + plan.n_outputs) * sizeof(Pin))
                if pins == NULL:
                    raise MemoryError()
            for k in range(n):
                if inputs[k] == <PyObject *>None:
                    ins[k] = NULL
                    continue
                x = <Tensor>inputs[k]
                if x.t.dtype == WRY_BOOL and x.storage != NULL and x.storage.foreign:
                    x = truths(x)
                    if temporaries is None:
                        temporaries = []
                    temporaries.append(x)
                elif plan.flags & WRY_WANTS_CONTIGUOUS and not x.flags & CONTIGUOUS and x.t.data != NULL:
                    x = to_contiguous(x)
                    if temporaries is None:
                        temporaries = []
                    temporaries.append(x)
                if x.t.device != plan.device and x.t.data != NULL and not (
                        plan.flags & WRY_TAKES_HOST_SCALARS and x.t.rank == 0):
                    x = copied_to(x, plan.device)  # a constant
                    if temporaries is None:
                        temporaries = []
                    temporaries.append(x)
                if pinning:
                    ins[k] = pin(pins + n_pins, x)
                    n_pins += 1
                else:
                    ins[k] = &x.t
            for i in range(plan.n_outputs):
                if plan.out_rank[i] < 0:
                    outputs[i] = NULL
                    continue
                if into != NULL and writes_in_place(plan, <Tensor>into[i], inputs, n, i):
                    out = <Tensor>into[i]
                else:
                    out = new_output(op, plan.device, plan.out_dtype[i], plan.out_rank[i], plan.out_shape + i * WRY_MAX_RANK)
                Py_INCREF(out)
                outs[i] = <PyObject *>out
                if pinning:
                    outputs[i] = pin(pins + n_pins, out)
                    n_pins += 1
                else:
                    outputs[i] = &out.t
            if rebinds != begun:
                still_fits(op, plan, ins, n)
                if into != NULL:
                    check_into(op, plan, into)
            call.inputs = ins
            call.outputs = outputs
            call.attrs = plan.encoded
            call.context = &context
            call.n_inputs = <int32_t>n
            call.n_outputs = plan.n_outputs
            call.n_attrs = plan.n_attrs
            call.data = plan.data
            context.abi_version = WRY_ABI_VERSION
            context.stream = NULL
            context.device = plan.device
            context.num_threads = thread.budget if thread.budget else process_threads
            if plan.device == 0:
                context.workspace = give_workspace
            else:
                if wry_device_capturing(plan.device):
                    if op.random:
                        refuse_capture(op, plan.device, "each run would draw the same numbers")
                    if plan.allocates:
                        refuse_capture(op, plan.device, "the shape of its result depends on data")
                context.workspace = give_device_workspace
                context.stream = stream_of(thread, plan.device)
                note_uses(context.stream, inputs, n, outs, plan.n_outputs)
            context.allocate_output = allocate_output
            context.error[0] = 0
            context.caller = &caller
            caller.outs = outs
            caller.outputs = outputs
            caller.dtypes = plan.out_dtype
            caller.n = plan.n_outputs
            caller.n_scratch = 0
            caller.mark = -1
            if op.random:
                generator = generator_of(thread, plan.device)
                context.rng_seed = generator.seed_value
                context.rng_offset = generator.offset
                generator.offset += <uint64_t>plan.work
            if not plan.release:
                status = plan.kernel(&call)
            else:
                with nogil:
                    status = plan.kernel(&call)
            if caller.mark >= 0:
                wry_workspace_reset(caller.mark)
            for i in range(caller.n_scratch):
                unref(caller.scratch[i])
            if status != WRY_OK:
                raise_text(status, f"{op.name}: the kernel", context.error)
            for i in range(plan.n_outputs):
                if outs[i] == NULL:
                    raise RuntimeError(f"{op.name}: the kernel left output {i} unallocated")
        if into != NULL:
            for i in range(plan.n_outputs):
                out = <Tensor>into[i]
                x = <Tensor>outs[i]
                if x is not out:
                    copy_strided(out, x)
                    Py_INCREF(out)
                    outs[i] = <PyObject *>out
                    Py_DECREF(x)
                out.storage.version += 1
        done = True
    finally:
        if ins != small_in:
            free(ins)
        if pins != NULL:
            for k in range(n_pins):
                if pins[k].storage != NULL:
                    unref(pins[k].storage)
            free(pins)
        if not done:
            for i in range(plan.n_outputs):
                Py_XDECREF(outs[i])
                outs[i] = NULL
    return 0


cdef object no_value(Op op, PyObject **inputs, Py_ssize_t n):
    cdef Py_ssize_t i
    for i in range(n):
        if inputs[i] != <PyObject *>None and (<Tensor>inputs[i]).t.data == NULL and not \
                (i < op.n_fixed and op.shape_only >> i & 1):
            if (<Tensor>inputs[i]).flags & SYMBOLIC:
                return RuntimeError(
                    f"{op.name}: input {i} is symbolic: it has a shape and a dtype but no values. "
                    f"Got it outside of a capture, expected a tensor with data. "
                    f"Use it inside the program that made it, or give it data."
                )
            break
    return RuntimeError(
        f"{op.name}: input {i} is a Tensor that was never given data. Got an uninitialized Tensor, expected one made "
        f"by a creation function. Make it with wherry.to_tensor, wherry.zeros, ..."
    )


cdef tuple collect(PyObject **items, Py_ssize_t n):
    cdef Py_ssize_t i
    return tuple([<object>items[i] for i in range(n)])


cdef object bad_view(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs):
    """The shape rule knows what is wrong and says it; this is for what it lets pass."""
    infer_metas(op, inputs, n, attrs)
    shapes = [list((<Tensor>inputs[i]).shape) for i in range(n)]
    from wherry_tensor.errors import InvalidArgumentError
    return InvalidArgumentError(f"{op.name}: shapes and attributes do not fit. Got shapes {shapes} and {attr_dict(op, attrs)}.")


cdef int perform(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs, PyObject **outs, PyObject **into,
                 wry_thread *thread) except -1:
    """Below all outer layers: decides how to run, runs, records."""
    cdef Py_ssize_t i
    cdef Tensor t
    cdef bint needs_grad = False, no_data = False
    for i in range(n):
        if inputs[i] == <PyObject *>None:
            continue
        t = <Tensor>inputs[i]
        if not t.flags & STOP_GRADIENT:
            needs_grad = True
        if t.t.data == NULL:
            no_data = True
    # Nearly every call: a kernel makes a new tensor of tensors, and autograd notes it or has nothing to note.
    if into == NULL and thread.inner == NULL and not op.view_code and op is not transfer_op and not no_data:
        if not needs_grad or thread.grad_off:
            return run_on(thread, op, inputs, n, attrs, outs, NULL)
        if record != NULL and op.differentiable == 1:
            run_on(thread, op, inputs, n, attrs, outs, NULL)
            if (<unchecked_record>record)(op, inputs, n, attrs, outs, op.n_outputs, False) == -1:
                for i in range(op.n_outputs):
                    Py_XDECREF(outs[i])
                return -1
            return 0
    return perform_at_length(op, inputs, n, attrs, outs, into, thread, needs_grad, no_data)


cdef int ask_layer(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs, PyObject **outs, PyObject **into, wry_thread *thread) except -1:
    """The topmost inner layer stands in the place of the kernel."""
    cdef Py_ssize_t i
    layer = topmost(thread.inner)
    result = layer(op, collect(inputs, n), attrs) if into == NULL else \
        layer.into(op, collect(into, op.n_outputs), collect(inputs, n), attrs)
    if op.n_outputs == 1 and isinstance(result, Tensor):
        result = (result,)
    if not isinstance(result, (tuple, list)) or len(result) != op.n_outputs or \
            not all([isinstance(item, Tensor) for item in result]):
        raise TypeError(
            f"{op.name}: a layer that stands for kernels returned something else than the op does. "
            f"Got {type(result).__name__}, expected {op.n_outputs} Tensors ({', '.join(op.outputs)}). Mend the layer."
        )
    for i in range(op.n_outputs):
        item = result[i]
        if into == NULL and (<Tensor>item).flags & SYMBOLIC:
            (<Tensor>item).t.device = symbolic_device(op, inputs, n, attrs)
        Py_INCREF(item)
        outs[i] = <PyObject *>item
    return 0


cdef int perform_at_length(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs, PyObject **outs, PyObject **into,
                           wry_thread *thread, bint needs_grad, bint no_data) except -1:
    cdef Py_ssize_t i
    cdef Tensor t, out
    cdef bint recording
    cdef PyObject *source[1]
    cdef int64_t begin
    recording = not thread.grad_off and record != NULL
    if needs_grad and not recording:
        needs_grad = False
        if record == NULL and not thread.grad_off and not warned_unrecorded:
            warn_unrecorded(op)
    if into != NULL and recording:
        for i in range(op.n_outputs):
            t = <Tensor>into[i]
            if not t.flags & STOP_GRADIENT and t.node is None:
                raise leaf_overwritten(op, t)
        if needs_grad and op.differentiable != 2:
            copies = protect(op, inputs, n, into)
    if needs_grad and op.differentiable == 0:
        find_columns()
        rule = column_decompose.get(op)
        if rule is not None:
            # No gradient rule: record the smaller ops it is made of.
            result = rule(*collect(inputs, n), **attr_dict(op, attrs))
            if op.n_outputs == 1:
                result = (result,)
            for i in range(op.n_outputs):
                item = result[i]
                if into == NULL:
                    Py_INCREF(item)
                    outs[i] = <PyObject *>item
                else:
                    source[0] = <PyObject *>item
                    perform(copy_op, source, 1, empty_tuple, outs + i, into + i, thread)
            return 0

    if thread.inner != NULL:
        ask_layer(op, inputs, n, attrs, outs, into, thread)
    elif op.view_code:
        # Of `like` only the shape is used, so it may lack data.
        t = <Tensor>inputs[0]
        if t.t.data == NULL or inputs[0] == <PyObject *>None:
            raise no_value(op, inputs, n)
        begin = trace_now() if tracing else 0
        out = view(op, inputs, n, attrs)
        if out is None:
            raise bad_view(op, inputs, n, attrs)
        if begin:
            trace_event(0, op, begin, 0, trace_now(), allocated_now())
        out.flags |= t.flags & CONSTANT
        Py_INCREF(out)
        outs[0] = <PyObject *>out
        if into != NULL:
            raise TypeError(f"{op.name} makes a view; it cannot be written into a tensor. Use ops.copy.into.")
    elif op is transfer_op:
        if no_data:
            raise no_value(op, inputs, n)
        transfer(<Tensor>inputs[0], attrs, outs, into)
    else:
        if no_data and not only_shapes(op, inputs, n):
            raise no_value(op, inputs, n)
        run_on(thread, op, inputs, n, attrs, outs, into)
    if needs_grad and op.differentiable != 2:
        try:
            record(op, inputs, n, attrs, outs, op.n_outputs, into != NULL)
        except BaseException:
            for i in range(op.n_outputs):
                Py_XDECREF(outs[i])
            raise
    elif into != NULL and recording:
        # What was written has no gradient, so whatever made the old values has none either.
        for i in range(op.n_outputs):
            t = <Tensor>into[i]
            t.node = None
            t.flags |= STOP_GRADIENT
    return 0


cdef bint warned_unrecorded = False


cdef int warn_unrecorded(Op op) except -1:
    """Once in a process: without autograd nothing is recorded, though an input asks for gradients."""
    global warned_unrecorded
    import warnings
    warned_unrecorded = True
    warnings.warn(
        f"{op.name}: no gradients are recorded. Got an input with stop_gradient=False, expected wherry_autograd to be imported, "
        f"which records. pip install wherry-autograd, then import wherry_autograd; or leave stop_gradient at True.",
        RuntimeWarning, stacklevel=2,
    )
    return 0


cdef int transfer(Tensor x, tuple attrs, PyObject **outs, PyObject **into) except -1:
    """The op that goes from one device to another: it has no kernel, the core moves the memory."""
    cdef int32_t device = code_of_device(<str?><object>PyTuple_GET_ITEM(attrs, 0))
    cdef Tensor out
    cdef PyObject *source[1]
    out = to_contiguous(x) if x.t.device == device else copied_to(x, device)
    source[0] = <PyObject *>out
    if into != NULL or out is x:
        run(copy_op, source, 1, empty_tuple, outs, into)
    else:
        Py_INCREF(out)
        outs[0] = <PyObject *>out
    return 0


cdef object leaf_overwritten(Op op, Tensor x):
    from wherry_tensor.errors import LeafOverwrittenError
    return LeafOverwrittenError(
        f"{op.name}: a leaf Tensor ({x.name}) that doesn't stop gradient can't use inplace strategy. "
        f"Got stop_gradient=False on a Tensor of shape {x.shape} that no op made, expected one that stops gradients, "
        f"or the result of an op. Change it under no_grad(), or use the form that makes a new tensor.", leaf=x.name,
    )


cdef bint only_shapes(Op op, PyObject **inputs, Py_ssize_t n) except -1:
    """Is every input without data one whose shape alone is used (`~` in the declaration), and known?"""
    cdef Py_ssize_t i
    for i in range(n):
        if inputs[i] != <PyObject *>None and (<Tensor>inputs[i]).t.data == NULL:
            # Of an unknown size (-1 in the product) a kernel would get an output that it is not told to allocate.
            if i >= op.n_fixed or not op.shape_only >> i & 1 or (<Tensor>inputs[i]).t.size < 0:
                return False
    return True


cdef object apply(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs):
    cdef PyObject *outs[MAX_OUTPUTS]
    cdef wry_thread *thread = wry_thread_state()
    cdef Py_ssize_t i
    cdef tuple many
    if thread.outer != NULL:
        return apply_outer(op, inputs, n, attrs, thread)
    perform(op, inputs, n, attrs, outs, NULL, thread)
    if op.n_outputs == 1:
        result = <object>outs[0]
        Py_DECREF(result)
        return result
    many = PyTuple_New(op.n_outputs)
    for i in range(op.n_outputs):
        PyTuple_SET_ITEM(many, i, <object>outs[i])
    return many


# Layers: tuples that are never changed in place, so that a call which has taken one apart can put it
# back whatever ran meanwhile.

cdef inline object topmost(PyObject *stack):
    return <object>PyTuple_GET_ITEM(<tuple>stack, PyTuple_GET_SIZE(<tuple>stack) - 1)


cdef void put_stack(PyObject **slot, tuple stack) noexcept:
    """Makes the slot own `stack`, or nothing when that is empty or None."""
    cdef PyObject *before = slot[0]
    if stack is not None and PyTuple_GET_SIZE(stack):
        Py_INCREF(stack)
        slot[0] = <PyObject *>stack
    else:
        slot[0] = NULL
    Py_XDECREF(before)  # last: letting go of a layer may run anything


cdef tuple stack_of(PyObject *slot):
    return () if slot == NULL else <tuple>slot


@cython.final
cdef class ThreadEnd:
    """Lies in Python's dictionary of a thread and lets go of the thread's layers when that is cleared."""
    cdef wry_thread *thread

    def __dealloc__(self):
        if self.thread == wry_thread_state():  # at exit, the main thread clears what others left
            put_stack(&self.thread.outer, None)
            put_stack(&self.thread.inner, None)
            put_generator(self.thread, None)
            self.thread.n_streams = 0
            self.thread.device = -1


cdef int note_end_of_thread(wry_thread *thread) except -1:
    cdef PyObject *mine = PyThreadState_GetDict()
    cdef ThreadEnd end
    if mine != NULL and "wherry_tensor layers" not in <dict>mine:
        end = ThreadEnd.__new__(ThreadEnd)
        end.thread = thread
        (<dict>mine)["wherry_tensor layers"] = end
    return 0


cdef object apply_outer(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs, wry_thread *thread):
    """Gives the call to the topmost outer layer; what that calls goes to the layers below it."""
    cdef tuple stack = <tuple>thread.outer
    layer = topmost(thread.outer)
    put_stack(&thread.outer, stack[:PyTuple_GET_SIZE(stack) - 1])
    try:
        return layer(op, collect(inputs, n), attrs)
    finally:
        put_stack(&thread.outer, stack)


cdef object apply1(Op op, object x, tuple attrs):
    cdef PyObject *inputs[1]
    inputs[0] = <PyObject *>x
    return apply(op, inputs, 1, attrs)


cdef object apply2(Op op, object x, object y, tuple attrs):
    cdef PyObject *inputs[2]
    inputs[0] = <PyObject *>x
    inputs[1] = <PyObject *>y
    return apply(op, inputs, 2, attrs)


def push_layer(layer, position="inner"):
    """Install a layer for the calling thread.

    Args:
        layer: called as `layer(op, inputs, attrs)` with an Op and two tuples, for every op of this thread.
            It returns what the op returns.
        position: "outer" layers stand above autograd: they may change the inputs (autocast) and go on
            with with `op.apply(inputs, attrs)`; in-place calls do not come to them, and backward goes past those
            that have a true attribute `forward_only`. An "inner" layer stands where the kernel would run: capture,
            profiling. Autograd records around it. `op.run(inputs, attrs)` runs the kernel.
            In-place calls come as `layer.into(op, outs, inputs, attrs)`.

    Layers of one position are a stack; only the topmost inner layer is asked.
    """
    cdef wry_thread *thread = wry_thread_state()
    if position not in ("outer", "inner"):
        raise ValueError(f"push_layer: unknown position. Got {position!r}, expected 'outer' or 'inner'.")
    if not callable(layer):
        raise TypeError(f"push_layer: got {type(layer).__name__}, expected something to call as layer(op, inputs, attrs).")
    cdef PyObject **slot = &thread.inner if position == "inner" else &thread.outer
    note_end_of_thread(thread)
    put_stack(slot, stack_of(slot[0]) + (layer,))


def pop_layer(layer, position="inner"):
    """Remove the topmost layer, which must be `layer`."""
    cdef wry_thread *thread = wry_thread_state()
    cdef PyObject **slot = &thread.inner if position == "inner" else &thread.outer
    if slot[0] == NULL or topmost(slot[0]) is not layer:
        raise ValueError("pop_layer: this layer is not the topmost one of the calling thread. Pop in reverse order.")
    put_stack(slot, (<tuple>slot[0])[:PyTuple_GET_SIZE(<tuple>slot[0]) - 1])


def inner_layers():
    """The inner layers of the calling thread, the topmost last."""
    return stack_of(wry_thread_state().inner)


cdef class InnerLayer:
    """An inner layer that a `with` block installs: `layer(op, inputs, attrs)` and `layer.into(op, outs, inputs, attrs)` are its class's.

    Entered and left in C: an interrupt (Ctrl-C) comes between two instructions of Python, so before or after, never when the layer is
    on and `with` does not know of it yet. What an interrupt has left above the layer goes with it.
    """

    def __enter__(self):
        push_layer(self)
        return self

    def __exit__(self, *error):
        cdef wry_thread *thread = wry_thread_state()
        cdef tuple stack = stack_of(thread.inner)
        cdef Py_ssize_t i
        for i in range(PyTuple_GET_SIZE(stack) - 1, -1, -1):
            if stack[i] is self:
                put_stack(&thread.inner, stack[:i])
                return
        raise ValueError("a layer was left that is not on. Got none of it in the calling thread, expected to leave what was entered, once.")


def topmost_layer(position="inner"):
    """The layer of the calling thread that is asked first; None where there is none."""
    cdef wry_thread *thread = wry_thread_state()
    cdef PyObject *stack = thread.inner if position == "inner" else thread.outer
    return None if stack == NULL else topmost(stack)


cdef tuple suspend_layers():
    cdef wry_thread *thread = wry_thread_state()
    cdef tuple stack, rest
    if thread.outer == NULL:
        return None
    stack = <tuple>thread.outer
    rest = tuple([layer for layer in stack if not getattr(layer, "forward_only", False)])
    if len(rest) == len(stack):
        return None
    put_stack(&thread.outer, rest)
    return stack


cdef int resume_layers(tuple stack) except -1:
    if stack is not None:
        put_stack(&wry_thread_state().outer, stack)
    return 0


# What an executor of programs, which calls kernels itself, has in common with the dispatcher.

cdef int workspace_mark() noexcept nogil:
    return wry_workspace_mark()


cdef void *workspace_take(size_t bytes) noexcept nogil:
    return wry_workspace_take(bytes)


cdef void workspace_reset(int mark) noexcept nogil:
    wry_workspace_reset(mark)


cdef wry_storage *device_scratch(int32_t device, size_t bytes, void *stream, char *error) noexcept nogil:
    return wry_device_storage_new(device, bytes, stream, error)


cdef void device_scratch_free(wry_storage *storage) noexcept nogil:
    wry_storage_free(storage)


cdef void *thread_stream(int32_t device) noexcept nogil:
    return stream_of(wry_thread_state(), device)


cdef void used_on(wry_storage *storage, void *stream) noexcept nogil:
    if storage != NULL and storage.device:
        wry_device_used_on(storage, stream)


cdef bint goes_along(Tensor x) noexcept:
    return is_host_scalar(x)


cdef int32_t kernel_threads() noexcept nogil:
    """How many threads a kernel that this thread calls may use."""
    cdef wry_thread *thread = wry_thread_state()
    return thread.budget if thread.budget else process_threads


cdef bint layers_active() noexcept nogil:
    """Does anything of the calling thread stand between an op and its kernel?"""
    cdef wry_thread *thread = wry_thread_state()
    return thread.outer != NULL or thread.inner != NULL


cdef int64_t current_kernel_generation() noexcept nogil:
    return kernels_generation
