"""Element-wise chains: generated, compiled at run time, and executed by the emulator with all checks."""
import numpy as np
import pytest

import wherry_nn as nn
import wherry_tensor
from wherry_ops_cuda import chains, nvrtc
from wherry_program import Program, passes
from wherry_program.program.capture import capture
from wherry_program.run._executor import Arenas, Fused, Planned, Segment
from wherry_program.run.executor import compiled
from wherry_program.testing import random_programs
from wherry_tensor import device as devices
from wherry_tensor import ops, to_tensor
from wherry_tensor.ops.declare import Meta, family_of

EXTERNAL, RESULT = 1, 2
DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
# What stays by itself: the sum of a series, which is long; a division by zero is reported by the op's own kernel.
ALONE = {"polygamma"}


def strides_of(shape):
    return tuple(int(np.prod(shape[i + 1 :], dtype=int)) for i in range(len(shape)))


def run(nodes, tensors, outputs, shape, known=()):
    """A chain by itself: values are numbered, the tensors first; those at the positions `known` are handed over as numbers."""
    maker = devices.chains["gpu"]()
    operands = [
        (x.dtype, tuple(x.shape), tuple(x.strides), x.numpy().tobytes() if i in known else None) for i, x in enumerate(tensors)
    ]
    made = maker.make(nodes, operands, outputs, shape, 0)
    assert made is not None
    dtypes = [x.dtype for x in tensors] + [node[3] for node in nodes]
    wanted = [dtypes[at] for at in outputs]
    slots = [(x.dtype.code, tuple(x.shape), tuple(x.strides), EXTERNAL, i, 0) for i, x in enumerate(tensors)]
    slots += [(d.code, tuple(shape), strides_of(shape), RESULT, k, 0) for k, d in enumerate(wanted)]
    step = (Fused(made), [-1 if i in known else i for i in range(len(tensors))], [len(tensors) + k for k in range(len(wanted))], None)
    rows = [(RESULT, k, True, d.code, 0, tuple(shape), strides_of(shape)) for k, d in enumerate(wanted)]
    layouts = [(x.dtype.code, tuple(x.shape), tuple(x.strides), 0) for x in tensors]

    def make(_given, device):
        return Planned(layouts, [], [(d.code, tuple(shape)) for d in wanted], slots, [step], rows, 0, Arenas(), (), device=device)

    return Segment(make, len(tensors), []).run(list(tensors))


def inputs_of(dtype, shape, rng, kind):
    """Numbers of a dtype: of both signs with what is special about it, or above 1, or within [-1, 1]."""
    n = int(np.prod(shape, dtype=int))
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype.endswith(("int8", "int16", "int32", "int64")):
        low = 0 if dtype.startswith("u") else -9
        return rng.integers(low, 10, shape).astype(dtype)
    x = {"any": rng.standard_normal(n) * 3, "inside": rng.uniform(-0.95, 0.95, n), "above": rng.uniform(1.05, 4, n)}[kind]
    if kind == "any":
        x[: min(n, 6)] = [0.0, -0.0, np.inf, -np.inf, np.nan, 2.5][: min(n, 6)]
    if dtype.startswith("complex"):
        x = x + 1j * rng.standard_normal(n)
    name = "float32" if dtype == "bfloat16" else dtype
    return x.astype(name).reshape(shape)


def tensor(array, dtype):
    return to_tensor(array).astype(dtype) if dtype == "bfloat16" else to_tensor(array)


INSIDE = {"asin", "acos", "atanh", "erfinv"}
ABOVE = {"acosh", "log", "log2", "log10", "lgamma", "digamma", "sqrt", "rsqrt"}


def defaults(op):
    values = {"approximate": True, "dtype": None, "min": -0.5, "max": 0.75, "threshold": 0.6, "beta": 1.5, "slope": 0.2, "offset": 0.5,
              "alpha": 0.7, "scale": 1.1, "negative_slope": 0.1, "scale_a": 0.6, "scale_b": 1.7, "nan": 0.25, "posinf": 9.0,
              "neginf": -9.0, "low": -0.5, "high": 0.5, "below": 0.1, "tilt": 0.2, "inside": 0.9, "above": 1.1}  # fmt: skip
    return tuple(values[name] for name in op.attr_names)


def candidates():
    found = [op for op in vars(ops).values() if isinstance(op, wherry_tensor._core.Op) and family_of(op) in ("elementwise", "activation")]
    return sorted({op.name: op for op in found if op.name not in ALONE and op.name != "cast"}.items())


