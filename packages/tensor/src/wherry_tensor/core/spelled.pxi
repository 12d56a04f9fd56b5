# Spelled: a function of the public API that also takes other spellings of its arguments, through vectorcall.

cdef extern from "Python.h":
    vectorcallfunc PyVectorcall_Function(object)
    object PyMethod_New(object, object)
    PyTypeObject *Py_TYPE(object)
    bint PyObject_TypeCheck(object, PyTypeObject *)
    int PySequence_Contains(PyObject *, PyObject *)
    int PyErr_ExceptionMatches(PyObject *)
    void PyErr_Clear()
    PyObject *PyExc_TypeError

cdef extern from *:
    """
    static PyObject *wry_int_of(PyObject *kind, PyObject *args) {
        return PyLong_Type.tp_new((PyTypeObject *)kind, args, NULL);  // of a subclass of int, without its __init__
    }
    /* `x.f(...)` calls `f(x, ...)` and makes no method. */
    static void wry_enable_unbound_calls(PyTypeObject *type) {
      type->tp_flags |= Py_TPFLAGS_METHOD_DESCRIPTOR;
      PyType_Modified(type);
    }
    """
    void wry_enable_unbound_calls(PyTypeObject *)
    object wry_int_of(object, tuple)

cdef object respell = None   # spellings.respell: (a Spelled, args, kwargs) -> the result


def set_respell(function):
    """Tell the core which function understands the calls that are spelled otherwise."""
    global respell
    respell = function


@cython.final
@cython.binding(False)   # methods check their self
cdef class Spelled:
    """A function, and what understands calls of it whose arguments have other names.

    A call that uses the function's own names goes to it as it is: of the names in a call, which are one tuple for each place in the program,
    the last that was found to be so is kept, and compared by identity. It shows itself as the function it holds.

    Args:
        function: the function, or method.
        names: its parameters.
        list_at: the position of a list that may be written as several numbers, as in `ones(2, 3)`; -1 where there is none.
        op: the op without attributes that the function is, where it does nothing else with tensors that fit: a call with its inputs alone
            goes there, and to the function when the op refuses them.
    """
    cdef void *vectorcall
    cdef readonly object __wrapped__
    cdef readonly tuple names
    cdef readonly Py_ssize_t list_at
    cdef tuple known          # names of a call that were found to be its own
    cdef vectorcallfunc call
    cdef Op op
    cdef object __weakref__

    def __init__(self, function not None, tuple names not None, Py_ssize_t list_at=-1, Op op=None):
        if self.vectorcall != NULL:
            raise TypeError("Spelled: got a second __init__, expected one.")
        self.call = PyVectorcall_Function(function)
        if self.call == NULL:
            raise TypeError(f"Spelled: got {type(function).__name__}, expected a function.")
        self.__wrapped__ = function
        self.names = tuple([intern_name(name) for name in names])
        self.list_at = list_at
        if op is not None and (op.n_attrs or op.variadic):
            raise ValueError(f"Spelled: got {op!r}, expected an op with a fixed number of inputs and without attributes.")
        self.op = op
        self.vectorcall = <void *>spelled_vectorcall

    def __get__(self, x, kind):
        return self if x is None else PyMethod_New(self, x)

    def __getattr__(self, name):
        return getattr(self.__wrapped__, name)

    def __setattr__(self, name, value):
        setattr(self.__wrapped__, name, value)

    def __reduce__(self):
        return self.__wrapped__.__qualname__   # by its name in its module, as functions are

    def __repr__(self):
        return repr(self.__wrapped__)

    @property
    def __class__(self):
        return type(self.__wrapped__)

    @property
    def __name__(self):
        return self.__wrapped__.__name__

    @property
    def __qualname__(self):
        return self.__wrapped__.__qualname__

    @property
    def __module__(self):
        return self.__wrapped__.__module__

    @property
    def __doc__(self):
        return self.__wrapped__.__doc__

    def __dir__(self):
        return dir(self.__wrapped__)


