# Dtypes: one object for each element type.

@cython.final
@cython.binding(False)   # methods check their self
cdef class DType:
    """The type of a tensor's elements. One object for each type: compare with `is` or `==`."""

    def __init__(self, *args):
        raise TypeError("DType objects exist already. Got a call of DType, expected one of float32, int64, ...")

    def __repr__(self):
        return "paddle." + self.name

    def __str__(self):
        return "paddle." + self.name

    def __hash__(self):
        return 7919 + self.code

    def __eq__(self, other):
        return self is other

    def __ne__(self, other):
        return self is not other

    def __reduce__(self):
        return dtype_of_name, (self.name,)

    @property
    def value(self):
        """The number by which Paddle's files know it: 5 for float32, say."""
        return paddles_numbers[self.name]


# Type of framework.proto, the public format of Paddle's programs.
cdef dict paddles_numbers = {
    "bool": 0, "int16": 1, "int32": 2, "int64": 3, "float16": 4, "float32": 5, "float64": 6,
    "uint8": 20, "int8": 21, "bfloat16": 22, "complex64": 23, "complex128": 24,
}


cdef int32_t itemsizes[WRY_NUM_DTYPES]
cdef list dtypes = []
cdef dict dtype_by_name = {}


cdef void define_dtypes():
    cdef DType d
    kinds = (
        ("bool", 1, "b"), ("uint8", 1, "i"), ("int8", 1, "i"), ("int16", 2, "i"), ("int32", 4, "i"), ("int64", 8, "i"),
        ("float16", 2, "f"), ("bfloat16", 2, "f"), ("float32", 4, "f"), ("float64", 8, "f"),
        ("complex64", 8, "c"), ("complex128", 16, "c"),
    )
    for code, (name, size, kind) in enumerate(kinds):
        d = DType.__new__(DType)
        d.name, d.code, d.itemsize = name, code, size
        d.is_bool, d.is_integer, d.is_floating, d.is_complex = kind == "b", kind == "i", kind == "f", kind == "c"
        itemsizes[<int>code] = size
        dtypes.append(d)
        dtype_by_name[name] = d


define_dtypes()
(bool_, uint8, int8, int16, int32, int64, float16, bfloat16, float32, float64, complex64, complex128) = dtypes


def dtype_of_name(str name):
    """The DType called `name`, as in "float32"."""
    try:
        return dtype_by_name[name]
    except KeyError:
        raise TypeError(
            f"unknown dtype. Got '{name}', expected one of {', '.join(dtype_by_name)}."
        ) from None


class Scalar:
    """The declared type of an attribute that is an int, float, bool or complex number."""


cdef inline DType dtype_of_code(int32_t code):
    return <DType>PyTuple_GET_ITEM(dtype_table, code)


cdef tuple dtype_table = tuple(dtypes)