def result_of(op, dtypes, attrs, shape):
    try:
        plan = wherry_tensor._core.plan_of(op, [Meta(shape, d) for d in dtypes], attrs)
        return plan.outputs[0][1] if plan.kernel_address else None  # what the cpu decomposes no chain is asked for
    except (TypeError, ValueError, NotImplementedError):
        return None


def same_bits(got, expected):
    got, expected = got.numpy(), expected.numpy()
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(got, expected)


def dtypes_to_run():
    """Those of the library's kernels: few where tests run often."""
    few = len(ops.add.kernel_dtypes("gpu")) < 9
    return ["bool", "int64", "bfloat16", "float32", "complex64"] if few else DTYPES


@pytest.mark.parametrize("dtype", DTYPES)
def test_every_function_of_a_dtype_gives_in_a_chain_what_it_gives_alone(gpu, dtype):
    if dtype not in dtypes_to_run():
        pytest.skip("the library has few dtypes, so that this runs often: WHERRY_CUDA_ALL_DTYPES=1 runs all")
    rng = np.random.default_rng(3)
    shape, maker = (7, 5), devices.chains["gpu"]()
    arrays = [inputs_of(dtype, shape, rng, kind) for kind in ("any", "any", "inside", "above")] + [inputs_of("bool", shape, rng, "any")]
    tensors = [tensor(a, dtype) for a in arrays[:4]] + [to_tensor(arrays[4])]
    nodes, checks = [], []
    for name, op in candidates():
        taken = (4, 0, 1) if name == "where" else ((2,) if name in INSIDE else (3,) if name in ABOVE else (0, 1, 3)[: len(op.inputs)])
        attrs = defaults(op)
        dtypes = [tensors[at].dtype for at in taken]
        result = result_of(op, dtypes, attrs, shape)
        if result is None or not maker.takes(op, dtypes, attrs, result):
            continue
        nodes.append((op, taken, attrs, result))
        checks.append((op, taken, attrs))
    for other in DTYPES:
        target = wherry_tensor.bool_ if other == "bool" else getattr(wherry_tensor, other)
        nodes.append((ops.cast, (0,), (target,), target))
        checks.append((ops.cast, (0,), (target,)))
    assert len(nodes) > 20
    for first in range(0, len(nodes), 24):
        part = nodes[first : first + 24]
        results = run(part, tensors, list(range(5, 5 + len(part))), shape)
        for (op, taken, attrs), got in zip(checks[first:], results):
            try:
                if dtype in ops.add.kernel_dtypes("gpu") or dtype == "bool":
                    same_bits(got, op.run(tuple(tensors[at] for at in taken), attrs))
                    continue
                # The tests' library leaves such dtypes out: the cpu's functions, whose last digits are others.
                wherry_tensor.set_device("cpu")
                expected = op.run(tuple(tensors[at].cpu() for at in taken), attrs)
                assert expected.dtype is got.dtype
                got, expected = (x.cpu().astype("complex128").numpy() for x in (got, expected))
                np.testing.assert_allclose(got, expected, rtol=1e-2, atol=1e-2)
            except AssertionError as error:
                raise AssertionError(f"{op.name} {attrs}") from error
            finally:
                wherry_tensor.set_device("gpu")


LAYOUTS = {
    "all of one shape": [(64,), (64,), (64,)],
    "a tail that is not a whole group": [(37,), (37,), (37,)],
    "a number": [(6, 8), (), (1, 1)],
    "a row": [(6, 16), (16,), (1, 16)],
    "a column": [(6, 16), (6, 1), (6, 16)],
    "rows of an odd length": [(5, 7), (7,), (5, 1)],
    "in the middle": [(3, 4, 8), (4, 1), (3, 1, 8)],
    "many axes": [(2, 1, 3, 1, 4), (1, 5, 1, 2, 1), (2, 5, 3, 2, 4)],
}


