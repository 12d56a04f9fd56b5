# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, binding=True
# cython: auto_pickle=False
"""What a call of a captured function does beside its kernels: recognise the arguments, record one step of autograd, go back through it.

`Guard` says whether a call is like the one before, so that its program is known without a look into a table. `Trained` runs the
forward pass as one plan and records it; `Backward` is the rule of what was recorded, and runs the backward pass as another.
"""
cimport cython
from libc.stdint cimport int32_t, int64_t
from libc.stdlib cimport calloc, free

from wherry_tensor._core cimport STOP_GRADIENT, SYMBOLIC, DType, Tensor, grad_enabled, layers_active

from wherry_autograd._engine import record_custom
from wherry_program.run.planner import SegmentBreak, NeedsNumber
from wherry_tensor import ops
from wherry_tensor.dtype import default_dtype

cdef enum:
    MAX_RANK = 12

cdef object full = ops.full


ctypedef struct Argument:
    bint is_tensor        # else the value itself has to be the same object
    bint stop_gradient
    int32_t dtype
    int32_t rank
    int64_t dims[MAX_RANK]


@cython.final
cdef class Guard:
    """What a call has to be like for the program that was found for `args` to be right for it too.

    Args:
        args: positional arguments of a call: Tensors, and values of Python that cannot change.
        modes: (layer, mode) of each layer that the program was captured with.
        stops: (parameter, whether it stopped gradients) of each parameter that the program uses.
    """
    cdef Argument *arguments
    cdef Py_ssize_t n
    cdef tuple args
    cdef list modes
    cdef list stops
    cdef object dtype
    cdef bint grads

    def __cinit__(self, tuple args not None, list modes not None, list stops not None):
        cdef Py_ssize_t i, k
        cdef Tensor x
        self.n = len(args)
        self.arguments = <Argument *>calloc(self.n + 1, sizeof(Argument))
        if self.arguments == NULL:
            raise MemoryError()
        kept = []
        for i in range(self.n):
            if isinstance(args[i], Tensor):
                x = <Tensor>args[i]
                self.arguments[i].is_tensor = True
                self.arguments[i].stop_gradient = x.flags & STOP_GRADIENT
                self.arguments[i].dtype, self.arguments[i].rank = x.t.dtype, x.t.rank
                for k in range(x.t.rank):
                    self.arguments[i].dims[k] = x.dims[k]
                kept.append(None)  # a batch lives no longer for this
            else:
                kept.append(args[i])
        self.args, self.modes = tuple(kept), modes
        self.stops = stops
        self.dtype, self.grads = default_dtype(), grad_enabled()

    def __dealloc__(self):
        free(self.arguments)

    @staticmethod
    def knows(tuple args not None):
        """Can a guard recognise these arguments?"""
        if layers_active():
            return False
        for value in args:
            if isinstance(value, Tensor):
                if (<Tensor>value).flags & SYMBOLIC:
                    return False
            elif value is not None and type(value) not in (bool, int, float, str):
                return False
        return True

    def tensors(self, tuple args not None):
        """The tensors among the arguments; None where they, or what is around the call, differ."""
        cdef Py_ssize_t i
        cdef int32_t k
        cdef Argument *a
        cdef Tensor x
        cdef list found
        if len(args) != self.n or layers_active() or grad_enabled() != self.grads or default_dtype() is not self.dtype:
            return None
        found = []
        for i in range(self.n):
            a = self.arguments + i
            value = args[i]
            if not a.is_tensor:
                if value is not self.args[i]:
                    return None
                continue
            if not isinstance(value, Tensor):
                return None
            x = <Tensor>value
            if x.t.dtype != a.dtype or x.t.rank != a.rank or x.flags & SYMBOLIC or bool(x.flags & STOP_GRADIENT) != a.stop_gradient:
                return None
            for k in range(a.rank):
                if x.dims[k] != a.dims[k]:
                    return None
            found.append(x)
        for layer, mode in self.modes:
            if layer.training is not mode:
                return None
        for tensor, stop in self.stops:
            if bool((<Tensor>tensor).flags & STOP_GRADIENT) is not stop:
                return None
        return found


