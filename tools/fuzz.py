"""Random calls of everything that can be called, and random files for `load`: none may crash, hang or fail in an odd way.

    python tools/fuzz.py compiled                       # each compiled function and method with arguments of wrong kinds
    python tools/fuzz.py api --calls 1000000            # public functions, methods, layers, optimizers, ...
    python tools/fuzz.py files --calls 1000000          # `load` of pickles that were changed at random; every other reader: tools/fuzz_files.py
    python tools/fuzz.py quantized --calls 1000000      # GGUF, GPTQ, AWQ, compressed-tensors and QDQ files: tools/fuzz_quantized.py
    python tools/fuzz.py static --calls 10000           # public functions in programs; `predictor`, `web`: tools/fuzz_programs.py
    python tools/fuzz.py api --weather finalizers       # all of them in one of the weathers
    python tools/fuzz.py api --only 1234                # one call again, shown, in this process
    python tools/fuzz.py onnx --seconds 600             # no longer than that; it says how many calls were made

Call number n depends on the seed and on n alone, so what a run reports can be made again by `--only`. Calls are made in
children of this process with bounds on memory and time; when one dies, the next takes over after the call that killed it. A
part of the calls is made in bad weather: the collector runs at every allocation and finalizers run operations, arrays that
share memory with the arguments are kept and written to afterwards, arguments come from other libraries' memory (bools that
are neither 0 nor 1, items between their places, negative strides).

The operations below the public functions have a fuzzer of their own, `python -m wherry_tensor.testing.fuzz`.
"""
from __future__ import annotations

import argparse
import contextlib
import functools
import gc
import inspect
import math
import os
import random
import re
import sys
import tempfile
import time
import traceback
import types
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
from fuzz_children import CALLS_OF_A_CHILD, SLOW, STUCK, Findings, TooSlow, in_children, set_alarm

import wherry
from wherry_autograd import _engine
from wherry_tensor import Tensor, _core
from wherry_tensor.errors import EnforceNotMet, raised_on_purpose

REPOSITORY = Path(__file__).resolve().parent.parent
# What a call may raise for its arguments.
EXPECTED = (ValueError, TypeError, IndexError, MemoryError, NotImplementedError, OverflowError, RuntimeError, KeyError,
            BufferError, OSError, ImportError, ArithmeticError, AttributeError, StopIteration, UnicodeError)
# ... and what says that nobody thought of them, when our own code raises it.
INTERNAL = (AttributeError, KeyError, IndexError, ZeroDivisionError, OverflowError, FloatingPointError, RecursionError, AssertionError,
            SystemError, UnboundLocalError, NameError, StopIteration, UnicodeError)


# ---------------------------------------------------------------------------------------------------------------------------
# Arguments

DTYPES = ("bool", "uint8", "int8", "int16", "int32", "int64", "float16", "bfloat16", "float32", "float64", "complex64", "complex128")
FLOATS = ("float32", "float32", "float32", "float64", "float16", "bfloat16")
SIZES = (0, 1, 2, 3, 4, 5, 8)
INTS = (-(2**62), -5, -2, -1, 0, 1, 2, 3, 7, 64, 2**31 - 1, 2**31, 2**33, 2**40, 2**48, 2**62, 2**63 - 1, 2**63, 10**30)
NUMBERS = (0.0, -0.0, -1.0, 0.5, 2.0, 1e300, -1e-300, float("nan"), float("inf"), float("-inf"))
WORDS = ("", "mean", "sum", "none", "NCHW", "NHWC", "same", "VALID", "constant", "reflect", "nearest", "bilinear", "float32", "add",
         "overwrite", "relu", "tanh", "left", "x", "\0", "\ud800", "ij,jk->ik", "no such word")


def _deep() -> list[Any]:
    inner: list[Any] = []
    for _ in range(5000):
        inner = [inner]
    return inner


class Odd:
    """An object that answers nothing."""


class Unhelpful:
    """An object whose every answer is an error."""

    def __index__(self) -> int:
        raise ZeroDivisionError("asked for an index")

    def __len__(self) -> int:
        raise ZeroDivisionError("asked for a length")

    def __repr__(self) -> str:
        raise RecursionError("asked for a text")

    def __bool__(self) -> bool:
        raise ZeroDivisionError("asked for a truth")

    def __eq__(self, other: object) -> bool:
        raise ZeroDivisionError("asked for equality")

    __hash__ = None  # type: ignore[assignment]


