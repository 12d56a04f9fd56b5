# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, binding=True
# cython: auto_pickle=False
"""The tape and the engine that walks it back.

Recording: the core calls `record` after every op that touches a tensor which asks for gradients. It
makes a `Node` that knows the op's rule, where each input's cotangent has to go, the inputs and
outputs that the rule wants to see again, and the shape and dtype of those it does not.

Going back: a `Walk` first counts, for every node that the roots lead to, how many cotangents it
will receive, then runs each node once all of them have arrived. What a walk knows about a node lies
in the walk, not in the node, so walks of several threads, and walks started inside rules and
hooks, do not disturb each other. Nothing recurses: neither the walk nor the release of a long chain
of nodes.

Cotangents are ordinary tensors. One that nobody else can see is reused as the sum of itself and the
next one; see `exclusive`.
"""
cimport cython
from cpython.object cimport PyObject
from cpython.tuple cimport PyTuple_GET_ITEM, PyTuple_GET_SIZE
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport free, malloc, realloc
from libc.string cimport memcmp, memcpy, memset

from wherry_tensor._core cimport (
    CONTIGUOUS, HAS_HOOKS, LATER, ROWS, STOP_GRADIENT, SYMBOLIC, WRY_NUM_DTYPES, DType, Op, Tensor, allocated_now, apply, apply2, grad_enabled,
    inplace, layers_active, new_alias, new_ghost, resume_layers, set_grad_enabled_flag, set_thread_device, suspend_layers, thread_device, set_record_functions,
    trace_event, trace_now, tracing,
)

import weakref

from wherry_tensor import _core, ops
from wherry_tensor._core import pop_layer, push_layer

cdef extern from "wherry/frames.h":
    int wry_show_frames

cdef extern from "Python.h":
    ctypedef int (*visitproc)(PyObject *, void *) noexcept
    ctypedef int (*traverseproc)(PyObject *, visitproc, void *) noexcept
    ctypedef int (*inquiry)(PyObject *) noexcept
    ctypedef struct PyTypeObject:
        traverseproc tp_traverse
        inquiry tp_clear
    object PyObject_Vectorcall(object, PyObject **, size_t, PyObject *)
    bint PyTuple_CheckExact(PyObject *)
    PyObject **PySequence_Fast_ITEMS(object)
    Py_ssize_t Py_REFCNT(PyObject *)
    PyTypeObject *Py_TYPE(PyObject *)
    void Py_XDECREF(PyObject *)
    void incref "Py_INCREF"(PyObject *)
    void decref "Py_DECREF"(PyObject *)

cdef enum:
    INLINE_WORDS = 28      # of 8 bytes: two inputs and one output of rank 3, their shapes included
    INLINE_STATES = 8      # what a walk holds without asking for memory
    INLINE_TABLE = 32
    SMALL_CALL = 24

cdef Op add_op = ops.add
cdef Op cast_op = ops.cast
cdef Op copy_op = ops.copy
cdef Op full_like_op = ops.full_like
cdef Op real_op = ops.real
cdef Op sum_like_op = ops.sum_like

cdef list dtypes = [None] * WRY_NUM_DTYPES
for _dtype in (_core.bool_, _core.uint8, _core.int8, _core.int16, _core.int32, _core.int64, _core.float16, _core.bfloat16,
               _core.float32, _core.float64, _core.complex64, _core.complex128):
    dtypes[_dtype.code] = _dtype

cdef tuple needs_of_mask = tuple([
    tuple([bool(mask >> i & 1) for i in range(n)]) for n in range(5) for mask in range(16)
])


# -------------------------------------------------------------------------------------------- rules

@cython.final
cdef class Rule:
    """A gradient rule, ready to be called: what `rules.Signature` says, in C."""
    cdef Op op
    cdef object function
    cdef object kwnames          # names of the keyword arguments of a call, or None
    cdef bint wants_needs
    cdef bint again              # later ops compute the output once more in place of keeping it
    cdef int n_declared
    cdef uint64_t keeps          # bit i: declared input i is kept
    cdef uint64_t keeps_output
    cdef uint64_t kept_for[64]   # of declared input i: kept only if one of these inputs wants a cotangent; 0: always
    cdef bint conditional        # is any kept_for set?
    cdef dict slot_calls         # for slots: by input, which op of the rule makes its cotangent

    def __cinit__(self, Op op, signature):
        cdef int i
        self.op = op
        self.n_declared = <int>len(op.inputs)
        if signature is None:
            return
        self.function, kept, kept_for, kept_outputs, self.wants_needs, self.again = signature
        for i in range(self.n_declared):
            if kept[i]:
                self.keeps |= <uint64_t>1 << i
            for other in kept_for[i] or ():
                self.kept_for[i] |= <uint64_t>1 << <int>other
                self.conditional = True
        for i in range(len(kept_outputs)):
            if kept_outputs[i]:
                self.keeps_output |= <uint64_t>1 << i
        names = op.attr_names + (("needs",) if self.wants_needs else ())
        self.kwnames = names or None


cdef Rule rule_of(Op op):
    """The rule in C form; made at the first use and left in `op.vjp_rule`."""
    rule = op.vjp_rule
    if type(rule) is not Rule:
        rule = Rule(op, rule)
        if (<Rule>rule).function is not None:  # else a rule may still be registered
            op.vjp_rule = rule
    return <Rule>rule


# -------------------------------------------------------------------------------------------- nodes

cdef enum NodeFlags:
    FREED = 1        # what the rule needs was released
    PACKED = 2       # kept tensors went through saved_tensors_hooks
    HAS_EXTRAS = 4   # hooks, or tensors that retain their gradient

cdef enum:
    OPERATOR_EVENT = 0   # kinds of what a profiler records
    BACKWARD_EVENT = 10

cdef enum:
    UNCHECKED = -1   # as a version: the values do not matter

cdef enum:
    MOST_AGAIN = 4              # inputs of an op that is called once more
    SMALLEST_AGAIN = 1 << 18    # bytes of an output for which that is worth the while


cdef struct Input:
    PyObject *target   # where its cotangent goes: a Node, a leaf Tensor, or NULL for nowhere
    PyObject *kept     # the Tensor (or what a pack hook made of it), or NULL
    int64_t version    # of the memory of `kept`
    int64_t *shape
    int32_t index      # which output of the target
    int32_t dtype
    int32_t rank       # -1: the input is absent
    int32_t unused


cdef struct Output:
    PyObject *kept     # an alias, so that no cycle arises
    int64_t version
    int64_t *shape
    int32_t dtype
    int32_t rank


cdef class Saved:
    """What a pack hook made of a kept tensor; or what the op that made it is to be called with once more."""
    cdef object packed
    cdef object unpack          # None: `packed` holds the inputs of the op
    cdef int64_t versions[MOST_AGAIN]


@cython.final
@cython.binding(False)   # methods check their self
@cython.freelist(256)
@cython.trashcan(True)
cdef class Node:
    """The record of one op. Made while it runs; gone with the last tensor that depends on it."""
    cdef object rule            # Rule; what `record_custom` got; the name of that once it is freed
    cdef tuple attrs
    cdef dict extras            # output index -> [hooks by id, weak reference to the retaining tensor]
    cdef Input *inputs
    cdef Output *outputs
    cdef int32_t n_inputs
    cdef int32_t n_outputs
    cdef uint32_t flags
    cdef int64_t small[INLINE_WORDS]   # of this type, so that records in it are aligned

    def __dealloc__(self):
        release(self)
        if self.inputs != NULL and <int64_t *>self.inputs != self.small:
            free(self.inputs)

    def name(self):
        """The name of the op."""
        return name_of(self)

    def __repr__(self):
        return f"<Node of {name_of(self)}>"


cdef str name_of(Node node):
    if node.rule is None:
        return "nothing"  # made by hand
    if type(node.rule) is Rule:
        return (<Rule>node.rule).op.name
    return node.rule if type(node.rule) is str else node.rule.name


cdef int allocate(Node node, Py_ssize_t n_inputs, Py_ssize_t n_outputs, Py_ssize_t n_sizes) except -1:
    """Room for the records and shapes, inside the node where they fit."""
    cdef size_t total = n_inputs * sizeof(Input) + n_outputs * sizeof(Output) + n_sizes * sizeof(int64_t)
    cdef char *block = <char *>node.small
    if total > INLINE_WORDS * sizeof(int64_t):
        block = <char *>malloc(total)
        if block == NULL:
            raise MemoryError()
    node.inputs = <Input *>block
    node.outputs = <Output *>(block + n_inputs * sizeof(Input))
    return 0


# Letting go of a node lets go of those before it: a long chain would go as deep as it is long. Python's own
# guard counts on a stack of megabytes, which WebAssembly does not have; so beyond some depth what is to go waits
# for the outermost call.
cdef enum:
    DEEPEST = 100

cdef int depth = 0
cdef PyObject **later = NULL
cdef Py_ssize_t later_count = 0
cdef Py_ssize_t later_room = 0


