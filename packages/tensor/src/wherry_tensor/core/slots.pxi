"""Slots of dataclasses, read and written where they lie."""
import dataclasses

from cpython.mem cimport PyMem_Free, PyMem_Malloc
from cpython.object cimport PyObject
from cpython.ref cimport Py_DECREF, Py_INCREF


cdef extern from "structmember.h":
    ctypedef struct PyMemberDef:
        Py_ssize_t offset

    ctypedef struct PyMemberDescrObject:
        PyMemberDef *d_member


cdef extern from *:
    """
    static CYTHON_INLINE PyObject *wry_allocated(PyTypeObject *cls) { return cls->tp_alloc(cls, 0); }
    """
    object wry_allocated(type cls)


cdef class _Slots:
    """Makes objects of a dataclass with slots as its `__init__` without arguments does, and writes to their slots.

    Args:
        cls: the dataclass. A field without a default is None.
    """

    cdef type cls
    cdef list defaults  # a value, or `_FRESH` for a list of its own
    cdef Py_ssize_t *offsets
    cdef dict places  # by name

    def __cinit__(self):
        self.offsets = NULL

    def __init__(self, cls):
        cdef Py_ssize_t i
        fields = dataclasses.fields(cls)
        self.cls, self.defaults, self.places = cls, [], {}
        self.offsets = <Py_ssize_t *>PyMem_Malloc(sizeof(Py_ssize_t) * (len(fields) + 1))
        if self.offsets is NULL:
            raise MemoryError
        for i, field in enumerate(fields):
            member = vars(cls)[field.name]
            if type(member) is not _member:
                raise TypeError(f"{cls.__name__}.{field.name} is no slot. Expected a dataclass with slots.")
            self.offsets[i] = (<PyMemberDescrObject *><PyObject *>member).d_member.offset
            self.places[field.name] = self.offsets[i]
            if field.default is not dataclasses.MISSING:
                self.defaults.append(field.default)
            elif field.default_factory is list:
                self.defaults.append(_FRESH)
            elif field.default_factory is dataclasses.MISSING:
                self.defaults.append(None)
            else:
                raise TypeError(f"{cls.__name__}.{field.name} has a default that is made. Expected a value, or a list.")

    def __dealloc__(self):
        PyMem_Free(self.offsets)

    cdef object made(self):
        return self.rest_made(wry_allocated(self.cls), 0)

    cdef object rest_made(self, object out, Py_ssize_t first):
        """Give the slots from `first` on what they have by default."""
        cdef Py_ssize_t i
        for i in range(first, len(self.defaults)):
            default = self.defaults[i]
            put(out, self.offsets[i], [] if default is _FRESH else default)
        return out

    cdef object made2(self, object a, object b):
        """One whose first two slots have these values."""
        cdef object out = wry_allocated(self.cls)
        put(out, self.offsets[0], a)
        put(out, self.offsets[1], b)
        return self.rest_made(out, 2)

    cdef object made3(self, object a, object b, object c):
        """One whose first three slots have these values."""
        cdef object out = wry_allocated(self.cls)
        put(out, self.offsets[0], a)
        put(out, self.offsets[1], b)
        put(out, self.offsets[2], c)
        return self.rest_made(out, 3)

    cdef object made4(self, object a, object b, object c, object d):
        """One whose first four slots have these values."""
        cdef object out = wry_allocated(self.cls)
        put(out, self.offsets[0], a)
        put(out, self.offsets[1], b)
        put(out, self.offsets[2], c)
        put(out, self.offsets[3], d)
        return self.rest_made(out, 4)


_FRESH = object()


class _Member:
    __slots__ = ("one",)


_member = type(_Member.one)


cdef inline void put(object message, Py_ssize_t offset, object value) noexcept:
    """Write to a slot of a message."""
    cdef PyObject **place = <PyObject **>(<char *><PyObject *>message + offset)
    cdef PyObject *before = place[0]
    Py_INCREF(value)
    place[0] = <PyObject *>value
    if before is not NULL:
        Py_DECREF(<object>before)


cdef inline object at_slot(object message, Py_ssize_t offset):
    return <object>(<PyObject **>(<char *><PyObject *>message + offset))[0]