cdef list run_plan(executor, list values):
    """Run a compiled program: at once where it is one plan."""
    whole = executor.at_once
    if whole is not None:
        try:
            done = whole.run(values)
        except (SegmentBreak, NeedsNumber):
            done = None  # the executor meets it again, and divides the program
        if done is not None:
            return done
    return executor(*values)


@cython.final
cdef class Trained:
    """A forward pass that hands out what the backward pass needs, and the backward pass.

    Args:
        forward: compiled; gives the results, then what is saved.
        backward: compiled; takes what is saved, then the cotangents of the targets.
        n_results: how many results there are.
        targets: the results that cotangents may arrive at.
        from_call: positions of the tensors of a call that gradients are for.
        from_bound: tensors that the program is bound to and gradients are for.
        watched: the tensors that the program is bound to and the backward pass reads.
        handed: of each value that is given back, (result, None, None), (None, position in the call, None) or (None, None, tensor).
        again: called with tensors and cotangents; gives the gradients as a computation that can be differentiated.
    """
    cdef readonly object forward, backward
    cdef object again
    cdef Py_ssize_t n_results
    cdef list targets, from_call, from_bound, watched, handed

    def __init__(self, forward, backward, Py_ssize_t n_results, list targets, list from_call, list from_bound, list watched, list handed, again):
        self.forward, self.backward, self.n_results, self.again = forward, backward, n_results, again
        self.targets, self.from_call, self.from_bound, self.watched, self.handed = targets, from_call, from_bound, watched, handed

    def __call__(self, list tensors):
        """Run it; the values that are handed out."""
        cdef list values, sources, outs
        cdef Backward rule
        cdef list before = [] if self.again.draws else None
        if before is not None:
            self.again.note(before)
        values = run_plan(self.forward, tensors)
        if self.targets and (self.from_call or self.from_bound):
            sources = [tensors[i] for i in self.from_call] + self.from_bound if self.from_call else self.from_bound
            outs = [values[i] for i in self.targets]
            rule = Backward.__new__(Backward)
            rule.trained, rule.tensors, rule.saved, rule.drawn = self, tensors, values[self.n_results :], before
            rule.metas = [(tuple(x.shape), x.dtype) for x in outs] if len(outs) > 1 else None
            rule.versions = versions_of(rule.saved, self.watched)
            record_custom(rule, sources, outs)
        return [
            values[at] if at is not None else tensors[position] if position is not None else lasting for at, position, lasting in self.handed
        ]


cdef tuple versions_of(list saved, list watched):
    return tuple([version_of(<Tensor>x) if isinstance(x, Tensor) else 0 for x in saved] + [version_of(<Tensor>x) for x in watched])


cdef inline int64_t version_of(Tensor x):
    return x.storage.version if x.storage != NULL else 0


@cython.final
cdef class Backward:
    """The rule of autograd for one call of a captured function."""
    cdef Trained trained
    cdef list tensors, saved, metas, drawn
    cdef tuple versions
    name = "to_static"

    def __call__(self, node, cotangents):
        cdef list given = list(cotangents)
        cdef Py_ssize_t i
        if versions_of(self.saved, self.trained.watched) != self.versions:
            raise RuntimeError(
                "to_static: what the backward pass needs was changed in place after the forward pass. Got a tensor with other values, expected "
                "those that the call computed with. Call backward() before parameters, inputs or results are written to, or write to a clone()."
            )
        for i in range(len(given)):
            if given[i] is None:
                shape, dtype = self.metas[i]
                given[i] = full(shape=shape, value=0, dtype=dtype)
        if grad_enabled():  # create_graph
            return self.trained.again(self.tensors, given, self.drawn)
        return run_plan(self.trained.backward, self.saved + given)