cdef void let_go(PyObject *x) noexcept:
    global later, later_count, later_room
    cdef PyObject **larger
    if x == NULL:
        return
    if depth >= DEEPEST:
        if later_count == later_room:
            larger = <PyObject **>realloc(later, (2 * later_room + 64) * sizeof(PyObject *))
            if larger != NULL:
                later = larger
                later_room = 2 * later_room + 64
        if later_count < later_room:
            later[later_count] = x
            later_count += 1
            return
    Py_XDECREF(x)


cdef void release(Node node) noexcept:
    """Let go of everything the node refers to. What it was asked to keep is gone afterwards."""
    global depth, later_count
    cdef int32_t i
    cdef PyObject *one
    cdef PyObject *other
    node.flags |= FREED
    depth += 1
    for i in range(node.n_inputs):
        one = node.inputs[i].kept
        other = node.inputs[i].target
        node.inputs[i].kept = NULL
        node.inputs[i].target = NULL
        let_go(one)
        let_go(other)
    for i in range(node.n_outputs):
        one = node.outputs[i].kept
        node.outputs[i].kept = NULL
        let_go(one)
    if depth == 1:
        while later_count > 0:
            later_count -= 1
            Py_XDECREF(later[later_count])
    depth -= 1


# Cython visits the attributes that it knows are objects; these two add those in the C arrays.

cdef traverseproc generated_traverse
cdef inquiry generated_clear


cdef int traverse_node(PyObject *self, visitproc visit, void *arg) noexcept:
    cdef int32_t i
    cdef int status = generated_traverse(self, visit, arg)
    for i in range((<Node>self).n_inputs):
        if status == 0 and (<Node>self).inputs[i].target != NULL:
            status = visit((<Node>self).inputs[i].target, arg)
        if status == 0 and (<Node>self).inputs[i].kept != NULL:
            status = visit((<Node>self).inputs[i].kept, arg)
    for i in range((<Node>self).n_outputs):
        if status == 0 and (<Node>self).outputs[i].kept != NULL:
            status = visit((<Node>self).outputs[i].kept, arg)
    return status


cdef int clear_node(PyObject *self) noexcept:
    release(<Node>self)
    return generated_clear(self)


generated_traverse = (<PyTypeObject *>Node).tp_traverse
generated_clear = (<PyTypeObject *>Node).tp_clear
(<PyTypeObject *>Node).tp_traverse = traverse_node
(<PyTypeObject *>Node).tp_clear = clear_node


# ---------------------------------------------------------------------------------------- recording

cdef inline int64_t *note_input(Input *one, Tensor x, int64_t *at) noexcept:
    """Where the cotangent of `x` goes, and its shape, which is written to `at`; gives the place after it."""
    one.kept = NULL
    one.version = 0
    one.dtype = x.t.dtype
    one.rank = x.t.rank
    one.shape = at
    one.target = NULL
    if not x.flags & STOP_GRADIENT:
        if x.node is None:
            one.target = <PyObject *>x
            one.index = 0
        else:
            one.target = <PyObject *>x.node
            one.index = x.output_index
        incref(one.target)
    return sizes_written(x, at)


cdef inline int64_t *note_output(Output *out, Tensor x, int64_t *at) noexcept:
    """As `note_input`; in a captured program the output itself stands for its unknown sizes."""
    out.kept = NULL
    out.dtype = x.t.dtype
    out.rank = x.t.rank
    out.shape = at
    if x.flags & SYMBOLIC:
        out.kept = <PyObject *>x
        incref(out.kept)
    return sizes_written(x, at)


cdef inline int64_t *sizes_written(Tensor x, int64_t *at) noexcept:
    cdef int j
    for j in range(x.t.rank):
        at[j] = x.dims[j]
    return at + x.t.rank


cdef int become_outputs(Node node, PyObject **outs, Py_ssize_t n) except -1:
    """Let tensors count as the outputs of `node`."""
    cdef Py_ssize_t i
    cdef Tensor x
    for i in range(n):
        x = <Tensor>outs[i]
        x.node = node
        x.output_index = <int32_t>i
        x.flags &= ~<uint32_t>STOP_GRADIENT
    return 0


cdef int record(Op op, PyObject **inputs, Py_ssize_t n, tuple attrs, PyObject **outs, Py_ssize_t n_outs,
                bint inplace) except -1:
    cdef Py_ssize_t i, d, sizes = 0
    cdef uint64_t wanted = 0
    cdef int64_t *at
    cdef Tensor x
    cdef Node node
    cdef Input *one
    cdef Output *out
    cdef Rule rule
    cdef bint keep, captured
    if op.differentiable == 2:
        return 0
    rule = rule_of(op)
    node = Node.__new__(Node)
    for i in range(n):
        if inputs[i] != <PyObject *>None:
            sizes += (<Tensor>inputs[i]).t.rank
    for i in range(n_outs):
        sizes += (<Tensor>outs[i]).t.rank
    allocate(node, n, n_outs, sizes)
    node.rule = rule
    node.attrs = attrs
    at = <int64_t *>(node.outputs + n_outs)

    for i in range(n):
        one = node.inputs + i
        if inputs[i] == <PyObject *>None:
            one.target = NULL
            one.kept = NULL
            one.version = 0
            one.rank = -1
        else:
            x = <Tensor>inputs[i]
            at = note_input(one, x, at)
            if rule.again and x.storage != NULL:
                one.version = x.storage.version
            if not x.flags & STOP_GRADIENT:
                wanted |= <uint64_t>1 << (i if i < rule.n_declared else rule.n_declared - 1)
        node.n_inputs = <int32_t>(i + 1)

    captured = (<Tensor>outs[0]).flags & SYMBOLIC
    for i in range(n):
        one = node.inputs + i
        if one.rank < 0:
            continue
        d = i if i < rule.n_declared else rule.n_declared - 1
        keep = keeps(rule, d, wanted)
        x = <Tensor>inputs[i]
        if keep and not captured and x.node is not None and not packing:
            computed = again(x)
            if computed is not None:
                node.flags |= PACKED
                one.kept = <PyObject *>computed
                incref(one.kept)
                continue
        if keep or captured:
            # In a captured program only the tensor itself stands for its unknown sizes.
            one.version = x.storage.version if keep and x.storage != NULL else UNCHECKED
            one.kept = <PyObject *>x
            incref(one.kept)

    for i in range(n_outs):
        out = node.outputs + i
        x = <Tensor>outs[i]
        at = note_output(out, x, at)
        node.n_outputs = <int32_t>(i + 1)
        if rule.keeps_output >> i & 1 and not x.flags & SYMBOLIC:
            out.version = x.storage.version
            alias = new_alias(x)
            out.kept = <PyObject *>alias
            incref(out.kept)
    if packing:
        pack_all(node)
    return become_outputs(node, outs, n_outs)


cdef Saved again(Tensor x):
    """What computes `x` once more when a rule wants to see it, or None where it is to be kept.

    The output of a cheap op whose own gradient reads its input is in memory twice if the next op keeps it.
    """
    cdef Node maker
    cdef Rule rule
    cdef Saved saved
    cdef Input *one
    cdef Tensor read
    cdef PyObject *held
    cdef int32_t i
    if type(x.node) is not Node or x.output_index != 0 or x.storage == NULL or x.storage.version != 0 \
            or x.storage.nbytes < SMALLEST_AGAIN:
        return None
    maker = <Node>x.node
    if type(maker.rule) is not Rule or maker.flags & (FREED | PACKED) or maker.n_inputs > MOST_AGAIN:
        return None
    rule = <Rule>maker.rule
    if not rule.again or x.t.size * dtypes[x.t.dtype].itemsize != <int64_t>x.storage.nbytes:
        return None
    saved = Saved.__new__(Saved)
    inputs = []
    for i in range(maker.n_inputs):
        one = maker.inputs + i
        if one.rank < 0:
            inputs.append(None)
            continue
        held = one.kept
        if held == NULL and one.target != NULL and not is_node(one.target):
            held = one.target   # a parameter that the rule does not read
        if held == NULL:
            return None
        read = <Tensor>held
        if read.storage == NULL or read.storage.version != one.version:
            return None
        saved.versions[i] = one.version
        inputs.append(read)
    saved.packed = tuple(inputs)
    return saved


cdef Tensor computed_again(Node node, int32_t index):
    """Input `index` of `node`, which was not kept."""
    cdef Input *one = node.inputs + index
    cdef Saved saved = <Saved>one.kept
    cdef Node maker = <Node>one.target
    cdef Py_ssize_t i
    cdef Tensor x
    for i in range(len(saved.packed)):
        if saved.packed[i] is None:
            continue
        x = <Tensor>saved.packed[i]
        if x.storage.version != saved.versions[i]:
            raise overwritten(node, f"what its input {index} is computed from, input {i} of '{name_of(maker)}',", x.storage.version, saved.versions[i])
    outs = (<Rule>maker.rule).op.run(saved.packed, maker.attrs)
    x = <Tensor>(outs[0] if type(outs) is tuple else outs)
    if grad_enabled():  # what the rule makes of it depends on what it was computed from
        x.node = maker
        x.output_index = 0
        x.flags &= ~<uint32_t>STOP_GRADIENT
    return x


