"""8 bits where a configuration asks for them.

Models that say where their values are rounded run in integers by the passes, whatever the configuration says. Those in floats are calibrated by
`wherry_quant`, on data at hand (`Config.enable_quantizer`) or on the first inputs that a predictor runs (`Config.enable_tensorrt_engine`): runs are
in floats until then. The scales are kept in a file for the next predictor of the same program and weights, the calibration table.
"""
from __future__ import annotations

import hashlib
import importlib
import json
import logging
import math
import os
import threading
from typing import TYPE_CHECKING, Any

import numpy as np

from wherry_infer.kinds import PrecisionType
from wherry_program.program.ir import Program, Variable
from wherry_program.run.interpreter import Interpreter
from wherry_tensor import Tensor, ops
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.functions.creation import to_tensor
from wherry_train.atomic_files import replace_file

if TYPE_CHECKING:
    from wherry_infer.config import Config

__all__ = ["Calibrating", "are_wanted", "is_quantized", "prepared"]

_FORMAT = "Wherry's calibration table, 1"
_ROUNDING = (ops.quantize_linear, ops.dequantize_linear, ops.fake_quantize)


def are_wanted(config: Config) -> bool:
    """Whether a configuration asks for 8 bits of models that are in floats, too."""
    return config.tensorrt_precision_mode() is PrecisionType.Int8 or config.quantizer_enabled()


def is_quantized(program: Program) -> bool:
    """Whether a program says where its values, or its weights, are rounded."""
    return any(node.op in _ROUNDING for node in program.walk())


def prepared(program: Program, config: Config) -> tuple[Program, Calibrating | None]:
    """A program as a configuration that asks for 8 bits wants it.

    Args:
        program: with its parameters; it stays as it is.
        config: that.

    Returns:
        The program to run, which rounds its values where scales are known, and what has to see inputs before they are. Where there can be no
        scales the log says why.
    """
    if not (are_wanted(config) or config.mkldnn_int8_enabled()) or is_quantized(program):
        return program, None
    calibrates = config.tensorrt_precision_mode() is PrecisionType.Int8 and config._trt["use_calib_mode"]
    if not (calibrates or config.quantizer_enabled()):
        switch, instead = _advice(config)
        config._say(logging.WARNING, (
            f"{switch}: 8 bits need a model that says where its values are rounded, or calibration. Got a model in floats, used Float32. {instead}"
        ))
        return program, None
    if not config._ir_optim:
        config._say(logging.WARNING, "8 bits are a matter of passes. Got switch_ir_optim(False), used Float32. Leave it out.")
        return program, None
    try:
        quant = importlib.import_module("wherry_quant.rounded_programs")
    except ModuleNotFoundError as error:
        config._say(logging.WARNING, (
            f"8 bits: models in floats are calibrated by a package of its own, the program runs in Float32. Got {type(error).__name__}: {error}. "
            f"pip install wherry-infer[quantize]"
        ))
        return program, None
    calibrating = Calibrating(quant.Calibration(program), _Table(program, config), config)
    if not calibrating.observed:
        config._say(logging.WARNING, "8 bits: the program has no convolutions and no products by weights. Got none, used Float32.")
        return program, None
    data = config.quantizer_config().data if config.quantizer_enabled() else None
    if data is not None:
        return calibrating.on(data), None
    known = calibrating.known()
    if known is not None:
        return known, None
    config._say(logging.INFO, (
        f"8 bits: the first {config.calibration_batches()} runs find the scales of {len(calibrating.observed)} values; they compute in floats."
    ))
    return calibrating.program, calibrating


def _advice(config: Config) -> tuple[str, str]:
    tools = "Quantize it (paddle.static.quantization.PostTrainingQuantization)"
    if config.tensorrt_precision_mode() is PrecisionType.Int8:
        return "enable_tensorrt_engine", f"{tools}, or leave out use_calib_mode=False."
    return "enable_mkldnn_int8", f"{tools}, or give data to config.enable_quantizer() and config.quantizer_config().set_quant_data(arrays)."


