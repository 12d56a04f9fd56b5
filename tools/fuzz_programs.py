"""Three modes of tools/fuzz.py: calls in static mode, predictors from C, and exported pages in Node.

    python tools/fuzz.py static --calls 10000       public functions on variables of a program, which is run with what they stand for
    python tools/fuzz.py predictor --calls 10000    saved models that were changed at random, asked through the interface in C
    python tools/fuzz.py web --calls 10000          exported bundles that were changed at random, by packages/export/tests/damage.mjs; needs Node
"""
from __future__ import annotations

import ctypes
import json
import random
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
from fuzz import Api, _short, _tensors_in, a_shape, arguments
from fuzz_children import Findings
from fuzz_files import Files

import wherry
from wherry_tensor import Tensor, _core

ROOT = Path(__file__).parent.parent
RAW = re.compile(r"^(AttributeError|KeyError|UnboundLocalError|AssertionError|ZeroDivisionError|RecursionError|NameError|SystemError|IndexError): ")


class Static(Api):
    """Call number n of the public interface in a program of its own, which is run."""

    def _make(self, rng: random.Random, name: str, function: Any, steps: list[str], loud: bool) -> None:
        shape, dtype = a_shape(rng), rng.choice(("float32", "float32", "float64", "int64", "int32", "bool"))
        method = name.startswith("Tensor.")
        first = arguments(rng, lambda x: x, False, shape, dtype)[0][:1] if method else []
        positional, named = arguments(rng, function, False, shape, dtype, skip=1 if method else 0)
        positional = first + positional
        self.on_tensor = not method or isinstance(first[0] if first else None, Tensor)
        if loud:
            print(name, [_short(a) for a in positional], {k: _short(v) for k, v in named.items()}, file=sys.stderr, flush=True)
        feed: dict[str, np.ndarray] = {}
        stand_ins: dict[int, Tensor] = {}

        def variable(x: Any) -> Any:
            """A variable of the program for a tensor, with some of its sizes open."""
            if isinstance(x, (list, tuple)) and type(x) in (list, tuple):
                return type(x)(map(variable, x))
            if not isinstance(x, Tensor) or not x._is_initialized() or x.dtype in (wherry.bfloat16,):
                return x
            if id(x) not in stand_ins:
                key = f"x{len(stand_ins)}"
                sizes = [None if rng.random() < 0.3 else n for n in x.shape]
                made = wherry.static.data(key, sizes, x.dtype)
                made.stop_gradient = x.stop_gradient
                stand_ins[id(x)], feed[key] = made, x.numpy()
            return stand_ins[id(x)]

        wherry.enable_static()
        try:
            main, startup = wherry.static.Program(), wherry.static.Program()
            with wherry.static.program_guard(main, startup):
                positional, named = [variable(a) for a in positional], {k: variable(v) for k, v in named.items()}
                result = function(*positional, **named)
                if isinstance(function, type):
                    steps.append("called")
                    target = getattr(result, "forward", result)
                    more, further = arguments(rng, target, False, shape, dtype) if callable(target) else ([], {})
                    result = result(*map(variable, more), **{k: variable(v) for k, v in further.items()}) if callable(result) else result
                found = [x for x in _tensors_in(result) if _core.is_symbolic(x)]
                wanted = [x for x in found if not x.stop_gradient and x.dtype.is_floating]
                if wanted and rng.random() < 0.5:
                    steps.append("gradients")
                    wherry.static.append_backward(wherry.mean(wanted[0]))
                if found:
                    steps.append("run")
                    runner = wherry.static.Executor()
                    runner.run(startup)
                    runner.run(main, feed=feed, fetch_list=found)
        finally:
            wherry.disable_static()


class Growing(wherry.nn.Layer):
    """A list that grows in a loop."""

    def __init__(self) -> None:
        super().__init__()
        self.linear = wherry.nn.Linear(3, 3)

    def forward(self, x: Tensor) -> Tensor:
        x, found = self.linear(x), []
        for i in range(x.shape[0]):
            found.append(x[i] * 2 if x[i].sum() > 0 else x[i])
        return wherry.stack(found)


def networks() -> dict[str, tuple[wherry.nn.Layer, list[int | None], str]]:
    """Small networks, with shapes and dtypes of their inputs."""
    nn = wherry.nn
    return {
        "picture": (nn.Sequential(nn.Conv2D(1, 2, 3), nn.BatchNorm2D(2), nn.ReLU(), nn.AdaptiveAvgPool2D(2), nn.Flatten(), nn.Linear(8, 3)),
                    [None, 1, 6, 6], "float32"),
        "tokens": (nn.Sequential(nn.Embedding(9, 4), nn.TransformerEncoderLayer(4, 2, 8, 0.0), nn.LayerNorm(4)), [None, 5], "int64"),
        "series": (nn.Sequential(nn.Linear(3, 4), nn.GELU(), nn.Softmax()), [None, None, 3], "float32"),
        "list": (Growing(), [None, 3], "float32"),
    }