cdef inline bint keeps(Rule rule, Py_ssize_t d, uint64_t wanted) noexcept:
    """Is declared input `d` kept, when cotangents of the inputs in `wanted` are asked for?"""
    if not rule.keeps >> d & 1:
        return False
    return rule.kept_for[d] == 0 or (rule.kept_for[d] & wanted) != 0


cdef object protect(Op op, PyObject **inputs, Py_ssize_t n, PyObject **targets):
    """Before an in-place write: copies in place of those inputs that are kept and will be overwritten."""
    cdef Py_ssize_t i, j
    cdef uint64_t wanted = 0
    cdef Rule rule = None if op.differentiable == 0 else rule_of(op)  # None: a decomposition, which may keep any
    cdef Py_ssize_t last = len(op.inputs) - 1
    cdef Tensor x, copy
    cdef list copies = None
    cdef bint before
    for i in range(n):
        if inputs[i] != <PyObject *>None and not (<Tensor>inputs[i]).flags & STOP_GRADIENT:
            wanted |= <uint64_t>1 << min(i, last)
    for i in range(n):
        if inputs[i] == <PyObject *>None or (rule is not None and not keeps(rule, min(i, last), wanted)):
            continue
        x = <Tensor>inputs[i]
        for j in range(op.n_outputs):
            if x.storage == NULL or (<Tensor>targets[j]).storage != x.storage:
                continue
            before = set_grad_enabled_flag(False)
            try:
                copy = copy_of(x)
            finally:
                set_grad_enabled_flag(before)
            copy.node = x.node
            copy.output_index = x.output_index
            copy.flags = (copy.flags & ~<uint32_t>STOP_GRADIENT) | (x.flags & STOP_GRADIENT)
            if copies is None:
                copies = []
            copies.append(copy)
            inputs[i] = <PyObject *>copy
            break
    return copies


cdef int need_tensors(object items, str what) except -1:
    """What is cast to Tensor without a look further down is looked at here."""
    for x in items:
        if not isinstance(x, Tensor):
            raise TypeError(f"{what}: got {type(x).__name__}, expected Tensors. Convert it with to_tensor.")
    return 0


def record_custom(function, list inputs not None, list outputs not None):
    """Record `outputs` as made from `inputs` by something that is not an op.

    Args:
        function: has a `name`; called with the node and the list of the outputs' cotangents (None
            where none arrived); gives a sequence with one cotangent for each input.
        inputs: Tensors. Those that stop gradients get no cotangent.
        outputs: fresh Tensors, or inputs that were changed in place.
    """
    global callbacks_in_use
    callbacks_in_use = True
    cdef Node node = Node.__new__(Node)
    cdef Py_ssize_t i, sizes = 0
    cdef Tensor x
    cdef int64_t *at
    need_tensors(inputs, "record_custom")
    need_tensors(outputs, "record_custom")
    for x in inputs:
        sizes += x.t.rank
    for x in outputs:
        sizes += x.t.rank
    allocate(node, len(inputs), len(outputs), sizes)
    node.rule = function
    at = <int64_t *>(node.outputs + len(outputs))
    for i in range(len(inputs)):
        x = <Tensor>inputs[i]
        at = note_input(node.inputs + i, x, at)
        if x.flags & SYMBOLIC:
            node.inputs[i].kept = <PyObject *>x
            incref(node.inputs[i].kept)
        node.n_inputs += 1
    for i in range(len(outputs)):
        at = note_output(node.outputs + i, <Tensor>outputs[i], at)
        node.n_outputs += 1
    become_outputs(node, PySequence_Fast_ITEMS(outputs), len(outputs))


def with_history(Tensor x not None, Node node not None, int index):
    """Another tensor on the memory of `x` that counts as output `index` of `node`."""
    cdef Tensor out
    if index < 0 or index >= node.n_outputs:
        raise IndexError(f"with_history: got output {index} of {name_of(node)}, expected one of its {node.n_outputs}.")
    out = new_alias(x)
    out.node = node
    out.output_index = index
    out.flags &= ~<uint32_t>STOP_GRADIENT
    return out


# Hooks on what is kept.

cdef int packing = 0        # how many saved_tensors_hooks are active, in all threads
cdef object hook_stacks = __import__("threading").local()


def push_saved_tensors_hooks(pack, unpack):
    """Send what the calling thread keeps from now on through `pack`, and back through `unpack`."""
    global packing
    stack = getattr(hook_stacks, "stack", None)
    if stack is None:
        stack = hook_stacks.stack = []
    stack.append((pack, unpack))
    packing += 1


def pop_saved_tensors_hooks():
    """Undo the last `push_saved_tensors_hooks` of this thread."""
    global packing
    stack = getattr(hook_stacks, "stack", None)
    if not stack:
        raise RuntimeError("pop_saved_tensors_hooks: this thread has pushed none. Push one before.")
    stack.pop()
    packing -= 1


def current_saved_tensors_hooks():
    """(pack, unpack) of the calling thread, or None."""
    stack = getattr(hook_stacks, "stack", None)
    return stack[len(stack) - 1] if stack else None


cdef int pack_all(Node node) except -1:
    cdef int32_t i
    hooks = current_saved_tensors_hooks()
    if hooks is None:
        return 0
    before = set_grad_enabled_flag(False)
    try:
        for i in range(node.n_inputs):
            pack_one(&node.inputs[i].kept, hooks)
        for i in range(node.n_outputs):
            pack_one(&node.outputs[i].kept, hooks)
    finally:
        set_grad_enabled_flag(before)
    node.flags |= PACKED
    return 0


cdef int pack_one(PyObject **kept, tuple hooks) except -1:
    cdef Saved saved
    cdef PyObject *old = kept[0]
    if old == NULL or (<Tensor>old).flags & SYMBOLIC:
        return 0
    saved = Saved.__new__(Saved)
    saved.packed = hooks[0](<object>old)
    saved.unpack = hooks[1]
    kept[0] = <PyObject *>saved
    incref(kept[0])
    decref(old)
    return 0


cdef object unpack(Node node, PyObject *kept):
    cdef Saved saved = <Saved>kept
    out = saved.unpack(saved.packed)
    if not isinstance(out, Tensor):
        raise TypeError(
            f"saved_tensors_hooks: unpack_hook gave no tensor back for '{name_of(node)}'. "
            f"Got {type(out).__name__}, expected a Tensor with the values that pack_hook was given. "
            f"Return a Tensor from unpack_hook."
        )
    return out


# ------------------------------------------------------------------------------------------- walks

cdef struct State:
    PyObject *target     # Node or leaf Tensor; the walk holds a reference
    PyObject *first      # cotangent of output 0
    PyObject **more      # those of all outputs where there are several, else NULL
    int32_t waiting      # contributions still to come
    int32_t n_slots
    bint needed
    bint captured


@cython.final
cdef class LeafRecord:
    """What a walk does with the gradient of a leaf, besides accumulating it."""
    cdef dict before    # hooks by key: take the gradient, may change it
    cdef dict after     # hooks by key: take the leaf, when `.grad` holds the sum
    cdef Tensor buffer  # where the gradient is written, or None
    cdef int writers    # walks that are at this leaf


@cython.final
cdef class Slots:
    """Gradients that a walk writes into buffers."""
    cdef SlotLayer layer   # while a rule runs that writes into one, or None
    cdef list written      # records of leaves whose gradient lies in their buffer already, while they wait to be visited


@cython.final
@cython.freelist(8)
cdef class Walk:
    """One way back through the graph."""
    cdef State *states
    cdef int32_t *table          # open addressing: index into states + 1
    cdef int32_t *ready
    cdef Py_ssize_t n_states, room, table_size, n_ready
    cdef bint retain, create, selective
    cdef list captures           # (state, slot) of each input of `grad`
    cdef list captured
    cdef set blocked             # (id of target, slot) that no cotangent passes
    cdef Node dead_end           # a freed node that was met, or None
    cdef Slots slots             # where gradients are written into buffers, or None
    cdef State small_states[INLINE_STATES]
    cdef int32_t small_table[INLINE_TABLE]
    cdef int32_t small_ready[INLINE_STATES]

    def __cinit__(self):
        self.states = self.small_states
        self.table = self.small_table
        self.ready = self.small_ready
        self.room = INLINE_STATES
        self.table_size = INLINE_TABLE
        memset(self.table, 0, sizeof(self.small_table))

    def __dealloc__(self):
        cdef Py_ssize_t i
        for i in range(self.n_states):
            drop(self.states + i)
            Py_XDECREF(self.states[i].target)
        if self.states != self.small_states:
            free(self.states)
            free(self.ready)
        if self.table != self.small_table:
            free(self.table)