@pytest.mark.parametrize(
    ("layout", "dtypes"),
    [*((layout, ("float32", "float32")) for layout in LAYOUTS), ("a row", ("float16", "float64")), ("a column", ("uint8", "int64")),
     ("many axes", ("complex128", "bool"))],
    ids=str,
)
def test_operands_of_every_layout_are_read_where_they_are(gpu, emulator, layout, dtypes):
    rng = np.random.default_rng(1)
    shapes = LAYOUTS[layout]
    first, second = dtypes
    a, b = tensor(inputs_of(first, shapes[0], rng, "above"), first), tensor(inputs_of(first, shapes[1], rng, "above"), first)
    c = tensor(inputs_of(second, shapes[2], rng, "above"), second)
    shape = np.broadcast_shapes(*shapes)
    target = getattr(wherry_tensor, "complex128" if first == "complex128" else "float32")

    nodes = [(ops.add, (0, 1), (), a.dtype), (ops.cast, (3,), (target,), target), (ops.cast, (2,), (target,), target)]
    nodes += [(ops.multiply, (4, 5), (), target)]
    want = ops.multiply(ops.cast(ops.add(a, b), dtype=target), ops.cast(c, dtype=target))
    for order in ("forward", 7):
        emulator.set(order=order)
        try:
            same_bits(run(nodes, [a, b, c], [6], shape)[0], want)
        finally:
            emulator.set()


def test_strided_and_misaligned_views_are_read_where_they_are(gpu):
    base = to_tensor(np.arange(200, dtype="float32"))
    transposed = base[:64].reshape([8, 8]).transpose([1, 0])
    shifted = base[3:67].reshape([8, 8])  # 12 bytes after a multiple of 16
    spread = base[64:192:2].reshape([8, 8])
    got = run([(ops.add, (0, 1), (), base.dtype), (ops.multiply, (3, 2), (), base.dtype)], [transposed, shifted, spread], [4], (8, 8))[0]
    same_bits(got, (transposed + shifted) * spread)


def test_known_numbers_come_along_as_parameters(gpu):
    x, two = to_tensor(np.arange(9, dtype="float16")), to_tensor(2.5).astype("float16")
    got = run([(ops.multiply, (0, 1), (), x.dtype), (ops.add, (2, 1), (), x.dtype)], [x, two], [2, 3], (9,), known={1})
    same_bits(got[0], x * two)
    same_bits(got[1], x * two + two)


def test_contiguous_operands_are_read_16_bytes_at_a_time(gpu, emulator):
    x, y = (to_tensor(np.ones(4096, "float32")) for _ in range(2))
    nodes = [(ops.add, (0, 1), (), x.dtype), (ops.exp, (2,), (), x.dtype)]
    run(nodes, [x, y], [3], (4096,))[0].numpy()
    with emulator.measure() as found:
        run(nodes, [x, y], [3], (4096,))[0].numpy()
    (kernel,) = [one for one in found if one.kernel == "wide"]
    assert kernel.loads.bytes == 2 * 4096 * 4  # each operand once, and nothing else
    assert kernel.stores.bytes == 4096 * 4
    assert kernel.loads.requests == 2 * 4096 // 4 // 32  # a warp's request is of 512 bytes
    assert kernel.loads.sectors == kernel.loads.least


# ---- programs ----


def program_of(function, *shapes, dtype="float32"):
    program = Program()
    named = getattr(wherry_tensor, dtype)
    feeds = [program.feed(list(shape), named, f"x{i}") for i, shape in enumerate(shapes)]
    with capture(program):
        found = function(*feeds)
    program.feeds, program.fetches = feeds, list(found) if isinstance(found, tuple) else [found]
    return program


def launches(emulator, call):
    emulator.library.cudaDeviceSynchronize()
    before = emulator.counts.launches
    out = call()
    emulator.library.cudaDeviceSynchronize()
    return emulator.counts.launches - before, out


def test_a_chain_of_a_program_is_one_launch(gpu, emulator):
    x, bias = (to_tensor(np.random.default_rng(i).standard_normal(s).astype("float32")) for i, s in enumerate([(6, 8), (8,)]))

    def function(x, bias):
        h = nn.functional.gelu(x * 2.0 + bias)
        return h * x, h > 0.5

    run = compiled(program_of(function, [-1, 8], [8]), level=2)
    n, (y, larger) = launches(emulator, lambda: run(x, bias))
    assert n == 1
    want = function(x, bias)
    same_bits(y, want[0])
    same_bits(larger, want[1])


def test_what_no_chain_takes_divides_it(gpu, emulator):
    x = to_tensor(np.array([7, -7, 9, 12]))

    def function(x):
        a = x + 3
        b = ops.floor_divide(a * 2, x)  # reports division by zero
        return b - 1 + a

    run = compiled(program_of(function, [-1], dtype="int64"), level=2)
    n, (y,) = launches(emulator, lambda: run(x))
    same_bits(y, function(x))
    assert n <= 4
    run(to_tensor(np.array([0, 1])))
    with pytest.raises(ValueError, match="floor_divide: integer division by zero"):
        run(to_tensor(np.array([0, 1])))[0].numpy()