def saved_networks(folder: Path) -> list[tuple[Path, list[int], str]]:
    """The prefixes of their files, and inputs that they take."""
    files = []
    for name, (net, shape, dtype) in networks().items():
        net.eval()
        wherry.jit.save(net, str(folder / name), input_spec=[wherry.static.InputSpec(shape, dtype, "x")])
        files.append((folder / name, [2 if n is None else n for n in shape], dtype))
    return files


class Predictor(Files):
    """File number n, as the program or the parameters of a model that is asked from C."""

    what = "predictor"

    def __init__(self, seed: int) -> None:
        self.program_folder = Path(tempfile.mkdtemp(prefix="wherry-predictor-"))
        self.nets = saved_networks(self.program_folder)
        self.api = self._built()
        super().__init__(seed)

    def _built(self) -> Any:
        from wherry_infer.native import get_include, get_source

        target = self.program_folder / "libinfer.so"
        command = [*sysconfig.get_config_var("CC").split(), "-O1", "-shared", "-fPIC", "-pthread", "-o", str(target), str(get_source())]
        subprocess.run([*command, f"-I{get_include()}", f"-I{sysconfig.get_paths()['include']}"], check=True)
        api = ctypes.CDLL(str(target))
        for name in ("ConfigCreate", "PredictorCreate", "PredictorGetInputHandle", "PredictorGetOutputHandle", "TensorGetShape"):
            getattr(api, f"PD_{name}").restype = ctypes.c_void_p
        api.PD_GetLastError.restype = ctypes.c_char_p
        return api

    def sound_files(self) -> list[bytes]:
        return [path.with_suffix(end).read_bytes() for path, *_ in self.nets for end in (".pdmodel", ".pdiparams")]

    def take(self, data: bytes, number: int) -> None:
        rng = random.Random(f"{self.seed}/{number}/net")
        path, shape, dtype = rng.choice(self.nets)
        names = {end: str(path.with_suffix(end)) for end in (".pdmodel", ".pdiparams")}
        changed = f"{self.path}-{number}"
        Path(changed).write_bytes(data)
        names[".pdiparams" if data[:4] == bytes(4) else ".pdmodel"] = changed
        try:
            self._ask(names, shape, dtype)
        finally:
            Path(changed).unlink()

    def _ask(self, names: dict[str, str], shape: list[int], dtype: str) -> None:
        api, pointer = self.api, ctypes.c_void_p
        config = pointer(api.PD_ConfigCreate())
        api.PD_ConfigSetModel(config, names[".pdmodel"].encode(), names[".pdiparams"].encode())
        predictor = pointer(api.PD_PredictorCreate(config))
        api.PD_ConfigDestroy(config)
        if not predictor:
            return self._said()
        x = pointer(api.PD_PredictorGetInputHandle(predictor, b"x"))
        if x:
            sizes, values = (ctypes.c_int32 * len(shape))(*shape), np.ones(shape, dtype)
            copy = api.PD_TensorCopyFromCpuFloat if dtype == "float32" else api.PD_TensorCopyFromCpuInt64
            ready = api.PD_TensorReshape(x, ctypes.c_size_t(len(shape)), sizes) and copy(x, values.ctypes.data_as(pointer))
            if not ready or not api.PD_PredictorRun(predictor):
                self._said()
            api.PD_TensorDestroy(x)
        else:
            self._said()
        api.PD_PredictorDestroy(predictor)

    def _said(self) -> None:
        """Raise an error that is Python's own, with its text."""
        text = (self.api.PD_GetLastError() or b"").decode()
        if not text:
            raise AssertionError("a call failed and says nothing")
        if RAW.match(text):
            raise AssertionError(f"raw: {text[:200]}")


def web(calls: range) -> Findings:
    """Exported bundles, changed at random."""
    from wherry_export.web import export

    folder = Path(tempfile.mkdtemp(prefix="wherry-bundles-"))
    nets = [files for files in saved_networks(folder) if files[0].name != "list"]  # pages have no lists that grow
    for path, shape, dtype in nets:
        net = wherry.jit.load(str(path))
        export(net, folder / f"{path.name}-page", input_spec=[wherry.static.InputSpec([None, *shape[1:]], dtype, "x")])
    script, source = ROOT / "packages" / "export" / "tests" / "damage.mjs", ROOT / "packages" / "export" / "src" / "wherry_export" / "web" / "js"
    sites = [folder / f"{path.name}-page" for path, *_ in nets]
    done = subprocess.run(["node", script, source / "wherry.js", str(calls.stop), *sites], capture_output=True, text=True, check=True)
    said = json.loads(done.stdout)
    findings = Findings()
    for kind in ("other", "late"):
        for one in said[kind]:
            findings.add(f"{kind}: {str(one.get('error', ''))[:60]}", f"bundle {one}")
    print({key: value for key, value in said.items() if key not in ("other", "late")})
    return findings