cdef inline bint is_node(PyObject *target) noexcept:
    return Py_TYPE(target) == <PyTypeObject *>Node


cdef inline size_t place(PyObject *target) noexcept:
    return (<size_t>target >> 4) * <size_t>0x9E3779B97F4A7C15 >> 20


cdef void drop(State *state) noexcept:
    """Let go of the cotangents."""
    cdef int32_t i
    cdef PyObject *one = state.first
    state.first = NULL
    Py_XDECREF(one)
    if state.more != NULL:
        for i in range(state.n_slots):
            one = state.more[i]
            state.more[i] = NULL
            Py_XDECREF(one)
        free(state.more)
        state.more = NULL


cdef int grow(Walk walk) except -1:
    cdef Py_ssize_t room = 2 * walk.room, size = 8 * walk.room, i, at
    cdef State *states = <State *>malloc(room * sizeof(State))
    cdef int32_t *ready = <int32_t *>malloc(room * sizeof(int32_t))
    cdef int32_t *table = <int32_t *>malloc(size * sizeof(int32_t))
    if states == NULL or ready == NULL or table == NULL:
        free(states)
        free(ready)
        free(table)
        raise MemoryError()
    memcpy(states, walk.states, walk.n_states * sizeof(State))
    memcpy(ready, walk.ready, walk.n_ready * sizeof(int32_t))
    memset(table, 0, size * sizeof(int32_t))
    for i in range(walk.n_states):
        at = place(states[i].target) & (size - 1)
        while table[at]:
            at = (at + 1) & (size - 1)
        table[at] = <int32_t>(i + 1)
    if walk.states != walk.small_states:
        free(walk.states)
        free(walk.ready)
    if walk.table != walk.small_table:
        free(walk.table)
    walk.states = states
    walk.ready = ready
    walk.table = table
    walk.room = room
    walk.table_size = size
    return 0


cdef inline Py_ssize_t find(Walk walk, PyObject *target) noexcept:
    """Index of the state of `target`, or -1."""
    cdef Py_ssize_t at = place(target) & (walk.table_size - 1)
    while walk.table[at]:
        if walk.states[walk.table[at] - 1].target == target:
            return walk.table[at] - 1
        at = (at + 1) & (walk.table_size - 1)
    return -1


cdef Py_ssize_t meet(Walk walk, PyObject *target) except -1:
    """Index of the state of `target`, made new where there is none."""
    cdef Py_ssize_t at = place(target) & (walk.table_size - 1)
    cdef State *state
    while walk.table[at]:
        if walk.states[walk.table[at] - 1].target == target:
            return walk.table[at] - 1
        at = (at + 1) & (walk.table_size - 1)
    if walk.n_states == walk.room:
        grow(walk)
        return meet(walk, target)
    state = walk.states + walk.n_states
    memset(state, 0, sizeof(State))
    state.n_slots = (<Node>target).n_outputs if is_node(target) else 1
    if state.n_slots > 1:
        state.more = <PyObject **>malloc(state.n_slots * sizeof(void *))
        if state.more == NULL:
            raise MemoryError()
        memset(state.more, 0, state.n_slots * sizeof(void *))
    state.target = target
    incref(target)
    state.needed = True
    walk.n_states += 1
    walk.table[at] = <int32_t>walk.n_states
    return walk.n_states - 1


cdef inline PyObject **slot(State *state, int32_t index) noexcept:
    return &state.first if state.more == NULL else state.more + index


cdef int explore(Walk walk) except -1:
    """From the roots, which are in `states`, find every node and count what it will receive."""
    cdef Py_ssize_t i = 0, found, j
    cdef Node node
    cdef Input *one
    # `states` grows as nodes are met, so it is the queue as well.
    while i < walk.n_states:
        if is_node(walk.states[i].target):
            node = <Node>walk.states[i].target
            if node.flags & FREED:
                if not walk.selective:
                    raise freed(node)
                walk.dead_end = node  # matters only if an input lies behind it
            for j in range(node.n_inputs):
                one = node.inputs + j
                if one.target == NULL or (walk.blocked is not None and is_blocked(walk, one)):
                    continue
                found = meet(walk, one.target)
                walk.states[found].waiting += 1
        i += 1
    return 0


cdef bint is_blocked(Walk walk, Input *one) except -1:
    return (<size_t>one.target, one.index) in walk.blocked


cdef object freed(Node node):
    return RuntimeError(
        f"backward: the graph through '{name_of(node)}' was used already and its saved tensors are freed. "
        f"Got a second walk through it, expected one. "
        f"Pass retain_graph=True to the first backward() or grad(), or compute the forward pass again."
    )


cdef int select(Walk walk) except -1:
    """Mark the nodes that lead to a captured input, and wait only for contributions that come from those."""
    cdef Py_ssize_t i, j, found, n = 0
    cdef Node node
    cdef int32_t *order = <int32_t *>malloc(walk.n_states * sizeof(int32_t))
    cdef int32_t *waiting = <int32_t *>malloc(walk.n_states * sizeof(int32_t))
    cdef Input *one
    if order == NULL or waiting == NULL:
        free(order)
        free(waiting)
        raise MemoryError()
    try:
        for i in range(walk.n_states):
            waiting[i] = walk.states[i].waiting
            if waiting[i] == 0:
                order[n] = <int32_t>i
                n += 1
        i = 0
        while i < n:
            if is_node(walk.states[order[i]].target):
                node = <Node>walk.states[order[i]].target
                for j in range(node.n_inputs):
                    one = node.inputs + j
                    if one.target == NULL or (walk.blocked is not None and is_blocked(walk, one)):
                        continue
                    found = find(walk, one.target)
                    waiting[found] -= 1
                    if waiting[found] == 0:
                        order[n] = <int32_t>found
                        n += 1
            i += 1
        # From the leaves up: needed is what is captured, and what leads there.
        for i in range(n - 1, -1, -1):
            walk.states[order[i]].needed = walk.states[order[i]].captured
            if is_node(walk.states[order[i]].target):
                node = <Node>walk.states[order[i]].target
                for j in range(node.n_inputs):
                    one = node.inputs + j
                    if one.target == NULL or (walk.blocked is not None and is_blocked(walk, one)):
                        continue
                    if walk.states[find(walk, one.target)].needed:
                        walk.states[order[i]].needed = True
        for i in range(walk.n_states):
            walk.states[i].waiting = 0
        for i in range(n):
            if walk.states[order[i]].needed and is_node(walk.states[order[i]].target):
                node = <Node>walk.states[order[i]].target
                for j in range(node.n_inputs):
                    one = node.inputs + j
                    if one.target == NULL or (walk.blocked is not None and is_blocked(walk, one)):
                        continue
                    walk.states[find(walk, one.target)].waiting += 1
    finally:
        free(order)
        free(waiting)
    return 0


cdef int go(Walk walk) except -1:
    """Run every node whose cotangents are complete until none is left."""
    cdef Py_ssize_t i
    cdef bint before
    for i in range(walk.n_states - 1, -1, -1):
        if walk.states[i].waiting == 0 and walk.states[i].needed:
            walk.ready[walk.n_ready] = <int32_t>i
            walk.n_ready += 1
    cdef int32_t device = set_thread_device(-1), last
    cdef PyObject *ct
    set_thread_device(device)
    last = thread_device()
    before = set_grad_enabled_flag(walk.create)
    layers = suspend_layers()  # rules compute in the dtypes of the forward pass
    try:
        while walk.n_ready:
            walk.n_ready -= 1
            i = walk.ready[walk.n_ready]
            if is_node(walk.states[i].target):
                # What a rule makes from nothing belongs where the gradients are.
                ct = walk.states[i].first
                if ct != NULL and (<Tensor>ct).t.device != last:
                    last = (<Tensor>ct).t.device
                    set_thread_device(last)
                visit_node(walk, walk.states + i)
            else:
                visit_leaf(walk, i)
    finally:
        set_thread_device(device)
        resume_layers(layers)
        set_grad_enabled_flag(before)
        if walk.slots is not None:
            abandon_slots(walk)
    return 0


cdef object recorded_gradient = None


def when_gradient_is_recorded(function):
    """Let `function(leaf)` be called before a leaf with data gets a gradient that a capture records, which has none."""
    global recorded_gradient
    recorded_gradient = function