def _cyclic() -> list[Any]:
    inner: list[Any] = [1]
    inner.append(inner)
    return inner


def an_array(rng: random.Random, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    kind = np.dtype("float32" if dtype == "bfloat16" else dtype)
    n = math.prod(shape)
    if kind.kind == "b":
        a = np.array([rng.random() < 0.5 for _ in range(n)], bool)
    elif kind.kind in "iu":
        a = np.array([rng.choice((0, 1, 2, 3, 0, 1)) if rng.random() < 0.9 else rng.choice((100, 127, 7)) for _ in range(n)], kind)
    else:
        values = [rng.uniform(-2, 2) if rng.random() < 0.95 else rng.choice((np.nan, np.inf, -np.inf, 0.0, 6e4)) for _ in range(n)]
        a = np.array(values, np.float64).astype(kind)
    return a.reshape(shape)


def a_shape(rng: random.Random, most: int = 4) -> tuple[int, ...]:
    return tuple(rng.choice(SIZES if rng.random() < 0.3 else (2, 3, 4)) for _ in range(rng.randint(0, most)))


def a_tensor(rng: random.Random, foreign: bool = False, shape: tuple[int, ...] | None = None, dtype: str | None = None) -> Tensor:
    shape = a_shape(rng) if shape is None else shape
    dtype = dtype or (rng.choice(FLOATS) if rng.random() < 0.6 else rng.choice(DTYPES))
    a = an_array(rng, shape, dtype)
    if foreign and dtype != "bfloat16":
        x = _foreign(rng, a)
    else:
        x = wherry.to_tensor(a)
        if dtype == "bfloat16":
            x = x.astype("bfloat16")
    roll = rng.random()
    if roll < 0.15 and x.ndim >= 2:
        x = x.transpose(list(range(x.ndim))[::-1])
    elif roll < 0.25 and x.ndim:
        x = x[..., ::rng.choice((1, 2, -1))]
    elif roll < 0.3:
        x = wherry.expand(x, [rng.choice((0, 2, 3)), *x.shape])
    if rng.random() < 0.4 and (x.dtype.is_floating or x.dtype.is_complex):
        x.stop_gradient = False
        if rng.random() < 0.5:
            x = x * 1
    return x


def _foreign(rng: random.Random, a: np.ndarray) -> Tensor:
    """A tensor on other libraries' memory."""
    if a.dtype == bool:
        a = (a.reshape(-1).astype(np.uint8) * np.array([rng.choice((1, 2, 128, 255)) for _ in range(a.size)], np.uint8)).reshape(a.shape)
        a = a.view(bool)
    roll = rng.random()
    if roll < 0.2 and a.ndim:
        a = np.flip(a, 0)
    elif roll < 0.4 and a.size:
        raw = bytearray(a.nbytes + 1)
        odd = np.frombuffer(raw, np.uint8)[1:].view(a.dtype).reshape(a.shape)
        odd[...] = a
        a = odd
    elif roll < 0.5:
        a = a.copy()
        a.flags.writeable = False
    elif roll < 0.6:
        a = np.broadcast_to(a, (2, *a.shape))
    if rng.random() < 0.5:
        return wherry.utils.dlpack.from_dlpack(a)
    return wherry.to_tensor(a if rng.random() < 0.7 else memoryview(a) if a.dtype.kind != "c" else a)


def hostile(rng: random.Random) -> Any:
    """Anything."""
    choices: list[Callable[[], Any]] = [
        lambda: None, lambda: rng.choice(INTS), lambda: rng.choice(NUMBERS), lambda: rng.choice(WORDS), lambda: True,
        list, lambda: (), dict, lambda: [None], lambda: [rng.choice(INTS) for _ in range(rng.randint(1, 3))],
        lambda: tuple(rng.choice(INTS) for _ in range(rng.randint(1, 13))), lambda: b"abc", Odd, Unhelpful, _cyclic, _deep,
        lambda: range(2**40), lambda: slice(None, None, rng.choice(INTS)), lambda: 1 + 2j, lambda: Tensor(),
        lambda: Tensor.__new__(Tensor), lambda: _core.symbolic((2, -1), _core.float32), lambda: np.float32(2), lambda: np.int64(3),
        lambda: np.array([1, 2], ">i4"), lambda: np.array(["a"]), lambda: np.zeros((2, 0)), lambda: np.zeros(3, "i4,f8"),
        lambda: a_tensor(rng), lambda: a_tensor(rng, True), lambda: [a_tensor(rng), None], lambda: float, lambda: Tensor,
        lambda: (lambda *a, **k: None), lambda: wherry.nn.Linear(2, 3), lambda: Ellipsis, lambda: {1}, lambda: iter([1, 2]),
        lambda: wherry.float32, lambda: "float16", lambda: memoryview(b"1234").cast("i"), lambda: [[1, 2], [3]], lambda: float("1e400"),
    ]
    return rng.choice(choices)()


TENSOR_NAMES = {"x", "y", "input", "label", "other", "weight", "index", "mask", "logits", "query", "key", "value", "condition", "tensor",
                "values", "bias", "inputs", "src", "tgt", "memory", "boundaries", "mat1", "mat2", "vec", "arr", "grad", "z", "target",
                "output", "anchor", "positive", "negative", "a", "b", "self", "tensors", "updates", "other_", "input1", "input2"}


# In one piece: a list of cases, each of which returns.
def argument(rng: random.Random, parameter: inspect.Parameter, foreign: bool, shape: tuple[int, ...], dtype: str) -> Any:
    """A value that may do, by the name and the annotation of the parameter, or anything."""
    if rng.random() < 0.12:
        return hostile(rng)
    said, name = str(parameter.annotation), parameter.name
    if parameter.default is not parameter.empty and rng.random() < 0.5:
        return parameter.default
    if "DType" in said or name == "dtype":
        return rng.choice(DTYPES)
    if name in TENSOR_NAMES or "Tensor" in said and "Sequence" not in said and "list" not in said and "int" not in said:
        one_shape, one_dtype = shape, dtype
        if rng.random() < 0.3:
            one_shape = a_shape(rng)
        if rng.random() < 0.15 or name in ("label", "index") and rng.random() < 0.7:
            one_dtype = rng.choice(("int64", "int32", "int64", "bool", *DTYPES))
        made = a_tensor(rng, foreign, one_shape, one_dtype)
        return [made, a_tensor(rng, foreign, one_shape, one_dtype)] if name in ("inputs", "tensors") else made
    if "Tensor" in said and ("Sequence" in said or "list" in said):
        return [a_tensor(rng, foreign, shape, dtype) for _ in range(rng.randint(0, 3))]
    if name in ("axis", "dim", "axes", "start_axis", "stop_axis"):
        return rng.choice((0, -1, 1, 2, -2, None, [0], [0, 1], (1, 0), 5))
    if "bool" in said:
        return rng.random() < 0.5
    if "Sequence" in said or "list" in said or "tuple" in said or name in ("shape", "perm", "repeat_times"):
        if rng.random() < 0.3:
            return list(shape)
        return [rng.choice((-1, 0, 1, 2, 3)) if rng.random() < 0.9 else rng.choice(INTS) for _ in range(rng.randint(0, 4))]
    if "int" in said:
        return rng.choice((0, 1, 2, 3, 4)) if rng.random() < 0.8 else rng.choice(INTS)
    if "float" in said:
        return rng.choice((0.1, 0.5, 1.0, 2.0)) if rng.random() < 0.8 else rng.choice(NUMBERS)
    if "str" in said:
        return rng.choice(WORDS)
    return rng.choice((1, 2, 0.5, 3, a_tensor(rng, foreign, shape, dtype))) if rng.random() < 0.7 else hostile(rng)


def arguments(
    rng: random.Random, function: Any, foreign: bool, shape: tuple[int, ...], dtype: str, skip: int = 0
) -> tuple[list[Any], dict[str, Any]]:
    try:
        parameters = list(inspect.signature(function).parameters.values())[skip:]
    except (TypeError, ValueError):
        return [hostile(rng) for _ in range(rng.randint(0, 3))], {}
    positional: list[Any] = []
    named: dict[str, Any] = {}
    by_place = True
    for p in parameters:
        if p.kind is p.VAR_POSITIONAL:
            positional += [argument(rng, p, foreign, shape, dtype) for _ in range(rng.randint(0, 2))] if by_place else []
        elif p.kind is p.VAR_KEYWORD:
            if rng.random() < 0.1:
                named["surprise"] = hostile(rng)
        elif rng.random() < 0.04:
            by_place = False  # left out
        elif by_place and p.kind is not p.KEYWORD_ONLY and (p.kind is p.POSITIONAL_ONLY or rng.random() < 0.8):
            positional.append(argument(rng, p, foreign, shape, dtype))
        else:
            by_place = False
            if p.default is p.empty or rng.random() < 0.5:
                named[p.name] = argument(rng, p, foreign, shape, dtype)
    return positional, named


# ---------------------------------------------------------------------------------------------------------------------------
# The public interface

# Not called: these change the process for good, wait for others, or do what they are asked with files and programs.
LEFT_OUT = {
    "DataLoader", "Model", "save", "load", "summary", "set_device", "register_kernels", "set_printoptions", "set_flags", "run", "flops",
    "set_memory_cache_limit", "ModelCheckpoint", "VisualDL", "main", "install_check", "run_check", "Checkpoint", "set_cuda_rng_state",
    "import_module", "get_worker_info", "alias", "unalias", "serve", "monkey_patch", "doctor", "try_import",
    # They ask the network for their files.
    "ESC50", "TESS", "MNIST", "FashionMNIST", "Cifar10", "Cifar100", "Flowers", "VOC2012", "Conll05st", "Imdb", "Imikolov", "Movielens", "UCIHousing",
    "WMT14", "WMT16", "get_path_from_url", "get_weights_path_from_url",
    # Their methods have an order in which `fit` calls them; out of it they have nothing to say.
    "ProgBarLogger", "LRScheduler", "ResumeTraining", "ReduceLROnPlateau", "EarlyStopping", "Callback",
}


# Networks of hundreds of layers: making one is the seconds that a call may take.
LARGE = re.compile(r"(?i)^(alexnet|vgg|resnet|resnext|wide_resnet|densenet|inception|googlenet|mobilenet|shufflenet|squeezenet)")


# Modules that a program can reach but that are not for it.
INNER = {"wherry_tensor.ops", "wherry_vision.transforms.arrays", "wherry_vision.transforms.tensors",
         "wherry_vision.transforms.resampling", "wherry_vision.image", "wherry_tensor._core", "wherry_tensor.testing"}


def public_callables() -> list[tuple[str, Any]]:
    """(dotted name, callable) of what a program may call, each once."""
    found: dict[int, tuple[str, Any]] = {}
    seen: set[int] = set()

    def walk(module: types.ModuleType, path: str) -> None:
        if id(module) in seen:
            return
        seen.add(id(module))
        # What a module imports for itself is not what it offers.
        for name in sorted(getattr(module, "__all__", dir(module))):
            if name.startswith(("_", "wherry")) or name in LEFT_OUT or LARGE.match(name):
                continue
            try:
                value = getattr(module, name)
            except (AttributeError, ImportError):  # a lazy name whose package is missing
                continue
            if isinstance(value, types.ModuleType):
                if value.__name__.split(".")[0].startswith("wherry") and value.__name__ not in INNER:
                    walk(value, f"{path}.{name}")
            elif callable(value) and str(getattr(value, "__module__", "wherry")).startswith(("wherry", "None")):
                if not (isinstance(value, type) and issubclass(value, (BaseException, DeprecationWarning))):
                    found.setdefault(id(value), (f"{path}.{name}", value))

    walk(wherry, "paddle")
    for name in sorted(dir(Tensor)):
        if (not name.startswith("_") or name in OPERATORS) and callable(getattr(Tensor, name, None)) and name not in LEFT_OUT:
            found[hash(name)] = (f"Tensor.{name}", getattr(Tensor, name))
    return sorted(found.values(), key=lambda item: item[0])


OPERATORS = tuple(f"__{name}__" for name in (
    "add radd sub rsub mul rmul truediv rtruediv floordiv rfloordiv mod rmod pow rpow matmul rmatmul neg abs invert and or xor lt le eq "
    "ne gt ge getitem setitem len iter contains float int index bool complex array dlpack format repr str copy deepcopy reduce_ex "
    "init setstate dir hash").split())


# Where each lies among the numbers that `_make` draws.
WEATHERS = {"foreign": 0.1, "buffers": 0.2, "finalizers": 0.4, "no_grad": 0.52, "auto_cast": 0.57, "fair": 0.9}


class Cycle:
    """Garbage that runs an operation when it is collected."""

    def __init__(self, rng: random.Random, victims: list[Tensor]) -> None:
        self.me = self
        self.number = rng.randrange(4)
        self.victims = victims

    def __del__(self) -> None:
        z = wherry.to_tensor([1, 0, 2])
        if self.number == 0:
            wherry.nonzero(z)
        elif self.number == 1:
            wherry.unique(z, return_index=True)
        elif self.number == 2 and self.victims:
            wherry.assign(z, self.victims[0].detach() if not self.victims[0].is_leaf else self.victims[0])
        else:
            (z.astype("float32") @ wherry.ones([3, 2])).sum()


def _tensors_in(values: Any, depth: int = 2) -> Iterator[Tensor]:
    if isinstance(values, Tensor):
        yield values
    elif isinstance(values, (list, tuple)) and depth:
        for value in values[:8]:
            yield from _tensors_in(value, depth - 1)
    elif isinstance(values, dict) and depth:
        yield from _tensors_in(list(values.values()), depth - 1)


class Api:
    """Call number n of the public interface."""

    def __init__(self, seed: int, match: str | None = None, weather: str | None = None) -> None:
        self.seed = seed
        self.weather = weather
        self.on_tensor = True
        self.callables = [item for item in public_callables() if match is None or re.search(match, item[0])]

    def plan(self, number: int) -> tuple[random.Random, str, Any]:
        rng = random.Random(f"{self.seed}/{number}")
        name, function = rng.choice(self.callables)
        return rng, name, function

    def shown(self, number: int) -> str:
        return f"{self.plan(number)[1]}( --only {number} --seed {self.seed} )"

    def one(self, number: int, findings: Findings, loud: bool = False) -> None:
        rng, name, function = self.plan(number)
        steps = [name]
        set_alarm(SLOW)
        begun = time.process_time()
        self.on_tensor = True
        try:
            with warnings.catch_warnings(), np.errstate(all="ignore"):
                warnings.simplefilter("ignore")
                self._make(rng, name, function, steps, loud)
        except TooSlow:
            findings.add(f"slow: {name}", f"call {number} takes more than {SLOW} s: {' '.join(steps)}")
        except EXPECTED as error:
            self._judge(number, name, error, steps, findings)
        except BaseException as error:  # what else there may be: AssertionError, SystemExit, ...
            self._judge(number, name, error, steps, findings)
        finally:
            set_alarm(0)
            gc.set_threshold(700, 10, 10)
        took = time.process_time() - begun
        if took > SLOW / 2:
            findings.add(f"slow: {name}", f"call {number} took {took:.1f} s: {' '.join(steps)}")

    def _judge(self, number: int, name: str, error: BaseException, steps: list[str], findings: Findings) -> None:
        if isinstance(error, EXPECTED) and not isinstance(error, INTERNAL) or isinstance(error, EnforceNotMet):
            return
        frames = traceback.extract_tb(error.__traceback__)
        ours = [f for f in frames if "/wherry" in f.filename or f.filename.startswith("core/")]
        if not ours or any("fuzz.py" in f.filename for f in frames[-1:]):
            return  # raised by an argument, or in the test's own hands
        if isinstance(error, AttributeError) and ours and ours[-1].name in ("__getattr__", "__delattr__"):
            return  # a missing attribute of a layer is just that
        try:
            text = str(error)[:150]
        except BaseException:
            text = "(no text)"
        if name.startswith("Tensor.") and isinstance(error, AttributeError) and not self.on_tensor:
            return  # an unbound method of something else than a tensor
        last = ours[-1]
        if raised_on_purpose(error):
            return  # somebody thought of it, and the class is Paddle's
        if last.name == "forward" and isinstance(error, AttributeError):
            return  # not entered by its door
        if isinstance(error, IndexError) and "[finalizers]" in steps:
            return  # a finalizer has given a tensor another shape between two lines of a function
        if name.endswith("LayerDict") and isinstance(error, KeyError):
            return  # a key that is not there, as of a dict
        place = f"{Path(last.filename).name}:{last.lineno}"
        findings.add(f"{type(error).__name__} at {place}", f"call {number}: {' '.join(steps)}: {type(error).__name__} at {place}: {text}")

    # In one piece: what may happen to one call, in the order in which it happens.
    def _make(self, rng: random.Random, name: str, function: Any, steps: list[str], loud: bool) -> None:
        weather = rng.random()
        if self.weather:
            weather = WEATHERS[self.weather]
        foreign = weather < 0.15
        shape = a_shape(rng)
        dtype = rng.choice(FLOATS) if rng.random() < 0.7 else rng.choice(DTYPES)
        method = name.startswith("Tensor.")
        first = [a_tensor(rng, foreign, shape, dtype) if rng.random() < 0.97 else hostile(rng)] if method else []
        positional, named = arguments(rng, function, foreign, shape, dtype, skip=1 if method else 0)
        positional = first + positional
        self.on_tensor = not method or isinstance(first[0], Tensor)
        given = list(_tensors_in([positional, named]))
        held: list[Any] = []
        if loud:
            print(name, [_short(a) for a in positional], {k: _short(v) for k, v in named.items()}, file=sys.stderr, flush=True)
        if 0.15 <= weather < 0.35:
            steps.append("[buffers kept]")
            for x in given:
                if x._is_initialized():
                    held.append(np.asarray(x) if x.dtype != wherry.bfloat16 else memoryview(x))
        collecting = 0.35 <= weather < 0.5
        if collecting:
            steps.append("[finalizers]")
            for _ in range(4):
                Cycle(rng, given)
            gc.set_threshold(1, 1, 1)
        elif weather < 0.55:
            with wherry.no_grad():
                result = function(*positional, **named)
            steps.append("[no_grad]")
        elif weather < 0.6:
            with wherry.amp.auto_cast(level="O1" if rng.random() < 0.5 else "O2"):
                result = function(*positional, **named)
            steps.append("[auto_cast]")
        if not 0.5 <= weather < 0.6:
            result = function(*positional, **named)
        if isinstance(function, type):
            steps.append("called")
            result = self._use(rng, result, foreign, shape, dtype)
        self._look(rng, result, steps)
        gc.set_threshold(700, 10, 10)
        for array in held:
            a = np.asarray(array)
            if 0 < a.size < 10**6:
                a.reshape(-1).sum() if a.dtype.kind != "V" else None
                if a.flags.writeable and 0 not in a.strides:
                    a[...] = a[...]
                    a.view(np.uint8 if a.ndim and a.flags.c_contiguous else a.dtype)[...] = 255 if a.dtype.kind in "bu" else 1
        if held:
            for x in given:
                if x._is_initialized() and x.size < 10**4:
                    x.tolist()

    def _use(self, rng: random.Random, made: Any, foreign: bool, shape: tuple[int, ...], dtype: str) -> Any:
        """Does with an object what such objects are for."""
        names = [n for n in dir(made) if not n.startswith("_") and n != "forward" and n not in LEFT_OUT and callable(getattr(made, n, None))]
        if callable(made):
            target = made.forward if hasattr(made, "forward") else made
            positional, named = arguments(rng, target, foreign, shape, dtype)
            try:
                return made(*positional, **named)
            finally:
                if names and rng.random() < 0.3:
                    self._method(rng, made, rng.choice(names), foreign, shape, dtype)
        return self._method(rng, made, rng.choice(names), foreign, shape, dtype) if names else made

    def _method(self, rng: random.Random, made: Any, name: str, foreign: bool, shape: tuple[int, ...], dtype: str) -> Any:
        method = getattr(made, name)
        positional, named = arguments(rng, method, foreign, shape, dtype)
        return method(*positional, **named)

    def _look(self, rng: random.Random, result: Any, steps: list[str]) -> None:
        """Reads what came out, as a program would."""
        total = None
        for x in _tensors_in(result):
            if not x._is_initialized() or _core.is_symbolic(x) or not 0 <= x.size < 10**5 or any(n > 10**6 for n in x.shape):
                continue
            steps.append("looked at")
            repr(x)
            x.numpy()
            if x.size < 1000:
                x.tolist()
            if not x.stop_gradient and (x.dtype.is_floating or x.dtype.is_complex):
                part = x.sum() if x.dtype.is_floating else wherry.real(x).sum()
                total = part if total is None else total + part.astype(total.dtype)
        if total is not None:
            steps.append("backward")
            total.backward(retain_graph=rng.random() < 0.2)


def _short(value: Any) -> str:
    try:
        if isinstance(value, Tensor):
            return f"{value.dtype.name}{value.shape} strides {value.strides}{'' if value.stop_gradient else ' grad'}"
        if isinstance(value, (list, tuple)) and all(isinstance(v, Tensor) for v in value):
            return f"[{', '.join(_short(v) for v in value)}]"
        return f"{type(value).__name__} {value!r}"[:200]
    except BaseException as error:
        return f"{type(value).__name__} (repr: {type(error).__name__})"


# ---------------------------------------------------------------------------------------------------------------------------
# What is compiled

# Not called: they replace what the whole process stands on.
FOUNDATIONS = {"set_fallback", "add_methods", "start", "host"}


def compiled_callables() -> list[tuple[str, Any]]:
    """Functions, classes and methods of the compiled modules and what they put into Tensor."""
    found = []
    for module in _core, _engine:
        for name, value in sorted(vars(module).items()):
            if name in FOUNDATIONS or name.startswith("__"):
                continue
            if callable(value) and not isinstance(value, types.ModuleType) and not isinstance(value, _core.Op):
                found.append((f"{module.__name__}.{name}", value))
            if isinstance(value, type) and value.__module__.startswith("wherry"):
                for attribute, method in sorted(vars(value).items()):
                    reached = getattr(value, attribute, None)  # names of other libraries raise, and say which is ours
                    if callable(reached) and attribute not in ("__class__", "__subclasshook__", "__init_subclass__"):
                        found.append((f"{module.__name__}.{name}.{attribute}", reached))
                    elif hasattr(method, "__set__"):
                        found.append((f"{module.__name__}.{name}.{attribute} =", _setter(attribute)))
                        found.append((f"{module.__name__}.{name}.{attribute}.__get__", method.__get__))
    return found


def _setter(attribute: str) -> Callable[..., Any]:
    def put(x: Any, value: Any) -> None:
        setattr(x, attribute, value)
        repr(x)
        if isinstance(x, Tensor) and x._is_initialized():
            (x + 1).sum()
            if not x.stop_gradient:
                (x * 2).sum().backward()
    return put


def wrong_kinds() -> list[Any]:
    x = wherry.to_tensor([[1.0, 2.0], [3.0, 4.0]], stop_gradient=False)
    y = x * 2
    return [
        None, 1, -1, 2**70, 1.5, "x", b"x", [], [1], (), (None,), {}, object(), float, wherry.to_tensor(3), x, y, [y], (y, None),
        Tensor(), Tensor.__new__(Tensor), _core.symbolic((2, -1), _core.float32), _core.op_of_name("add"), _core.float32, y.node, Odd(),
        slice(1, 2), [x, 1], (x,), np.zeros(3), _core.Generator(), [None], (1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13), lambda *a: None,
        _core.op_of_name("concat"), {"x": 1}, ("add",),
    ]


class Compiled:
    """Call number n: one compiled callable with many arguments of wrong kinds."""

    def __init__(self, quick: bool = False) -> None:
        self.quick = quick
        self.callables = compiled_callables()

    def shown(self, number: int) -> str:
        return self.callables[number][0] + f"( --only {number} )"

    def one(self, number: int, findings: Findings, loud: bool = False) -> None:
        name, function = self.callables[number]
        rng = random.Random(number)
        set_alarm(4 * SLOW)
        try:
            values = wrong_kinds()
        except EXPECTED:  # an earlier call has pushed a layer that answers nothing; the next child is a fresh one
            return
        calls: list[tuple[Any, ...]] = [(), *((v,) for v in (rng.sample(values, 14) if self.quick else values))]
        calls += [] if self.quick else [(a, b) for a in values for b in rng.sample(values, 8)]
        calls += [] if self.quick else [tuple(rng.choice(values) for _ in range(n)) for n in (3, 3, 4, 5, 6) for _ in range(40)]
        for given in calls:
            if loud:
                print(name, [_short(a) for a in given], file=sys.stderr, flush=True)
            try:
                function(*given)
            except TooSlow:
                findings.add(f"slow: {name}", f"call {number}: {name} takes more than {SLOW} s")
                return
            except (*EXPECTED, EnforceNotMet):
                pass
            except Exception as error:
                findings.add(f"{type(error).__name__}: {name}", f"{name}: {type(error).__name__}: {error}")
        if not self.quick:
            gc.collect()
        with contextlib.suppress(*EXPECTED):
            x = wherry.ones([2, 2])
            x.stop_gradient = False
            (x @ x).sum().backward()  # what stands on it still stands, or says why not


# ---------------------------------------------------------------------------------------------------------------------------


def main(given: list[str] | None = None) -> int:
    import fuzz_programs  # they stand on what is above
    import fuzz_quantized
    from fuzz_files import FILES_OF_A_CHILD
    from fuzz_models import READERS

    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("what", choices=("compiled", "api", "static", *READERS, "gguf", "quantized", "predictor", "web"))
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--seconds", type=float, default=float("inf"), help="begin no more calls after that")
    parser.add_argument("--start", type=int, default=0, help="the number of the first call")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--match", help="of the public interface only names in which this regular expression is found")
    parser.add_argument("--weather", choices=WEATHERS, help="make all calls in this weather")
    parser.add_argument("--quick", action="store_true", help="compiled: one argument each, no combinations")
    parser.add_argument("--deaths", action="store_true", help="count as findings only what dies, hangs or takes too long")
    parser.add_argument("--only", type=int, help="make this one call in this process and show it")
    asked = parser.parse_args(given)
    os.chdir(tempfile.mkdtemp(prefix="wherry-fuzz-"))
    sys.setrecursionlimit(1000)
    wherry.set_num_threads(1)  # children are forked, and threads do not survive that
    target: Any = {
        "compiled": lambda: Compiled(asked.quick), "api": lambda: Api(asked.seed, asked.match, asked.weather),
        "quantized": lambda: fuzz_quantized.Quantized(asked.seed), "gguf": lambda: fuzz_quantized.GGUF(asked.seed),
        "static": lambda: fuzz_programs.Static(asked.seed, asked.match),
        "predictor": lambda: fuzz_programs.Predictor(asked.seed), "web": lambda: None,
        **{name: functools.partial(kind, asked.seed) for name, kind in READERS.items()},
    }[asked.what]()
    calls = range(asked.start, asked.start + asked.calls)
    if asked.what == "compiled":
        calls = range(len(target.callables))
    if asked.only is not None:
        findings = Findings()
        target.one(asked.only, findings, loud=True)
    else:
        begun = time.monotonic()
        of_files = asked.what in READERS or asked.what in ("gguf", "quantized")
        each = FILES_OF_A_CHILD if of_files else CALLS_OF_A_CHILD if asked.what != "compiled" else 40 if asked.quick else 1
        patience = 5 * SLOW if asked.what == "compiled" else STUCK
        if asked.what == "web":
            findings, made = fuzz_programs.web(calls), len(calls)
        else:
            findings, made = in_children(calls, target.one, target.shown, patience, each, begun + asked.seconds)
        print(f"{made} calls in {time.monotonic() - begun:.0f} s", end=", ")
    if asked.deaths:
        findings.texts = {kind: text for kind, text in findings.texts.items() if kind.startswith(("dies", "hangs", "slow", "fuzzer"))}
    print(f"{len(findings.texts)} kinds of findings")
    for kind, text in sorted(findings.texts.items()):
        print(f"{findings.counts[kind]:6d} x {text}")
    return 1 if findings.texts else 0


if __name__ == "__main__":
    sys.exit(main())