cdef PyObject *spelled_vectorcall(PyObject *self, PyObject *const *args, size_t nargsf, PyObject *kwnames) noexcept:
    # Without an exception of its own, so that nothing of this is in the user's traceback: what the function returns is handed on.
    cdef Py_ssize_t at = (<Spelled>self).list_at
    cdef PyObject *result
    cdef PyObject *op = <PyObject *>(<Spelled>self).op
    if op != <PyObject *>None and kwnames == NULL and <Py_ssize_t>PyVectorcall_NARGS(nargsf) == (<Op>op).n_fixed:
        result = (<vectorcallfunc><void *>op_vectorcall)(op, args, nargsf, NULL)
        if result != NULL or not PyErr_ExceptionMatches(PyExc_TypeError):
            return result
        PyErr_Clear()
    if kwnames != NULL and kwnames != <PyObject *>(<Spelled>self).known:
        if not are_own(<Spelled>self, <tuple>kwnames):
            return (<vectorcallfunc><void *>understood)(self, args, nargsf, kwnames)
        (<Spelled>self).known = <tuple>kwnames
    if at >= 0 and PyVectorcall_NARGS(nargsf) > <size_t>at + 1 and is_number(args[at]) and \
            (is_number(args[at + 1]) or PyObject_TypeCheck(<object>args[at + 1], <PyTypeObject *>Tensor)):
        return (<vectorcallfunc><void *>understood)(self, args, nargsf, kwnames)
    return (<Spelled>self).call(<PyObject *>(<Spelled>self).__wrapped__, args, nargsf, kwnames)


cdef bint are_own(Spelled self, tuple kwnames) noexcept:
    cdef Py_ssize_t i
    for i in range(PyTuple_GET_SIZE(kwnames)):
        if PySequence_Contains(<PyObject *>self.names, PyTuple_GET_ITEM(kwnames, i)) != 1:
            return False
    return True


cdef inline bint is_number(PyObject *value) noexcept:
    """Whether a value is a number of a list that is written out; after the first one tensors may stand, too."""
    return PyLong_Check(<object>value) and not PyBool_Check(<object>value) or Py_TYPE(<object>value) == <PyTypeObject *>size_class


cdef object understood(object self, PyObject *const *args, size_t nargsf, PyObject *kwnames):
    cdef Py_ssize_t given = <Py_ssize_t>PyVectorcall_NARGS(nargsf), i
    cdef dict named = {}
    if kwnames != NULL:
        for i, name in enumerate(<tuple>kwnames):
            named[name] = <object>args[given + i]
    return respell(self, tuple([<object>args[i] for i in range(given)]), named)


cdef object count_of(Tensor x):
    """The number of elements, an int; a `sizes.Size` when it is unknown."""
    if x.t.size >= 0:
        return x.t.size
    total = 1
    for n in x.shape:
        total = total * n
    return total


cdef object count_class = None   # shapes.Count, an int that can be called


def set_count_class(kind):
    """Tell the core of which class of int `x.size` is."""
    global count_class
    count_class = kind


@cython.final
@cython.binding(False)   # methods check their self
cdef class CountOrShape:
    """`x.size`, the number of elements, and `x.size()`, the sizes of the axes.

    Python asks for `x.size` through `__get__`, and gets an int that knows the sizes. A call `x.size(...)` it makes without binding a method
    first (PEP 590), where the type of what is called has the flag for it: then no such int is made.
    """
    cdef void *vectorcall

    def __init__(self):
        self.vectorcall = <void *>size_vectorcall

    def __get__(self, x, kind):
        if x is None:
            return self
        total = count_of(<Tensor?>x)
        if count_class is None or not PyLong_CheckExact(total):
            return total
        # Without the function __new__ that a class written in Python would have: 0.23 us in place of 0.4.
        found = wry_int_of(count_class, (total,))
        PyObject_GenericSetAttr(found, "shape", (<Tensor>x).shape)
        return found

    def __set__(self, x, value):
        raise AttributeError(f"size: the number of elements cannot be set. Got {value!r}, expected reshape or a new tensor.")

    @property
    def __doc__(self):
        return "The number of elements, an int; called, as `x.size()` or `x.size(0)`, the sizes of the axes or one of them."


cdef object size_vectorcall(object self, PyObject *const *args, size_t nargsf, PyObject *kwnames):
    cdef Py_ssize_t given = PyVectorcall_NARGS(nargsf), i
    cdef dict named = {}
    if given < 1 or not isinstance(<object>args[0], Tensor):
        raise TypeError("size: got a call without a tensor, expected x.size(), x.size(axis) or x.size.")
    if kwnames != NULL:
        for i, name in enumerate(<tuple>kwnames):
            named[name] = <object>args[given + i]
    return count_class.sizes((<Tensor>args[0]).shape, *[<object>args[i] for i in range(1, given)], **named)


cdef int give_vectorcall() except -1:
    cdef Spelled probe = Spelled(len, ())
    cdef CountOrShape size = CountOrShape()
    wry_enable_vectorcall(<PyTypeObject *>Spelled, <char *>&probe.vectorcall - <char *><void *>probe)
    wry_enable_vectorcall(<PyTypeObject *>CountOrShape, <char *>&size.vectorcall - <char *><void *>size)
    wry_enable_unbound_calls(<PyTypeObject *>Spelled)
    wry_enable_unbound_calls(<PyTypeObject *>CountOrShape)
    wry_type_set(<PyTypeObject *>Tensor, "size", size)
    return 0


give_vectorcall()