cdef int visit_leaf(Walk walk, Py_ssize_t i) except -1:
    cdef State *state = walk.states + i
    cdef Tensor leaf = <Tensor>state.target
    cdef LeafRecord record
    if state.first == NULL:
        return 0
    if walk.selective:  # `grad` leaves leaves and their hooks alone, as Paddle does
        capture(walk, i)
        return 0
    if recorded_gradient is not None and (<Tensor>state.first).flags & SYMBOLIC and not leaf.flags & SYMBOLIC:
        recorded_gradient(leaf)
    if not leaf.flags & HAS_HOOKS:
        accumulate(leaf, &state.first)
        drop(state)
        return 0
    write_out(&state.first)
    record = <LeafRecord>leaf.hooks
    if record.before:
        run_hooks(record.before, &state.first)
    # Another thread's walk may be adding to the same leaf: while one writes the buffer, others leave it alone.
    if walk.slots is not None and record in walk.slots.written:
        walk.slots.written.remove(record)
    else:
        record.writers += 1
    try:
        if record.buffer is not None and not isinstance(leaf.grad_value, Tensor) and record.writers == 1:
            fill_buffer(leaf, record.buffer, <Tensor>state.first)
        else:
            accumulate(leaf, &state.first)
            if record.buffer is not None and leaf.grad_value is not record.buffer and record.writers == 1:
                total = leaf.grad_value
                fill_buffer(leaf, record.buffer, <Tensor>total)
    finally:
        record.writers -= 1
    drop(state)
    if record.after:
        for hook in list(record.after.values()):
            hook(leaf)
    return 0


cdef int fill_buffer(Tensor leaf, Tensor buffer, Tensor ct) except -1:
    """The first gradient of a leaf that has a buffer for it goes there."""
    cdef PyObject *inputs[1]
    if buffer.t.dtype != leaf.t.dtype or not same_sizes(buffer, leaf):
        raise ValueError(
            f"backward: the gradient buffer of '{leaf.name}' does not fit any more. Got a buffer of shape {buffer.shape} and "
            f"dtype {buffer.dtype.name} for a tensor of shape {leaf.shape} and dtype {leaf.dtype.name}, expected the same. "
            f"Set another with set_grad_buffer."
        )
    leaf.grad_value = None
    if ct.storage != buffer.storage or ct.t.data != buffer.t.data:  # else a kernel has written it there
        copy_op.into((buffer,), ct.to_dense() if ct.flags & ROWS else ct)
    buffer.flags &= ~<uint32_t>STOP_GRADIENT
    while isinstance(leaf.grad_value, Tensor):  # came from another thread meanwhile
        more = leaf.grad_value
        leaf.grad_value = None
        inplace(add_op, buffer, more.to_dense() if (<Tensor>more).flags & ROWS else more)
    leaf.grad_value = buffer
    return 0


cdef inline bint same_sizes(Tensor x, Tensor y) noexcept:
    return x.t.rank == y.t.rank and memcmp(x.dims, y.dims, x.t.rank * sizeof(int64_t)) == 0


cdef int capture(Walk walk, Py_ssize_t i) except -1:
    """Put aside the cotangents that `grad` was asked for."""
    cdef PyObject *ct
    cdef Py_ssize_t k
    for k in range(len(walk.captures)):
        if walk.captures[k][0] == i:
            ct = slot(walk.states + i, walk.captures[k][1])[0]
            if ct != NULL:
                walk.captured[k] = (<object>ct).to_dense() if (<Tensor>ct).flags & ROWS else <object>ct
    return 0


cdef int run_hooks(dict hooks, PyObject **ct) except -1:
    cdef PyObject *old
    for hook in list(hooks.values()):
        result = hook(<object>ct[0])
        if result is None:
            continue
        if not isinstance(result, Tensor):
            raise TypeError(
                f"register_hook: a hook returned something else than a gradient. "
                f"Got {type(result).__name__}, expected a Tensor, or None to leave the gradient as it is. "
                f"Return a Tensor from {getattr(hook, '__name__', 'the hook')}."
            )
        old = ct[0]
        ct[0] = <PyObject *>result
        incref(ct[0])
        decref(old)
    return 0


cdef int run_extras(Node node, State *state, dict extras) except -1:
    """Hooks of tensors that are not leaves, and gradients that they retain."""
    cdef Tensor x
    cdef PyObject *one
    cdef PyObject **ct
    for index, entry in extras.items():
        ct = slot(state, index)
        if ct[0] == NULL:
            continue
        if entry[0]:
            run_hooks(<dict>entry[0], ct)
        if entry[1] is not None:
            x = entry[1]()
            if x is not None:
                one = ct[0]
                incref(one)  # the walk goes on with it, so `.grad` becomes a copy
                try:
                    accumulate(x, &one)
                finally:
                    decref(one)
    return 0


cdef inline bint exclusive(PyObject *ct) noexcept:
    """May the holder of `ct`, one reference, do with its memory what it likes?"""
    if Py_REFCNT(ct) != 1 or (<Tensor>ct).storage == NULL or (<Tensor>ct).storage.refs != 1:
        return False
    return (<Tensor>ct).flags & CONTIGUOUS and (<Tensor>ct).node is None


cdef object owned(PyObject **ct):
    """The cotangent in `ct` as a tensor that shares memory with no other; empties `ct` if it can."""
    cdef Tensor x
    if (<Tensor>ct[0]).flags & SYMBOLIC:
        return <object>ct[0]  # without memory there is none to share
    if (<Tensor>ct[0]).flags & ROWS and not exclusive(ct[0]):
        return (<object>ct[0]).copied()
    if exclusive(ct[0]):
        x = <Tensor>ct[0]
        decref(ct[0])
        ct[0] = NULL
        return x
    return copy_of(<object>ct[0])


cdef object copy_of(object ct):
    cdef PyObject *inputs[1]
    inputs[0] = <PyObject *>ct
    return apply(copy_op, inputs, 1, ())


cdef int accumulate(Tensor leaf, PyObject **ct) except -1:
    """Add to `.grad`, in place where there is one.

    Large additions let go of the GIL, so another thread's walk may come to the same leaf meanwhile. What is being added
    to is therefore taken away from the leaf; what is found there afterwards is added too.
    """
    cdef Tensor grad, own = None
    while True:
        if not isinstance(leaf.grad_value, Tensor):  # none, or zeros that were never written
            if own is None:
                own = owned(ct)
                own.flags &= ~<uint32_t>STOP_GRADIENT  # as in Paddle
                if isinstance(leaf.grad_value, Tensor):
                    continue
            leaf.grad_value = own
            return 0
        grad = leaf.grad_value
        leaf.grad_value = None
        more = <object>ct[0] if own is None else own
        try:
            if (<Tensor>more).flags & LATER:
                more = more.to_dense()
            if grad.flags & LATER:
                grad = grad.to_dense()
            if (grad.flags | (<Tensor>more).flags) & ROWS:
                own = add_rows(grad, more)
                own.flags &= ~<uint32_t>STOP_GRADIENT
            elif grad.storage != NULL and grad.node is None and same_meta(grad, <Tensor>more) and not grad_enabled():
                own = inplace(add_op, grad, more)
            else:
                own = apply2(add_op, grad, more, ())
        except BaseException:
            if leaf.grad_value is None:
                leaf.grad_value = grad
            raise
        if leaf.grad_value is None:
            leaf.grad_value = own
            return 0


cdef inline bint same_meta(Tensor x, Tensor y) noexcept:
    return x.t.dtype == y.t.dtype and x.t.rank == y.t.rank and \
        memcmp(x.dims, y.dims, x.t.rank * sizeof(int64_t)) == 0


cdef int write_out(PyObject **ct) except -1:
    """A gradient that is dense when somebody looks becomes dense."""
    cdef PyObject *old = ct[0]
    if (<Tensor>old).flags & LATER:
        dense = (<object>old).to_dense()
        ct[0] = <PyObject *>dense
        incref(ct[0])
        decref(old)
    return 0


cdef int give(Walk walk, PyObject **to, PyObject *ct) except -1:
    """Add `ct`, a reference that this function takes over, to a slot."""
    cdef PyObject *had = to[0]
    if had == NULL:
        to[0] = ct
        return 0
    try:
        write_out(to)
        had = to[0]
        write_out(&ct)
        if ((<Tensor>had).flags | (<Tensor>ct).flags) & ROWS:
            total = add_rows(<object>had, <object>ct)
            to[0] = <PyObject *>total
            incref(to[0])
            decref(had)
        elif not walk.create and exclusive(had):
            inplace(add_op, <Tensor>had, <object>ct)
        elif not walk.create and exclusive(ct):
            inplace(add_op, <Tensor>ct, <object>had)
            to[0] = ct
            ct = had
        else:
            total = apply2(add_op, <object>had, <object>ct, ())
            to[0] = <PyObject *>total
            incref(to[0])
            decref(had)
    finally:
        decref(ct)
    return 0


cdef inline bint fits(PyObject *given, Input *one) noexcept:
    """Is it what `fit` would return?"""
    return Py_TYPE(given) == <PyTypeObject *>Tensor and (<Tensor>given).t.dtype == one.dtype and (<Tensor>given).t.rank == one.rank \
        and not (<Tensor>given).flags & ROWS and not memcmp((<Tensor>given).dims, one.shape, one.rank * sizeof(int64_t))


