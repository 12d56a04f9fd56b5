"""A device that is half done: what suffices to train on it, and what the host does where that is missing.

Its memory is the host's, so that it can borrow kernels of the cpu by name: any set of ops can be what it has. Each
test is a process of its own, because devices stay.
"""
import shutil
import subprocess
import sys

import pytest

import wherry_tensor

DEVICE = r"""
#include <stdlib.h>
#include <string.h>
#include "wherry/device.h"

static int allocate(void *self, int32_t number, size_t bytes, void *stream, void **out, char *error) {
  (void)self, (void)number, (void)stream, (void)error;
  *out = aligned_alloc(64, (bytes + 64) / 64 * 64);
  return *out ? WRY_OK : WRY_OUT_OF_MEMORY;
}
static void release(void *self, int32_t number, void *data, size_t bytes, void *stream) {
  (void)self, (void)number, (void)bytes, (void)stream;
  free(data);
}
static int copy(void *self, int32_t number, int32_t kind, void *to, const void *from, size_t bytes, void *stream, char *error) {
  (void)self, (void)number, (void)kind, (void)stream, (void)error;
  if (bytes) memcpy(to, from, bytes);
  return WRY_OK;
}
static int fill(void *self, int32_t number, void *to, size_t count, const void *item, size_t size, void *stream, char *error) {
  (void)self, (void)number, (void)stream, (void)error;
  for (size_t i = 0; i < count; ++i) memcpy((char *)to + i * size, item, size);
  return WRY_OK;
}
static const size_t sizes[] = {1, 1, 1, 2, 4, 8, 2, 2, 4, 8, 8, 16}; /* of a wry_dtype, in bytes */

static void copy_axis(char *to, const char *from, const wry_tensor *out, const wry_tensor *in, int32_t axis) {
  const int64_t size = (int64_t)sizes[out->dtype];
  if (axis == out->rank) {
    memcpy(to, from, (size_t)size);
    return;
  }
  for (int64_t i = 0; i < out->shape[axis]; ++i)
    copy_axis(to + i * out->strides[axis] * size, from + i * in->strides[axis] * size, out, in, axis + 1);
}
static int strided_copy(void *self, int32_t number, const wry_tensor *to, const wry_tensor *from, void *stream, char *error) {
  (void)self, (void)number, (void)stream, (void)error;
  copy_axis(to->data, from->data, to, from, 0);
  return WRY_OK;
}
static int synchronize(void *self, int32_t number, void *stream, char *error) {
  (void)self, (void)number, (void)stream, (void)error;
  return WRY_OK;
}

int register_named(const wry_host *host, const char *name, uint32_t flags) {
  wry_device device;
  memset(&device, 0, sizeof device);
  device.size = sizeof device;
  device.name = name;
  device.flags = flags;
  device.count = 1;
  device.allocate = allocate;
  device.free = release;
  device.copy = copy;
  device.fill = fill;
  device.strided_copy = strided_copy;
  device.synchronize = synchronize;
  return host->register_device(&device);
}
int register_partial(const wry_host *host) { return register_named(host, "partial", 0); }

/* The cpu's kernel of an op becomes the device's; 0 where the cpu has none of this dtype. */
int borrow(const wry_host *host, const char *op, int32_t dtype) {
  wry_kernel_entry entry;
  memset(&entry, 0, sizeof entry);
  if (host->find_kernel("cpu", op, dtype, &entry, sizeof entry)) return -1;
  entry.dtype = dtype;
  return host->register_kernels("partial", &entry, 1, sizeof entry);
}
"""

START = """
import ctypes, sys, warnings
import numpy as np
import wherry
from wherry_tensor import _core, coverage, ops
from wherry_tensor.ops.declare import decompose

pointer = ctypes.pythonapi.PyCapsule_GetPointer
pointer.restype, pointer.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
host = pointer(_core.host, b"wherry.host")
library = ctypes.PyDLL(sys.argv[1])
library.register_partial.argtypes = [ctypes.c_void_p]
library.borrow.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_int32]
assert library.register_partial(host) == 0

def borrow(names):
    for name in names:
        for dtype in range(-1, 12):
            try:
                library.borrow(host, name.encode(), dtype)
            except KeyError:
                pass  # the cpu has no kernel of this dtype

def train(device):
    wherry.set_device(device)
    wherry.seed(3)
    net = wherry.vision.models.LeNet()
    optimizer = wherry.optimizer.Adam(parameters=net.parameters(), learning_rate=1e-3)
    rng = np.random.default_rng(0)
    x = wherry.to_tensor(rng.standard_normal((4, 1, 28, 28)).astype("float32"))
    label = wherry.to_tensor(rng.integers(0, 10, (4, 1)))
    assert str(x.place) == ("Place(cpu)" if device == "cpu" else "Place(partial:0)"), x.place
    losses = []
    for _ in range(3):
        loss = wherry.nn.functional.cross_entropy(net(x), label)
        loss.backward()
        optimizer.step()
        optimizer.clear_grad()
        losses.append(loss.item())
    return losses
"""