class Calibrating:
    """Counts values of runs until there are enough of them.

    Args:
        found: the `wherry_quant` part: a program, what is observed of it, and its scales.
        table: where they are kept.
        config: says how many runs are enough.

    Attributes:
        program: what runs until then.
        observed: those of its variables whose values are counted.
    """

    def __init__(self, found: Any, table: _Table, config: Config) -> None:
        self.program: Program = found.program
        self.observed: list[Variable] = found.observed
        self._found, self._table, self._config = found, table, config
        self._lock = threading.Lock()
        self._kept = 0  # batches in the file

    def see(self, values: list[Tensor]) -> bool:
        """Count the values of a run; True once, for the last one that is needed."""
        enough = self._config.calibration_batches()
        with self._lock:
            if self._found.batches >= enough:
                return False  # another thread was faster
            self._found.see(values)
            return bool(self._found.batches == enough)

    def rounded(self, program: Program) -> Program:
        """The float program, loaded anew, with what was found so far."""
        return type(self._found)(program).rounded(self._found.scales())  # type: ignore[no-any-return]

    def known(self) -> Program | None:
        """The program with the scales of the table; None without one."""
        scales = self._table.read({x.name for x in self.observed})
        return None if scales is None else self._found.rounded(scales)  # type: ignore[no-any-return]

    def on(self, data: list[Any]) -> Program:
        """The program with the scales of one batch of inputs, which the table keeps."""
        feeds = self.program.feeds
        if len(data) != len(feeds):
            raise InvalidArgumentError(
                f"set_quant_data: the data are not those of the model. Got {len(data)} arrays, expected one for each of "
                f"{[x.name for x in feeds]}."
            )
        inputs = [to_tensor(array, dtype=x.dtype.name) for array, x in zip(data, feeds, strict=True)]
        self._found.see(Interpreter(self.program, fetches=self.observed, prune=True)(*inputs))
        self.keep()
        return self._found.rounded(self._found.scales())  # type: ignore[no-any-return]

    def keep(self) -> None:
        """Write the table, where there is something new to write."""
        count = self._found.batches
        if count > self._kept:
            self._table.write(self._found.scales(), count)
            self._kept = count


class _Table:
    """The file of the scales of a program with these weights."""

    def __init__(self, program: Program, config: Config) -> None:
        self._config = config
        self._key = _key_of(program)
        self._path = os.path.join(config._cache_folder(), f"calibration_{self._key[:32]}.json")

    def read(self, names: set[str]) -> dict[str, float] | None:
        """The scales of these values; None where there is no file, or none that can be read."""
        try:
            with open(self._path, encoding="utf-8") as file:
                found = json.load(file)
        except FileNotFoundError:
            return None
        except (OSError, ValueError, RecursionError) as error:
            found, why = None, f"{type(error).__name__}: {error}"
        else:
            why = self._why_not(found, names)
        if why:
            self._config._say(logging.WARNING, f"8 bits: the calibration table cannot be read, inputs are counted anew. Got {why} in {self._path}.")
            return None
        scales: dict[str, float] = found["scales"]
        self._config._say(logging.INFO, f"8 bits: {len(scales)} scales of {self._path}.")
        return scales

    def _why_not(self, found: Any, names: set[str]) -> str:
        """What is wrong with the content of a file; "" where nothing is."""
        if not isinstance(found, dict) or found.get("format") != _FORMAT or found.get("model") != self._key:
            return "a file of another format or model"
        scales = found.get("scales")
        if not isinstance(scales, dict) or scales.keys() != names or not all(type(x) is float and 0 < x < math.inf for x in scales.values()):
            return "scales of other values, or that are no positive numbers"
        return ""

    def write(self, scales: dict[str, float], batches: int) -> None:
        """Keep the scales; where no file can be written, the log says so."""
        content = {"format": _FORMAT, "model": self._key, "batches": batches, "scales": scales}
        try:
            os.makedirs(os.path.dirname(self._path), exist_ok=True)
            replace_file(os.path.realpath(self._path), lambda file: file.write(json.dumps(content, indent=1).encode()))
        except OSError as error:
            self._config._say(logging.WARNING, (
                f"8 bits: the calibration table is not kept, the next predictor counts anew. Got {type(error).__name__}: {error}. "
                f"config.set_optim_cache_dir(folder) with one that can be written"
            ))
        else:
            self._config._say(logging.INFO, f"8 bits: scales of {batches} runs are in {self._path}.")


def _key_of(program: Program) -> str:
    """A text that is another one for another program or other weights."""
    said = hashlib.blake2b(str(program).encode(), digest_size=32)
    for x in program.bound_variables():
        if x.bound is None:
            continue
        values = x.bound.detach()
        raw = values.numpy() if values.dtype.name != "bfloat16" else values.astype("float32").numpy()
        said.update(f"{x.name} {raw.dtype} {raw.shape}".encode())
        said.update(np.ascontiguousarray(raw).data)
    return said.hexdigest()