def test_without_a_compiler_the_ops_run_one_by_one(gpu, monkeypatch):
    monkeypatch.setitem(devices.chains, "gpu", lambda: None)
    x = to_tensor(np.arange(12, dtype="float32").reshape(3, 4))
    run = compiled(program_of(lambda x: ops.exp(x + 1.0) * x, [-1, 4]), level=2)
    same_bits(run(x)[0], ops.exp(x + 1.0) * x)
    assert run.segments[0].plans[0].n_kernels == 3


def test_a_chain_that_is_refused_is_said_once_and_runs_one_by_one(gpu, monkeypatch, tmp_path):
    monkeypatch.setenv("WHERRY_CUDA_CACHE", str(tmp_path))
    real = devices.chains["gpu"]()
    broken = chains.Chains(real.library, real.compiler, real.architecture)
    broken.headers = {**broken.headers, "cast.cu": "this is not C++"}
    monkeypatch.setitem(devices.chains, "gpu", lambda: broken)
    x = to_tensor(np.arange(4, dtype="float32"))
    run = compiled(program_of(lambda x: ops.exp(x + 1.0) * x, [-1]), level=2)
    with pytest.warns(RuntimeWarning, match="a chain of element-wise ops could not be compiled, they run one by one. nvrtcCompileProgram"):
        got = run(x)[0]
    same_bits(got, ops.exp(x + 1.0) * x)


@pytest.mark.parametrize("number", range(100, 104))
def test_a_random_program_with_its_chains_gives_the_bits_of_the_interpreter(gpu, number):
    random_programs.check(number, passes.elementwise)


@pytest.mark.parametrize("number", range(20))
def test_a_random_program_gives_on_the_gpu_what_the_interpreter_gives_there(gpu, number):
    random_programs.check(number)


# ---- what is kept ----

SOURCE = 'extern "C" __global__ void plain(int *x) { x[0] = 1; }'


def test_an_image_is_compiled_once_and_a_damaged_one_again(gpu, tmp_path, monkeypatch):
    compiler = devices.chains["gpu"]().compiler
    made = []
    compile_it = compiler.compiled
    monkeypatch.setattr(compiler, "compiled", lambda *a: made.append(1) or compile_it(*a))
    first = compiler.image(SOURCE, {}, ["--gpu-architecture=sm_80"], tmp_path)
    assert compiler.image(SOURCE, {}, ["--gpu-architecture=sm_80"], tmp_path) == first
    assert len(made) == 1
    (file,) = tmp_path.iterdir()
    data = bytearray(file.read_bytes())
    data[-10] ^= 1
    file.write_bytes(data)
    compiler.image(SOURCE, {}, ["--gpu-architecture=sm_80"], tmp_path)
    file.write_bytes(b"")
    compiler.image(SOURCE, {}, ["--gpu-architecture=sm_80"], tmp_path)
    assert len(made) == 3
    compiler.image(SOURCE, {}, ["--gpu-architecture=sm_90"], tmp_path)  # another architecture is another image
    compiler.image(SOURCE, {"a.h": "1"}, ["--gpu-architecture=sm_80"], tmp_path)
    assert len(made) == 5
    assert len(list(tmp_path.iterdir())) == 3


def test_the_cache_lets_go_of_what_was_not_used_for_longest(gpu, tmp_path, monkeypatch):
    import os

    compiler = devices.chains["gpu"]().compiler
    monkeypatch.setattr(compiler, "compiled", lambda source, headers, options: source.encode().ljust(400_000, b"."))
    monkeypatch.setenv("WHERRY_CUDA_CACHE_MIB", "1")
    for i in range(4):
        compiler.image(f"program {i}", {}, [], tmp_path)
        for file in tmp_path.iterdir():
            os.utime(file, (file.stat().st_atime, file.stat().st_mtime - 10))
    kept = {file.read_bytes()[-400_000:][:9] for file in tmp_path.iterdir()}
    assert kept == {b"program 2", b"program 3"}


def test_a_folder_that_cannot_be_written_keeps_nothing_and_does_no_harm(gpu, tmp_path):
    (tmp_path / "file").write_text("")
    compiler = devices.chains["gpu"]().compiler
    assert compiler.image(SOURCE, {}, ["--gpu-architecture=sm_80"], tmp_path / "file" / "below")


