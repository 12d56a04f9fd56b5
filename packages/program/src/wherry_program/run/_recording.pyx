# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, binding=True
# cython: auto_pickle=False
"""Recording the call of an op: variables for its results, and a node. A model that is loaded is recorded call by call.

And looking at the nodes of a program, which each pass does.
"""
from cpython.object cimport PyObject
from cpython.ref cimport Py_INCREF

from wherry_tensor._core cimport PERSISTABLE, STOP_GRADIENT, Op, Tensor, grad_enabled

from wherry_nn.unique_name import generate
from wherry_tensor._core import hold_sizes, symbolic
from wherry_tensor.errors import InvalidArgumentError, short
from wherry_tensor.sizes import user_line

cdef extern from "structmember.h":
    ctypedef struct PyMemberDef:
        Py_ssize_t offset

    ctypedef struct PyMemberDescrObject:
        PyMemberDef *d_member

cdef enum:
    OP, INPUTS, ATTRS, OUTPUTS, BLOCK, IN_PLACE, BLOCKS, ROLE, LINE, SCOPE, DEVICE, SLOTS

cdef type node_class = None
cdef object variable_class = None
cdef object attrs_with = None
cdef object tensors_of_attrs = None
cdef Py_ssize_t places[SLOTS]  # of the slots of a node
cdef object too_large = 1 << 62  # a size
cdef str of_block = "block", of_maker = "made_by", of_bound = "bound", of_data = "is_data", of_array = "is_array"


def use(type node not None, variable, sizes_in, tensors_in):
    """Take what `wherry_program.program.ir` defines: the classes of nodes and variables, `attrs_with` and `tensors_of_attrs`."""
    global node_class, variable_class, attrs_with, tensors_of_attrs
    for i, name in enumerate(("op", "inputs", "attrs", "outputs", "block", "in_place", "blocks", "role", "line", "scope", "device")):
        member = vars(node)[name]
        if type(member).__name__ != "member_descriptor":
            raise TypeError(f"{node.__name__}.{name} is no slot.")
        places[i] = (<PyMemberDescrObject *><PyObject *>member).d_member.offset
    node_class, variable_class, attrs_with, tensors_of_attrs = node, variable, sizes_in, tensors_in


def new_variable(
    kind, block, tuple sizes not None, dtype, str name not None, bound=None, bint is_data=False, bint is_array=False,
    bint persistable=False, bint stop_gradient=True,
):
    """A variable of a class, as `Variable.of` describes it; the block does not know it yet."""
    cdef Tensor x
    cdef dict own
    for n in sizes:
        if type(n) is int and n >= too_large:
            raise InvalidArgumentError(
                f"Variable: no tensor has such a size. Got shape {short(list(sizes))}, expected sizes of at most 62 bits. "
                f"Check the sizes and their order."
            )
    x = symbolic(sizes, dtype, kind)
    x.name_value = name
    own = (<object>x).__dict__
    own[of_block], own[of_maker], own[of_bound], own[of_data], own[of_array] = block, None, bound, is_data, is_array
    if persistable:
        x.flags |= PERSISTABLE
    if not stop_gradient:
        x.flags &= ~<unsigned int>STOP_GRADIENT
    return x


def recorded(capture, Op op not None, tuple inputs not None, tuple attrs not None):
    """Record a call at the end of the block of a capture.

    Returns:
        The variables of its results.
    """
    cdef object block = capture.block
    cdef dict known = block.vars
    cdef list outs = []
    metas = op.infer(inputs, attrs)
    # Not counted under the op's name alone: names of layers and their parameters are.
    name = generate(op.name + ".tmp")
    while name in known:  # names were counted anew meanwhile
        name = generate(op.name + ".tmp")
    for meta in metas:
        label = f"{name}.{len(outs)}" if outs else name
        x = new_variable(variable_class, block, meta.shape, meta.dtype, label)
        if label in known:
            block.add(x)  # which refuses it
        known[label] = x
        outs.append(x)
    results = tuple(outs)
    record(capture, op, inputs, attrs, results)
    return results


