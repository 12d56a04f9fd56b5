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

from wherry_infer.kinds import PrecisionType
from wherry_program.program.ir import Program, Variable
from wherry_program.run.interpreter import Interpreter
from wherry_tensor import Tensor, ops
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.functions.creation import to_tensor
from wherry_train.atomic_files import replace_file

if TYPE_CHECKING:
    from wherry_infer.config import Config

__all__ = ["Calibrating", "are_wanted", "calibrating", "is_quantized"]

_FORMAT = "Wherry's calibration table, 1"
_ROUNDING = (ops.quantize_linear, ops.dequantize_linear, ops.fake_quantize)


def are_wanted(config: Config) -> bool:
    """Whether a configuration asks for 8 bits of models that are in floats, too."""
    return config.tensorrt_precision_mode() is PrecisionType.Int8 or config.quantizer_enabled()


def is_quantized(program: Program) -> bool:
    """Whether a program says where its values, or its weights, are rounded."""
    return any(node.op in _ROUNDING for node in program.walk())


def calibrating(program: Program, config: Config) -> Calibrating | None:
    """What knows the scales of a program in floats, or finds them while it runs, where a configuration asks for 8 bits.

    Args:
        program: with its parameters; it stays as it is.
        config: that.

    Returns:
        None for a program that says where it rounds, and where there can be no scales: the log says why.
    """
    if not (are_wanted(config) or config.mkldnn_int8_enabled()) or is_quantized(program):
        return None
    calibrates = config.tensorrt_precision_mode() is PrecisionType.Int8 and config._trt["use_calib_mode"]
    if not (calibrates or config.quantizer_enabled()):
        switch, instead = _advice(config)
        config._say(logging.WARNING, (
            f"{switch}: 8 bits need a model that says where its values are rounded, or calibration. Got a model in floats, used Float32. {instead}"
        ))
        return None
    if not config._ir_optim:
        config._say(logging.WARNING, "8 bits are a matter of passes. Got switch_ir_optim(False), used Float32. Leave it out.")
        return None
    try:
        quant = importlib.import_module("wherry_quant.rounded_programs")
    except ModuleNotFoundError as error:
        config._say(logging.WARNING, (
            f"8 bits: models in floats are calibrated by a package of its own, the program runs in Float32. Got {type(error).__name__}: {error}. "
            f"pip install wherry-infer[quantize]"
        ))
        return None
    found = Calibrating(quant.Calibration, program, config)
    if not found.observed:
        config._say(logging.WARNING, "8 bits: the program has no convolutions and no products by weights. Got none, used Float32.")
        return None
    if config.quantizer_enabled() and config.quantizer_config().data is not None:
        found.see_data(config.quantizer_config().data)
    elif not found.has_table():
        config._say(logging.INFO, (
            f"8 bits: the first {config.calibration_batches()} runs find the scales of {len(found.observed)} values; they compute in floats."
        ))
    return found


def _advice(config: Config) -> tuple[str, str]:
    tools = "Quantize it (paddle.static.quantization.PostTrainingQuantization)"
    if config.tensorrt_precision_mode() is PrecisionType.Int8:
        return "enable_tensorrt_engine", f"{tools}, or leave out use_calib_mode=False."
    return "enable_mkldnn_int8", f"{tools}, or give data to config.enable_quantizer() and config.quantizer_config().set_quant_data(arrays)."


class Calibrating:
    """The scales of a program, and what counts the values of its runs until there are enough of them.

    Args:
        kind: `wherry_quant`'s Calibration: a program, what is observed of it, and its scales.
        program: in floats, as it was loaded.
        config: says how many runs are enough, and where scales are kept.

    Attributes:
        program: what runs until there are scales; None then.
        observed: those of its variables whose values are counted.
        scales: by their names; None before.
    """

    def __init__(self, kind: Any, program: Program, config: Config) -> None:
        self._kind, self._found = kind, kind(program)
        self.program: Program | None = self._found.program
        self.observed: list[Variable] = self._found.observed
        self.scales: dict[str, float] | None = None
        self._table, self._config = _Table(program, config), config
        self._lock = threading.Lock()

    def see(self, values: list[Tensor]) -> bool:
        """Count the values of a run; True once, for the last one that is needed: there are scales then."""
        with self._lock:
            if self.scales is not None:
                return False  # another thread was faster
            self._found.see(values)
            if self._found.batches < self._config.calibration_batches():
                return False
            self._end(self._found.scales())
            return True

    def see_data(self, data: Any) -> None:
        """Take the scales of one batch of inputs."""
        assert self.program is not None
        feeds = self.program.feeds
        if len(data) != len(feeds):
            raise InvalidArgumentError(
                f"set_quant_data: the data are not those of the model. Got {len(data)} arrays, expected one for each of "
                f"{[x.name for x in feeds]}."
            )
        inputs = [to_tensor(array, dtype=x.dtype.name) for array, x in zip(data, feeds, strict=True)]
        self._found.see(Interpreter(self.program, fetches=self.observed, prune=True)(*inputs))
        self._end(self._found.scales())

    def has_table(self) -> bool:
        """Take the scales of the table, where there is one."""
        scales = self._table.read({x.name for x in self.observed})
        if scales is not None:
            self._end(scales)
        return scales is not None

    def _end(self, scales: dict[str, float]) -> None:
        self.keep()
        self.scales, self.program, self._found = scales, None, None

    def keep(self) -> None:
        """Write the table, where something was counted."""
        if self._found is not None and self._found.batches > 0:
            self._table.write(self._found.scales(), self._found.batches)

    def in_floats(self, program: Program) -> Program:
        """The program, loaded anew, with the same products as `rounded` has."""
        return self._kind(program).program  # type: ignore[no-any-return]

    def rounded(self, program: Program) -> Program:
        """The program, loaded anew, rounded by the scales."""
        return self._kind(program).rounded(self.scales)  # type: ignore[no-any-return]


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
    import numpy as np  # pages have predictors without it

    said = hashlib.blake2b(str(program).encode(), digest_size=32)
    for x in program.bound_variables():
        if x.bound is None:
            continue
        values = x.bound.detach()
        raw = values.numpy() if values.dtype.name != "bfloat16" else values.astype("float32").numpy()
        said.update(f"{x.name} {raw.dtype} {raw.shape}".encode())
        said.update(np.ascontiguousarray(raw).data)
    return said.hexdigest()