def test_what_the_compiler_refuses_is_its_own_text(gpu):
    compiler = devices.chains["gpu"]().compiler
    with pytest.raises(RuntimeError, match=r"nvrtcCompileProgram: NVRTC says NVRTC_ERROR_COMPILATION, expected success.*nothing_of_the_kind"):
        compiler.compiled("nothing_of_the_kind x;", {}, ["--gpu-architecture=sm_80"])
    with pytest.raises(RuntimeError, match=r"NVRTC_ERROR_INVALID_OPTION.*--what"):
        compiler.compiled(SOURCE, {}, ["--what"])


def test_chains_call_the_functor_that_the_row_of_the_kernel_names(gpu):
    functors, x = devices.chains["gpu"]().functors, wherry_tensor
    assert functors(ops.abs, [x.float32]) == functors(ops.abs, [x.complex64]) == "Absolute()"
    assert functors(ops.conj, [x.float32]) == "Identity()" and functors(ops.conj, [x.complex64]) == "Conjugate()"
    assert functors(ops.add, [x.bool_, x.bool_]) == "Or()"
    assert functors(ops.clip, [x.int64, None, x.int64]) == "Clip()"
    assert chains.expression("Elu{$first, $last}", (0.5,), x.float32, ["v0"]) == "Elu{0x1.0000000000000p-1, 0}(v0)"
    assert chains.expression("Cast<arithmetic_t<$to>>()", (x.int64,), x.int64, ["v0"]) == "Cast<arithmetic_t<int64_t>>()(v0)"
    for op, dtype in ((ops.floor_divide, x.int64), (ops.exp, x.complex64), (ops.polygamma, x.float32), (ops.softmax, x.float32)):
        assert functors(op, [dtype]) is None  # a report, a family of its own, a long series, no element-wise op


# ---- NVRTC itself, where its wheel is ----


def texts(functors):
    """A chain of every dtype and layout, as source."""
    x = wherry_tensor
    chain = [(ops.multiply, (0, 1), (), x.float32), (ops.gelu, (3,), (True,), x.float32), (ops.cast, (4,), (x.bfloat16,), x.bfloat16),
             (ops.cast, (2,), (x.float16,), x.float16), (ops.digamma, (6,), (), x.float16), (ops.elu, (6,), (float("inf"),), x.float16)]  # fmt: skip
    layouts = [
        [(x.float32, (64, 32), (32, 1), None), (x.float32, (32,), (1,), None), (x.int64, (64, 1), (1, 1), None)],
        [(x.float32, (64, 31), (1, 64), None), (x.float32, (), (), b"\0\0\0\0"), (x.int64, (64, 31), (31, 1), None)],
    ]
    for layout in layouts:
        shape = layout[0][1]
        yield chains.generated(chain, [chains.Operand(*one) for one in layout], [5, 7, 8], shape, functors)


@pytest.mark.parametrize("architecture", ["sm_75", "sm_90", "sm_120"])
def test_nvidias_compiler_takes_what_is_generated(gpu, architecture):
    compiler = nvrtc.find(None)
    if compiler is None:
        pytest.skip("no NVRTC here: pip install wherry-ops-cuda[nvrtc]")
    maker = chains.Chains(devices.chains["gpu"]().library, compiler, None)
    for text in texts(maker.functors):
        assert len(compiler.compiled(text.source, maker.headers, maker.options(architecture))) > 1000


def test_every_function_is_taken_by_nvidias_compiler(gpu):
    compiler = nvrtc.find(None)
    if compiler is None:
        pytest.skip("no NVRTC here: pip install wherry-ops-cuda[nvrtc]")
    maker = chains.Chains(devices.chains["gpu"]().library, compiler, None)
    for dtype in ("bfloat16", "complex64") if "int8" not in dtypes_to_run() else DTYPES:
        named = wherry_tensor.bool_ if dtype == "bool" else getattr(wherry_tensor, dtype)
        operands = [chains.Operand(named, (64,), (1,)) for _ in range(3)] + [chains.Operand(wherry_tensor.bool_, (64,), (1,))]
        nodes = []
        for name, op in candidates():
            taken = (3, 0, 1) if name == "where" else (0, 1, 2)[: len(op.inputs)]
            result = result_of(op, [operands[at].dtype for at in taken], defaults(op), (64,))
            if result is not None and maker.takes(op, [operands[at].dtype for at in taken], defaults(op), result):
                nodes.append((op, taken, defaults(op), result))
        for first in range(0, len(nodes), 24):
            part = nodes[first : first + 24]
            text = chains.generated(part, operands, list(range(4, 4 + len(part))), (64,), maker.functors)
            assert compiler.compiled(text.source, maker.headers, maker.options("sm_75"))