def record(capture, op, tuple inputs not None, attrs, tuple outs not None, **options):
    """Append a node whose inputs and sizes may be any tensors that stand for variables. Returns the node."""
    cdef object block = capture.block, program = block.program, line = capture.line
    cdef list given = []
    cdef bint in_place = False
    if capture.no_grad_cuts and not grad_enabled():
        for x in outs:  # the code said so: no_grad(), detach()
            x.__dict__["cuts_gradient"] = True
    for x in inputs:
        if x is None or stands_for_itself(x, program):
            given.append(x)
        else:
            given.append(capture.variable_of(x))
    if hold_sizes(attrs):
        attrs = attrs_with(attrs, capture.variable_of)
    node = node_class.__new__(node_class)
    put(node, OP, op)
    put(node, INPUTS, tuple(given))
    put(node, ATTRS, attrs)
    put(node, OUTPUTS, outs)
    put(node, BLOCK, block)
    put(node, IN_PLACE, False)
    put(node, BLOCKS, ())
    put(node, ROLE, capture.role)
    put(node, LINE, user_line() if line is None else line)
    put(node, SCOPE, capture.scope)
    put(node, DEVICE, capture.device)
    if options:
        for name, value in options.items():
            setattr(node, name, value)
        in_place = node.in_place
    if not in_place:
        for x in outs:
            x.__dict__[of_maker] = node
    (<list?>block.nodes).append(node)
    return node


cdef bint stands_for_itself(x, program):
    """Whether it is a variable of the program that means what it says."""
    cdef dict own
    if type(x) is not variable_class and not isinstance(x, variable_class):
        return False
    own = x.__dict__
    return own[of_block].program is program and "now" not in own and "check" not in own


cdef inline void put(object node, int slot, object value) noexcept:
    """Write to a slot of a new node, which is empty."""
    Py_INCREF(value)
    (<PyObject **>(<char *><PyObject *>node + places[slot]))[0] = <PyObject *>value


cdef inline object get(object node, int slot):
    return <object>(<PyObject **>(<char *><PyObject *>node + places[slot]))[0]


def nodes_of(block):
    """The nodes of a block and of the blocks in it, outer ones first, as `Block.walk` gives them."""
    cdef list found = []
    walk_into(block, found)
    return found


cdef int walk_into(block, list found) except -1:
    for node in <list?>block.nodes:
        if type(node) is not node_class:
            raise TypeError(f"nodes_of: a block holds {type(node).__name__}, expected nodes.")
        found.append(node)
        for inner in <tuple?>get(node, BLOCKS):
            walk_into(inner, found)
    return 0


def state_of(block):
    """The nodes of a block and of those in it, each with its op, inputs and attributes: the same objects as long as nothing has replaced them."""
    cdef list found = []
    for node in nodes_of(block):
        found.append(node)
        found.append(get(node, OP))
        found.append(get(node, INPUTS))
        found.append(get(node, ATTRS))
    return found


def ids_written(block):
    """The ids of the variables that the nodes of a block, and of those in it, write over."""
    cdef set found = set()
    for node in nodes_of(block):
        if get(node, IN_PLACE):
            for x in get(node, OUTPUTS):
                found.add(id(x))
    return found


def ids_used(block):
    """The ids of the variables that nodes read or make, those in sizes included."""
    cdef set found = set()
    for node in nodes_of(block):
        for x in get(node, INPUTS):
            found.add(id(x))
        for x in get(node, OUTPUTS):
            found.add(id(x))
        attrs = get(node, ATTRS)
        if hold_sizes(attrs):
            for x in tensors_of_attrs(attrs):
                found.add(id(x))
    return found


def readers_in(block):
    """The nodes that read each variable, by its id; one that reads it twice stands there twice."""
    cdef dict of = {}
    for node in nodes_of(block):
        for x in get(node, INPUTS):
            if x is not None:
                note(of, x, node)
        attrs = get(node, ATTRS)
        if hold_sizes(attrs):
            for x in tensors_of_attrs(attrs):
                note(of, x, node)
        if get(node, IN_PLACE):
            for x in get(node, OUTPUTS):
                note(of, x, node)
    return of


cdef inline int note(dict of, x, node) except -1:
    at = id(x)
    known = of.get(at)
    if known is None:
        of[at] = [node]
    else:
        (<list>known).append(node)
    return 0


def has_op(block, ops):
    """Whether a node is of one of these ops."""
    for node in nodes_of(block):
        if get(node, OP) in ops:
            return True
    return False


def may_compute(block, dict known not None):
    """Whether an op is there whose inputs are all known, by id, or count for their shape alone."""
    for node in nodes_of(block):
        op = get(node, OP)
        if type(op) is Op and not is_open(<Op>op, <tuple?>get(node, INPUTS), known):
            return True
    return False


cdef bint is_open(Op op, tuple inputs, dict known) except -1:
    cdef Py_ssize_t i = 0
    for x in inputs:
        if x is not None and id(x) not in known and not (op.uses_shape_only(i) and -1 not in x.sizes):
            return True
        i += 1
    return False