cdef object fit(object given, Node node, Input *one):
    """A cotangent in the dtype and, broadcast axes summed, in the shape of the input it belongs to."""
    cdef Tensor ct
    cdef PyObject *inputs[2]
    if not isinstance(given, Tensor):
        raise TypeError(
            f"the gradient rule of '{name_of(node)}' returned something else than cotangents. "
            f"Got {type(given).__name__}, expected a Tensor or None for each input. Mend the rule."
        )
    ct = <Tensor>given
    if ct.flags & ROWS:
        if ct.t.dtype == one.dtype and not is_node(one.target):
            return ct
        ct = ct.to_dense()  # only leaves take rows
    if ct.t.dtype != one.dtype:
        inputs[0] = <PyObject *>ct
        if ct.t.dtype >= 10 and one.dtype < 10:
            ct = apply(real_op, inputs, 1, ())
            inputs[0] = <PyObject *>ct
        if ct.t.dtype != one.dtype:
            ct = apply(cast_op, inputs, 1, (dtypes[one.dtype],))
    if ct.t.rank != one.rank or memcmp(ct.dims, one.shape, one.rank * sizeof(int64_t)):
        like = <object>one.kept if one.kept != NULL and type(<object>one.kept) is not Saved \
            else new_ghost(one.dtype, one.rank, one.shape)
        inputs[0] = <PyObject *>ct
        inputs[1] = <PyObject *>like
        ct = apply(sum_like_op, inputs, 2, ())
    return ct


cdef int visit_node(Walk walk, State *state) except -1:
    """Run hooks and rule of one node and pass on what comes out. `state` moves when states are added:
    none are during `go`."""
    cdef Node node = <Node>state.target
    cdef int32_t i
    cdef bint any_ct = False
    cdef Py_ssize_t n_results = 0, found
    cdef Input *one
    cdef State *next
    cdef PyObject *ct
    cdef int64_t begin = 0, allocated = 0
    if state.more == NULL:
        any_ct = state.first != NULL
    else:
        for i in range(state.n_slots):
            any_ct = any_ct or state.more[i] != NULL
    if any_ct and node.flags & HAS_EXTRAS:
        run_extras(node, state, node.extras)
    if state.captured:
        capture(walk, state - walk.states)
    if walk.selective and not leads_on(walk, node):
        drop(state)
        return 0

    if node.flags & FREED:
        raise freed(node)
    if tracing:
        begin, allocated = trace_now(), allocated_now()
    if slots_in_use:
        begin_slot(walk, node, state)
    results = call_rule(walk, node, state) if any_ct else None
    if slots_in_use:
        results = end_slot(walk, node, results)
    if begin:
        trace_event(OPERATOR_EVENT, name_of(node) + "_grad", begin, 0, trace_now(), allocated)
    drop(state)
    if results is not None:
        n_results = PyTuple_GET_SIZE(results)
    for i in range(node.n_inputs):
        one = node.inputs + i
        if one.target == NULL or (walk.blocked is not None and is_blocked(walk, one)):
            continue
        found = find(walk, one.target)
        next = walk.states + found
        if not next.needed:
            continue
        if i < n_results and PyTuple_GET_ITEM(results, i) != <PyObject *>None:
            ct = PyTuple_GET_ITEM(results, i)
            if fits(ct, one):
                incref(ct)
            else:
                given = fit(<object>ct, node, one)
                ct = <PyObject *>given
                incref(ct)
                given = None
            give(walk, slot(next, one.index), ct)
        next.waiting -= 1
        if next.waiting == 0:
            walk.ready[walk.n_ready] = <int32_t>found
            walk.n_ready += 1
    results = None
    if not walk.retain:
        release(node)
        if type(node.rule) is not Rule:
            node.rule = name_of(node)  # the rule itself may hold saved tensors
    return 0


cdef bint leads_on(Walk walk, Node node) noexcept:
    cdef int32_t i
    cdef Py_ssize_t found
    for i in range(node.n_inputs):
        if node.inputs[i].target != NULL:
            found = find(walk, node.inputs[i].target)
            if found >= 0 and walk.states[found].needed:
                return True
    return False


# ------------------------------------------------------------------------------------ calling rules

cdef tuple call_rule(Walk walk, Node node, State *state):
    """What the rule makes of the cotangents in `state`, as a tuple."""
    cdef PyObject *small[SMALL_CALL]
    cdef PyObject **args = small
    cdef Rule rule
    cdef Py_ssize_t i, n, n_attrs
    cdef Tensor like
    if type(node.rule) is not Rule:
        return call_custom(node, state)
    rule = <Rule>node.rule
    if rule.function is None:
        raise no_rule(rule.op)
    n_attrs = PyTuple_GET_SIZE(node.attrs)
    n = 2 + node.n_inputs + n_attrs + 1
    if n > SMALL_CALL:
        args = <PyObject **>malloc(n * sizeof(void *))
        if args == NULL:
            raise MemoryError()
    # Every entry is a borrowed reference; `alive` holds what is made for this call.
    alive = None
    try:
        if state.more == NULL:
            args[0] = state.first
            like = <Tensor>state.first
            alive = output_of(walk, node, 0, like, alive, args + 1)
        else:
            cts = tuple([None if state.more[i] == NULL else <object>state.more[i] for i in range(state.n_slots)])
            outs = []
            for i in range(node.n_outputs):
                alive = output_of(walk, node, <int32_t>i, None, alive, args + 1)
                outs.append(<object>args[1])
            outs = tuple(outs)
            args[0] = <PyObject *>cts
            args[1] = <PyObject *>outs
            like = None
        for i in range(node.n_inputs):
            alive = input_of(node, <int32_t>i, like, alive, args + 2 + i)
        n = 2 + node.n_inputs
        for i in range(n_attrs):
            args[n + i] = <PyObject *>PyTuple_GET_ITEM(node.attrs, i)
        if rule.wants_needs:
            needs = needs_of(walk, node)
            args[n + n_attrs] = <PyObject *>needs
        given = PyObject_Vectorcall(rule.function, args, n, NULL if rule.kwnames is None else <PyObject *>rule.kwnames)
    finally:
        if args != small:
            free(args)
    if not PyTuple_CheckExact(<PyObject *>given):
        given = (given,)
    n = PyTuple_GET_SIZE(given)
    if n != node.n_inputs and not (rule.op.variadic and n < node.n_inputs):
        raise AssertionError(
            f"vjp rule of '{rule.op.name}' returned {n} cotangents, expected {node.n_inputs}, one for each input"
        )
    return <tuple>given


# Slots: where a leaf has a buffer for its gradient, the op of the rule that makes the gradient writes it there. Which one that is, is
# learned: in the first call of a rule the results of its ops are compared with what it returns, and in later ones the op with
# that number writes into the slot. Where a rule goes another way than the last time, the gradient is copied, and learned anew.

cdef bint slots_in_use = False
cdef enum:
    SMALLEST_SLOT = 1 << 18   # bytes: the layer takes 4 us, a copy of 64 KiB 0.7, of 1 MiB 16


@cython.final
cdef class SlotLayer:
    """Stands in the place of the kernels while a rule runs."""
    cdef Tensor slot       # an alias of the buffer
    cdef Tensor leaf
    cdef LeafRecord record
    cdef int32_t input     # which one of the node the leaf is
    cdef Py_ssize_t at     # the number of the op that writes there; -1: learning
    cdef Py_ssize_t count
    cdef bint used
    cdef list made         # while learning

    def __call__(self, Op op, tuple inputs, tuple attrs):
        cdef Tensor slot = self.slot
        cdef Py_ssize_t count = self.count
        self.count += 1
        if self.at < 0:
            out = op.run(inputs, attrs)
            self.made.append(out)
            return out
        if count == self.at and not op.view and len(op.outputs) == 1:
            (meta,) = op.infer(inputs, attrs)
            if meta.dtype is dtypes[slot.t.dtype] and list(meta.shape) == slot.shape:
                self.used = True
                return op.run_into(slot, inputs, attrs)
        return op.run(inputs, attrs)

    def into(self, Op op, tuple outs, tuple inputs, tuple attrs):
        if len(outs) != 1:
            self.count += 1
            return op.into(outs, *inputs, **dict(zip(op.attr_names, attrs)))
        return op.run_into(outs[0], inputs, attrs)


cdef bint reads(PyObject *kept, Tensor buffer) noexcept:
    """Does what was kept lie in the memory of `buffer`, or may it?"""
    if Py_TYPE(kept) != <PyTypeObject *>Saved:
        return (<Tensor>kept).storage == buffer.storage
    if (<Saved>kept).unpack is not None:
        return True
    for x in <tuple>(<Saved>kept).packed:
        if x is not None and (<Tensor>x).storage == buffer.storage:
            return True
    return False


cdef bint may_read(Node node, State *state, Tensor buffer) noexcept:
    """May the rule read the memory that the buffer lies in?"""
    cdef int32_t i
    cdef PyObject *one
    for i in range(state.n_slots):
        one = slot(state, i)[0]
        if one != NULL and (<Tensor>one).storage == buffer.storage:
            return True
    for i in range(node.n_inputs):
        one = node.inputs[i].kept
        if one != NULL and reads(one, buffer):
            return True
    for i in range(node.n_outputs):
        one = node.outputs[i].kept
        if one != NULL and reads(one, buffer):
            return True
    return False