SUFFICES = START + """
required = [name for name, op in ops.registry.items() if op not in decompose and op not in decompose.seldom and not op.view]
assert len(required) <= 75, len(required)
borrow(required)
wherry.set_flags({"FLAGS_host_fallback": False})
expected = train("cpu")
got = train("partial")
np.testing.assert_allclose(got, expected, rtol=2e-5)
print("trained with", len(required))
"""

FALLBACK = START + """
borrow(["full", "copy", "add", "matmul"])
expected = train("cpu")
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    got = train("partial")
np.testing.assert_allclose(got, expected, rtol=2e-5)
texts = [str(w.message) for w in caught if "copies its inputs to the cpu" in str(w.message)]
names = [text.partition(":")[0] for text in texts]
assert len(names) == len(set(names)) > 5, names
assert "multiply" in names and "matmul" not in names, names

table = coverage.of_device("partial")
lines = {line.split()[0]: line.split()[1] for line in table.splitlines() if len(line.split()) > 1}
assert (lines["add"], lines["lerp"], lines["multiply"], lines["reshape"]) == ("kernel", "decomposition", "host", "view")
assert "kernels that suffice are not there yet" in table
assert "partial" in coverage.matrix().splitlines()[0].split()

wherry.set_flags({"FLAGS_host_fallback": False})
try:
    wherry.ones([2]) * wherry.ones([2])
except NotImplementedError as error:
    assert "no kernel for 'multiply' on partial" in str(error), error
else:
    raise SystemExit("multiply ran without a kernel")

# What is drawn for the device is what the cpu draws.
wherry.set_flags({"FLAGS_host_fallback": True})
wherry.seed(5)
on_device = [wherry.randn([3]).numpy(), wherry.rand([2]).numpy()]
wherry.set_device("cpu")
wherry.seed(5)
np.testing.assert_array_equal(on_device[0], wherry.randn([3]).numpy())
np.testing.assert_array_equal(on_device[1], wherry.rand([2]).numpy())
print("fell back for", len(names))
"""


PINNED = START + """
library.register_named.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_uint32]
HOST_VISIBLE = 1
assert library.register_named(host, b"gpu", 0) == library.register_named(host, b"gpu_pinned", HOST_VISIBLE) == 0

data = [(np.full([3], i, "float32"), i) for i in range(5)]
for x, y in wherry.io.DataLoader(data, batch_size=2, places=wherry.CUDAPinnedPlace()):
    assert x.place == y.place == wherry.CUDAPinnedPlace() and x.place.is_cuda_pinned_place()
    there = x.cuda()
    assert there.place == wherry.CUDAPlace(0)
    np.testing.assert_array_equal(there.numpy(), x.numpy())
    assert np.shares_memory(np.asarray(memoryview(x)), np.asarray(memoryview(x)))  # the host sees it as it is
    assert not np.shares_memory(np.asarray(memoryview(there)), np.asarray(memoryview(there)))
    assert there.pin_memory().place == there.cpu().pin_memory().place == wherry.CUDAPinnedPlace()
    assert there.pin_memory().tolist() == x.tolist()
for x, y in wherry.io.DataLoader(data, batch_size=2, places=[wherry.CUDAPlace(0)]):
    assert x.place == y.place == wherry.CUDAPlace(0)
print("pinned")
"""


@pytest.fixture(scope="module")
def library(tmp_path_factory):
    if shutil.which("cc") is None:
        pytest.skip("there is no C compiler")
    path = tmp_path_factory.mktemp("partial")
    (path / "partial.c").write_text(DEVICE)
    subprocess.run(
        ["cc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-O2", "-fPIC", "-shared", f"-I{wherry_tensor.get_include()}",
         "partial.c", "-o", "partial.so"],
        cwd=path, check=True,
    )
    return path / "partial.so"


@pytest.mark.parametrize(("program", "said"), [(SUFFICES, "trained with"), (FALLBACK, "fell back for")], ids=["suffices", "fallback"])
def test_half_a_device_trains_lenet(library, program, said):
    done = subprocess.run([sys.executable, "-c", program, str(library)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert said in done.stdout


def test_pinned_memory_of_a_device_is_where_batches_go_and_the_host_sees_it(library):
    done = subprocess.run([sys.executable, "-c", PINNED, str(library)], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert done.stdout == "pinned\n"
