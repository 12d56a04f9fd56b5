"""`wry_host.register_ops`, called as a package would that is written in another language: through its address."""
import subprocess
import sys

PROGRAM = '''
import ctypes
import wherry_tensor as w
from wherry_tensor import _core, ops
from wherry_tensor.ops.declare import Meta
from wherry_tensor.testing import reference


class Value(ctypes.Union):
    _fields_ = [("i", ctypes.c_int64), ("f", ctypes.c_double), ("ints", ctypes.POINTER(ctypes.c_int64)), ("s", ctypes.c_char_p)]


class Attr(ctypes.Structure):
    _fields_ = [("kind", ctypes.c_int32), ("length", ctypes.c_int32), ("value", Value)]


class MetaC(ctypes.Structure):
    _fields_ = [("dtype", ctypes.c_int32), ("rank", ctypes.c_int32), ("shape", ctypes.c_int64 * 12)]


Infer = ctypes.CFUNCTYPE(ctypes.c_int, ctypes.POINTER(ctypes.POINTER(MetaC)), ctypes.c_int32, ctypes.POINTER(Attr), ctypes.c_int32,
                         ctypes.POINTER(MetaC), ctypes.c_int32, ctypes.c_void_p)


class Entry(ctypes.Structure):
    _fields_ = [("name", ctypes.c_char_p), ("inputs", ctypes.c_char_p), ("attrs", ctypes.c_char_p), ("outputs", ctypes.c_char_p),
                ("infer", Infer), ("flags", ctypes.c_uint32)]


class Host(ctypes.Structure):
    _fields_ = [("abi_version", ctypes.c_int32), ("oldest", ctypes.c_int32), ("size", ctypes.c_size_t),
                ("register_kernels", ctypes.c_void_p), ("register_device", ctypes.c_void_p),
                ("register_ops", ctypes.PYFUNCTYPE(ctypes.c_int, ctypes.POINTER(Entry), ctypes.c_size_t, ctypes.c_size_t))]


host = Host.from_address(reference.host())
assert host.size >= ctypes.sizeof(Host) and host.abi_version == _core.ABI_VERSION


@Infer
def repeated(inputs, n_inputs, attrs, n_attrs, outputs, n_outputs, error):
    x, out = inputs[0].contents, outputs[0]
    times = attrs[0].value.i
    if times < 1:
        ctypes.memmove(error, b"repeated: got no repetition", 28)
        return 1
    out.dtype, out.rank = x.dtype, x.rank
    for axis in range(x.rank):
        out.shape[axis] = x.shape[axis] * (times if axis == 0 else 1)
    return 0


def register(name=b"repeated", inputs=b"x", attrs=b"times = int", outputs=None, infer=repeated, size=ctypes.sizeof(Entry)):
    rows = (Entry * 1)(Entry(name, inputs, attrs, outputs, infer, 0))
    host.register_ops(rows, 1, size)


def refused(text, *args, **kwargs):
    try:
        register(*args, **kwargs)
    except (ValueError, TypeError) as error:
        assert text in str(error), error
    else:
        raise SystemExit(f"not refused: {text}")


refused("lacks a name", name=None)
refused("the shape rule", infer=Infer())
refused("attribute 'times' of 'repeated' has no known type. Got 'number'", attrs=b"times=number")
refused("got rows of 8 bytes", size=8)
assert "repeated" not in _core.registry

register()
op = _core.registry["repeated"]
assert (op.inputs, op.attr_names, op.attr_types, op.outputs) == ((("x", False, False),), ("times",), (int,), ("out",))
refused("repeated")  # a second op of this name
assert op.infer((w.ones([2, 3]),), (2,)) == (Meta((4, 3), w.float32),)
try:
    op(w.ones([2, 3]), times=0)
except ValueError as error:
    assert "repeated: got no repetition" in str(error), error
else:
    raise SystemExit("no repetition was taken")
try:
    op(w.ones([2, 3]), times=2)
except NotImplementedError as error:
    assert "repeated" in str(error), error
else:
    raise SystemExit("it ran without a kernel")


from wherry_tensor.ops.declare import decompose
decompose.rules[op] = lambda x, *, times: ops.concat(*[x] * times, axis=0)
assert op(w.ones([2, 3]), times=3).shape == [6, 3]
print("registered")
'''


def test_ops_can_be_registered_through_the_address_of_the_host():
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "registered\n"