cdef int begin_slot(Walk walk, Node node, State *state) except -1:
    """Before a rule runs: where it makes the gradient of a leaf that has a buffer, let it be written there if that can be done."""
    global in_slot
    cdef Rule rule
    cdef int32_t i
    cdef Py_ssize_t known
    cdef Input *one
    cdef State *next
    cdef Tensor leaf, buffer
    cdef LeafRecord record
    cdef SlotLayer layer
    if walk.selective or type(node.rule) is not Rule:
        return 0
    rule = <Rule>node.rule
    for i in range(node.n_inputs):
        one = node.inputs + i
        if one.target == NULL or is_node(one.target) or not (<Tensor>one.target).flags & HAS_HOOKS:
            continue
        leaf = <Tensor>one.target
        record = <LeafRecord>leaf.hooks
        buffer = record.buffer
        next = walk.states + find(walk, one.target)
        # Hooks may keep what they are shown; a second contribution is added, and needs both.
        if buffer is None or record.before or record.writers or next.waiting != 1 or next.first != NULL \
                or isinstance(leaf.grad_value, Tensor) or buffer.t.size * dtypes[buffer.t.dtype].itemsize < SMALLEST_SLOT \
                or not same_meta(buffer, leaf) or leaf.t.dtype != one.dtype or leaf.t.rank != one.rank \
                or memcmp(leaf.dims, one.shape, one.rank * sizeof(int64_t)) or may_read(node, state, buffer):
            continue
        known = -1 if rule.slot_calls is None else rule.slot_calls.get(i, -1)
        if known == -2 or layers_active():  # no op of the rule makes it; or ops are captured
            continue
        layer = SlotLayer.__new__(SlotLayer)
        layer.slot = new_alias(buffer)
        layer.slot.flags |= STOP_GRADIENT
        layer.record = record
        layer.leaf = leaf
        layer.input = i
        layer.at = known
        layer.made = []
        if walk.slots is None:
            walk.slots = Slots.__new__(Slots)
            walk.slots.written = []
        push_layer(layer)
        in_slot += 1
        walk.slots.layer = layer
        record.writers += 1
        return 0
    return 0


cdef tuple end_slot(Walk walk, Node node, tuple results):
    """After the rule."""
    global in_slot
    cdef SlotLayer layer = None if walk.slots is None else walk.slots.layer
    cdef Rule rule
    cdef Tensor given = None
    cdef Py_ssize_t known = -1, k
    if layer is None:
        return results
    rule = <Rule>node.rule
    if results is not None and layer.input < len(results) and isinstance(results[layer.input], Tensor):
        given = <Tensor>results[layer.input]
    pop_layer(layer)
    in_slot -= 1
    walk.slots.layer = None
    if layer.used and given is layer.slot and sum([item is given for item in results]) == 1:
        walk.slots.written.append(layer.record)
        return results
    layer.record.writers -= 1
    if layer.used:  # what was written there is something else: none but copies may show it
        results = tuple([
            copy_of(item) if isinstance(item, Tensor) and (<Tensor>item).storage == layer.slot.storage else item for item in results
        ])
    elif layer.at < 0 and given is not None and not given.flags & ROWS and same_meta(given, layer.leaf):
        known = -2
        for k in range(len(layer.made)):
            if layer.made[k] is given:
                known = k
    if rule.slot_calls is None:
        rule.slot_calls = {}
    rule.slot_calls[layer.input] = known
    return results


cdef int abandon_slots(Walk walk) except -1:
    """At the end of a walk: a layer and leaves that are left belong to one that failed."""
    global in_slot
    cdef Slots slots = walk.slots
    walk.slots = None
    for one in slots.written:
        (<LeafRecord>one).writers -= 1
    if slots.layer is not None:
        slots.layer.record.writers -= 1
        pop_layer(slots.layer)
        in_slot -= 1
    return 0


cdef object no_rule(Op op):
    return NotImplementedError(
        f"no gradient rule for '{op.name}'. Got a backward pass through it, expected one that does not need its "
        f"gradient. Add a rule with @vjp.rule(ops.{op.name}) in wherry_autograd/vjp, or a decomposition beside "
        f"the op's declaration; in-place forms need the rule."
    )


cdef list output_of(Walk walk, Node node, int32_t index, Tensor like, list alive, PyObject **arg):
    """Puts the output, or a tensor that has its shape and dtype, into `arg`; returns `alive`, perhaps longer."""
    cdef Output *out = node.outputs + index
    cdef Tensor x
    if out.kept == NULL:
        # The cotangent has the output's shape and dtype, and a rule that does not keep the output uses no more.
        if like is not None and like.t.rank == out.rank and like.t.dtype == out.dtype and \
                memcmp(like.dims, out.shape, out.rank * sizeof(int64_t)) == 0:
            arg[0] = <PyObject *>like
            return alive
        x = new_ghost(out.dtype, out.rank, out.shape)
    else:
        if node.flags & PACKED and type(<object>out.kept) is Saved:
            x = new_alias(unpack(node, out.kept))
        else:
            x = <Tensor>out.kept
            if x.storage != NULL and x.storage.version != out.version:
                raise overwritten(node, "its output", x.storage.version, out.version)
        if not walk.create:
            arg[0] = <PyObject *>x
            if alive is None:
                alive = []
            alive.append(x)
            return alive
        # An alias with history, so that the rule's result depends on the inputs through it. The kept one
        # must not have it: it would keep the node alive that keeps it.
        if not x.flags & SYMBOLIC:
            x = new_alias(x)
            x.node = node
            x.output_index = index
            x.flags &= ~<uint32_t>STOP_GRADIENT
    if alive is None:
        alive = []
    alive.append(x)
    arg[0] = <PyObject *>x
    return alive


cdef list input_of(Node node, int32_t index, Tensor like, list alive, PyObject **arg):
    """The same for an input."""
    cdef Input *one = node.inputs + index
    cdef Tensor x
    if one.rank < 0:
        arg[0] = <PyObject *>None
        return alive
    if one.kept != NULL:
        if node.flags & PACKED and type(<object>one.kept) is Saved:
            x = computed_again(node, index) if (<Saved>one.kept).unpack is None else unpack(node, one.kept)
        else:
            x = <Tensor>one.kept
            if one.version != UNCHECKED and x.storage.version != one.version:
                raise overwritten(node, f"its input {index}", x.storage.version, one.version)
            arg[0] = <PyObject *>x
            return alive
    elif like is not None and like.t.rank == one.rank and like.t.dtype == one.dtype and \
            memcmp(like.dims, one.shape, one.rank * sizeof(int64_t)) == 0:
        arg[0] = <PyObject *>like
        return alive
    else:
        x = new_ghost(one.dtype, one.rank, one.shape)
    if alive is None:
        alive = []
    alive.append(x)
    arg[0] = <PyObject *>x
    return alive


cdef object overwritten(Node node, str what, now, then):
    return RuntimeError(
        f"backward of '{name_of(node)}': {what} was modified in place after it was saved for the gradient. "
        f"Got version {now} of its memory, expected version {then}. "
        f"Use the form of the in-place operation that makes a new tensor, or apply it to a copy: x.clone()."
    )


cdef tuple needs_of(Walk walk, Node node):
    cdef int32_t i
    cdef uint64_t mask = 0
    cdef Py_ssize_t found
    cdef bint needed
    if node.n_inputs <= 4:
        for i in range(node.n_inputs):
            if is_needed(walk, node.inputs + i):
                mask |= <uint64_t>1 << i
        return <tuple>needs_of_mask[node.n_inputs * 16 + <Py_ssize_t>mask]
    return tuple([is_needed(walk, node.inputs + i) for i in range(node.n_inputs)])


cdef inline bint is_needed(Walk walk, Input *one) noexcept:
    cdef Py_ssize_t found
    if one.target == NULL or not walk.selective:
        return one.target != NULL
    found = find(walk, one.target)  # none behind a blocked tensor
    return found >= 0 and walk.states[found].needed


cdef tuple call_custom(Node node, State *state):
    cdef int32_t i
    cts = [None if slot(state, i)[0] == NULL else <object>slot(state, i)[0] for i in range(node.n_outputs)]
    return tuple(node.rule(node, cts))


# ---------------------------------------------------------------------------------- what users call

cdef object add_rows = None  # of rows.py: the sum of two gradients of which at least one is a SelectedRows


def set_add_rows(function):
    global add_rows
    add_rows = function


cdef extern from *:
    """
    static __thread int walks_of_thread; /* that have begun and not ended, one inside of the other */
    static __thread int in_slot; /* a rule runs that writes into a buffer */
    """
    int walks_of_thread
    int in_slot

cdef bint callbacks_in_use = False    # there are callbacks, or hooks and PyLayers, which may set one while a pass runs
cdef object at_end = __import__("threading").local()  # `always` and `now`: callbacks by key, of the thread and of its running pass


cdef dict callbacks_of_thread(str name):
    cdef dict found = getattr(at_end, name, None)
    if found is None:
        found = {}
        setattr(at_end, name, found)
    return found


def add_at_end(callback):
    """Call `callback(error)` when an outermost `backward` of the calling thread ends; where one is running, when that one ends, and
    then no more. Returns the dict that holds it, and its key."""
    global next_hook, callbacks_in_use
    cdef dict callbacks = callbacks_of_thread("now" if walks_of_thread else "always")
    callbacks_in_use = True
    next_hook += 1
    callbacks[next_hook] = callback
    return callbacks, next_hook


cdef int finish(object error) except -1:
    """Call every callback of the pass that has ended, and raise what failed first: the pass, or one of them."""
    cdef dict now = callbacks_of_thread("now")
    callbacks = list(callbacks_of_thread("always").values()) + list(now.values())
    now.clear()
    first = error
    for callback in callbacks:
        try:
            callback(error)
        except BaseException as failed:
            if first is None:
                first = failed
            elif failed is not first:
                first.add_note(f"At the end of this backward pass {getattr(callback, '__qualname__', callback)} raised {type(failed).__name__}: {failed}")
    if first is not None:
        raise first
    return 0


cdef int run_walk(Walk walk) except -1:
    """`explore` and `go`; after the outermost walk the callbacks, also where it fails. A walk inside of a walk is part of that one."""
    global walks_of_thread
    if not callbacks_in_use:
        explore(walk)
        return go(walk)
    walks_of_thread += 1
    try:
        explore(walk)
        go(walk)
    except BaseException as error:
        walks_of_thread -= 1
        if not walks_of_thread:
            finish(error)
        raise
    walks_of_thread -= 1
    if not walks_of_thread:
        finish(None)
    return 0


cdef list scalar_ones = [None] * WRY_NUM_DTYPES   # of the cpu, by dtype
cdef dict scalar_ones_elsewhere = {}  # by device and dtype


cdef object seed(Tensor root):
    """Ones in the shape of a root. A scalar one, the commonest, is made once for each dtype."""
    cdef PyObject *inputs[1]
    cdef Tensor one
    cdef bint before
    if root.t.rank == 0 and not root.flags & SYMBOLIC:
        one = scalar_ones[root.t.dtype] if root.t.device == 0 else \
            scalar_ones_elsewhere.get((root.t.device, root.t.dtype))
        # A hook that wrote into it has raised its version.
        if one is not None and one.storage.version == 0:
            return one
    inputs[0] = <PyObject *>root
    before = set_grad_enabled_flag(False)
    try:
        one = apply(full_like_op, inputs, 1, (1.0, dtypes[root.t.dtype]))
    finally:
        set_grad_enabled_flag(before)
    if root.t.rank == 0 and one.storage != NULL:
        if root.t.device == 0:
            scalar_ones[root.t.dtype] = one
        else:
            scalar_ones_elsewhere[root.t.device, root.t.dtype] = one
    return one


cdef int add_root(Walk walk, Tensor root, ct) except -1:
    cdef PyObject *target = <PyObject *>root if root.node is None else <PyObject *>root.node
    cdef PyObject *one
    cdef Py_ssize_t i = meet(walk, target)
    if ct is None:
        ct = seed(root)
    one = <PyObject *>ct
    incref(one)
    ct = None
    give(walk, slot(walk.states + i, 0 if root.node is None else root.output_index), one)
    return 0


cdef tuple checked_roots(object tensors, object cotangents, str what):
    """Lists of the roots and of their cotangents, of one length, or None for the cotangents."""
    tensors = list(tensors)
    need_tensors(tensors, what)
    if cotangents is not None:
        cotangents = list(cotangents)
        if len(cotangents) != len(tensors):
            raise ValueError(f"{what}: got {len(cotangents)} cotangents, expected {len(tensors)}, one for each tensor.")
        need_tensors([ct for ct in cotangents if ct is not None], what)
    return tensors, cotangents


def run_backward(tensors, cotangents, bint retain_graph):
    """Accumulate the gradients of `tensors` into the leaves. The callers check all but the types of arguments."""
    cdef Walk walk = Walk.__new__(Walk)
    cdef Py_ssize_t i
    cdef int64_t begin = 0, allocated = 0
    walk.retain = retain_graph
    tensors, cotangents = checked_roots(tensors, cotangents, "run_backward")
    for i in range(len(tensors)):
        if not (<Tensor>tensors[i]).flags & STOP_GRADIENT:
            add_root(walk, <Tensor>tensors[i], None if cotangents is None else cotangents[i])
    if tracing:
        begin, allocated = trace_now(), allocated_now()
    run_walk(walk)
    if begin:
        trace_event(BACKWARD_EVENT, "backward", begin, 0, trace_now(), allocated)


def run_grad(outputs, inputs, cotangents, bint retain_graph, bint create_graph, blocked):
    """Cotangents of `inputs`, a list with None where there is none. The caller checks all but types."""
    cdef Walk walk = Walk.__new__(Walk)
    cdef Tensor x
    cdef Py_ssize_t i, found
    cdef PyObject *ct
    walk.retain = retain_graph
    walk.create = create_graph
    walk.selective = True
    outputs, cotangents = checked_roots(outputs, cotangents, "run_grad")
    inputs = list(inputs)
    need_tensors(inputs, "run_grad")
    if blocked:
        blocked = list(blocked)
        need_tensors(blocked, "run_grad")
        walk.blocked = set([
            (<size_t><PyObject *>(x if x.node is None else x.node), 0 if x.node is None else x.output_index)
            for x in blocked
        ])
    for i in range(len(outputs)):
        if not (<Tensor>outputs[i]).flags & STOP_GRADIENT:
            add_root(walk, <Tensor>outputs[i], None if cotangents is None else cotangents[i])
    explore(walk)
    walk.captures = []
    walk.captured = [None] * len(inputs)
    for x in inputs:
        found = find(walk, <PyObject *>x if x.node is None else <PyObject *>x.node)
        walk.captures.append((found, 0 if x.node is None else x.output_index))
        if found >= 0:
            walk.states[found].captured = True
        elif walk.dead_end is not None:
            raise freed(walk.dead_end)
    select(walk)
    go(walk)
    for i in range(walk.n_states):
        drop(walk.states + i)
    results = walk.captured
    for i in range(len(results)):
        if results[i] is None or create_graph:
            continue
        ct = <PyObject *>results[i]  # the list's is the one reference where the tensor is ours alone
        if not (<Tensor>ct).flags & SYMBOLIC and not exclusive(ct):
            results[i] = copy_of(<object>ct)
        (<Tensor>results[i]).flags |= STOP_GRADIENT
    return results


cdef long next_hook = 0


def add_hook(Tensor x not None, hook):
    """Call `hook` with the gradient of `x` once it is complete. Returns the dict that holds it, and its key."""
    global next_hook, callbacks_in_use
    callbacks_in_use = True
    cdef dict hooks
    if x.node is None:
        hooks = record_of(x).before
    else:
        hooks = extras_of(x)[0]
    next_hook += 1
    hooks[next_hook] = hook
    return hooks, next_hook


cdef LeafRecord record_of(Tensor x):
    cdef LeafRecord record
    if x.hooks is None:
        record = LeafRecord.__new__(LeafRecord)
        record.before = {}
        record.after = {}
        x.hooks = record
        x.flags |= HAS_HOOKS
    return <LeafRecord>x.hooks


def add_after_hook(Tensor x not None, hook):
    """Call `hook(x)` once the gradient of the leaf `x` is in `.grad`. Returns the dict that holds it, and its key."""
    global next_hook, callbacks_in_use
    callbacks_in_use = True
    cdef dict hooks = record_of(x).after
    next_hook += 1
    hooks[next_hook] = hook
    return hooks, next_hook


def set_buffer(Tensor x not None, Tensor buffer):
    """Where backward writes the gradient of the leaf `x`; None for memory of its own. Checked by the caller."""
    global slots_in_use
    record_of(x).buffer = buffer
    slots_in_use = slots_in_use or buffer is not None


def writes_into_buffer():
    """Does the rule that this thread runs make a gradient that is to be written into a buffer?"""
    return in_slot != 0


def get_buffer(Tensor x not None):
    """The gradient buffer of `x`, or None."""
    return None if x.hooks is None else (<LeafRecord>x.hooks).buffer


cdef list extras_of(Tensor x):
    cdef Node node = <Node>x.node
    if node.extras is None:
        node.extras = {}
        node.flags |= HAS_EXTRAS
    return node.extras.setdefault(x.output_index, [{}, None])


def retain_grad(Tensor x not None):
    """Keep the gradient of `x` in `.grad` although `x` is not a leaf."""
    if x.node is not None:
        extras_of(x)[1] = weakref.ref(x)


set_record_functions(record, protect)


def show_frames(bint wanted):
    """Whether tracebacks have entries for the compiled functions of this module."""
    global wry_show_frames
    wry_show_frames = wanted
