"""Calibration of saved models, as Paddle's static mode has it: `paddle.static.quantization.PostTrainingQuantization`."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

import numpy as np

from wherry_autograd import no_grad
from wherry_graph.static.mode import paused
from wherry_paddle_files.models import load_model, save_model
from wherry_program.passes.batch_norm import batch_norm
from wherry_program.program.ir import Node, Program, Variable
from wherry_program.run.interpreter import Interpreter
from wherry_quant.numbers import holder
from wherry_quant.observers import (
    AbsmaxObserverLayer,
    AVGObserverLayer,
    EMDObserverLayer,
    HistObserverLayer,
    KLObserverLayer,
    MSEObserverLayer,
)
from wherry_quant.rounded_programs import OTHERS, PRODUCTS, chosen, round_chosen, rows_of
from wherry_tensor._core import Tensor
from wherry_tensor.errors import AssertedArgumentError, InvalidArgumentError, UnimplementedError, short
from wherry_tensor.functions.creation import to_tensor
from wherry_tensor.suggestions import did_you_mean

__all__ = ["PostTrainingQuantization", "among"]

_ALGORITHMS: dict[str, Callable[..., Any]] = {
    "KL": KLObserverLayer, "hist": HistObserverLayer, "mse": MSEObserverLayer, "emd": EMDObserverLayer, "avg": AVGObserverLayer,
    "abs_max": AbsmaxObserverLayer, "min_max": AbsmaxObserverLayer,
}


class PostTrainingQuantization:
    """Quantization of a saved model: batches run through it, scales of inputs and weights are found, and products get rounded inputs and weights.

    Args:
        executor: a `static.Executor`; programs run by themselves here.
        model_dir: the folder of the float model.
        scope: no effect: the model keeps its values.
        model_filename: of the program; None for `__model__`.
        params_filename: of the parameters; None for a file for each.
        batch_generator: called, gives batches: arrays in the order of the model's inputs.
        sample_generator: called, gives samples, which are put together.
        data_loader: batches: dicts by the names of the inputs, or arrays in their order. One of these three.
        batch_size: of samples that are put together.
        batch_nums: how many batches are taken; None for all.
        algo: how scales of inputs are found: "KL", "hist", "mse", "emd", "avg", "abs_max" or "min_max".
        hist_percent: the share of values below the threshold of "hist".
        quantizable_op_type: types of operators whose inputs are rounded; empty for convolutions and matrix products. Paddle rounds the inputs of
            every operator then.
        round_type: "round" to nearest; "adaround" up or down as results change least, as `wherry.quant.adaround` does.
        learning_rate: no effect.
        is_full_quantize: round the inputs of sums, pooling, activations, softmax and concat too.
        bias_correction: refused: `wherry.quant.correct_biases` corrects models of layers by data.
        activation_bits: of inputs.
        weight_bits: of weights.
        activation_quantize_type: no effect on what is saved: the scales that were found.
        weight_quantize_type: "channel_wise_abs_max" for a scale for each output, or "abs_max".
        onnx_format: no effect: what is saved has `quantize_linear` and `dequantize_linear`.
        freeze_model: True: weights become whole numbers.
        optimize_model: fold batch normalizations into convolutions first.
        is_use_cache_file, cache_dir: no effect.
        skip_tensor_list: names of tensors: operators that read one stay in floats.
        same_scale_tensor_list: lists of names of inputs that share the largest of their scales.
        scale_dict: scales of inputs by name, which are taken as they are.
        return_graph: False.
        deploy_backend: None.

    Shape:
        Those of the model.

    Raises:
        ValueError: an argument is not one of these, or there is no data (also an AssertionError).
        NotImplementedError: an argument that is refused.
        FileNotFoundError: there is no such model.

    Source:
        `paddle.static.quantization.PostTrainingQuantization`.

    Examples:
        >>> import tempfile
        >>> from wherry.static.quantization import PostTrainingQuantization
        >>> net = wherry.nn.Sequential(wherry.nn.Linear(4, 8), wherry.nn.ReLU(), wherry.nn.Linear(8, 2))
        >>> net.eval()
        >>> batches = [{"x": wherry.randn([16, 4])} for _ in range(4)]
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     wherry.jit.save(net, folder + "/float/model", input_spec=[wherry.static.InputSpec([None, 4], "float32", "x")])
        ...     tool = PostTrainingQuantization(
        ...         wherry.static.Executor(), folder + "/float", model_filename="model.pdmodel", params_filename="model.pdiparams",
        ...         data_loader=batches, algo="hist")
        ...     _ = tool.quantize()
        ...     tool.save_quantized_model(folder + "/int8")
        ...     wherry.jit.load(folder + "/int8/model")(batches[0]["x"]).shape
        [16, 2]
    """

    def __init__(
        self, executor: Any, model_dir: str, scope: Any = None, model_filename: str | None = None, params_filename: str | None = None,
        batch_generator: Any = None, sample_generator: Any = None, data_loader: Any = None, batch_size: int = 10, batch_nums: int | None = None,
        algo: str = "KL", hist_percent: float = 0.99999, quantizable_op_type: Sequence[str] = (), round_type: str = "round",
        learning_rate: float = 0.001, is_full_quantize: bool = False, bias_correction: bool = False, activation_bits: int = 8,
        weight_bits: int = 8, activation_quantize_type: str = "range_abs_max", weight_quantize_type: str = "channel_wise_abs_max",
        onnx_format: bool = False, freeze_model: bool = True, optimize_model: bool = False, is_use_cache_file: bool = False,
        skip_tensor_list: Sequence[str] | None = None, same_scale_tensor_list: Sequence[Sequence[str]] | None = None,
        cache_dir: str | None = None, scale_dict: Mapping[str, Any] | None = None, return_graph: bool = False, deploy_backend: str | None = None,
    ) -> None:
        _refuse(bias_correction=bias_correction, freeze_model=not freeze_model, return_graph=return_graph, deploy_backend=deploy_backend)
        for name, value in ("executor", executor), ("model_dir", model_dir):
            if value is None:
                raise AssertedArgumentError(f"PostTrainingQuantization: The {name} cannot be None. Got None, expected one.")
        among("PostTrainingQuantization", "algo", algo, _ALGORITHMS)
        among("PostTrainingQuantization", "round_type", round_type, ("round", "adaround"))
        among("PostTrainingQuantization", "weight_quantize_type", weight_quantize_type, ("abs_max", "channel_wise_abs_max"))
        kinds = ("range_abs_max", "moving_average_abs_max", "abs_max")
        among("PostTrainingQuantization", "activation_quantize_type", activation_quantize_type, kinds)
        for kind in quantizable_op_type:
            among("PostTrainingQuantization", "quantizable_op_type", kind, (*PRODUCTS, *OTHERS))
        data = [x for x in (batch_generator, sample_generator, data_loader) if x is not None]
        if len(data) != 1:
            raise AssertedArgumentError(
                f"PostTrainingQuantization: scales come from data. Got {len(data)} of data_loader, batch_generator and sample_generator, "
                f"expected one."
            )
        holder(activation_bits), holder(weight_bits)
        self._kinds = frozenset(quantizable_op_type or PRODUCTS) | (frozenset((*PRODUCTS, *OTHERS)) if is_full_quantize else frozenset())
        self._activation_bits, self._weight_bits = activation_bits, weight_bits
        options = {"percent": hist_percent} if algo == "hist" else {}
        self._observer = lambda: _ALGORITHMS[algo](None, activation_bits, **options)
        self._observer()  # whose arguments are checked before anything runs
        self._searches = round_type == "adaround"
        self._each = weight_quantize_type == "channel_wise_abs_max"
        self._skipped, self._same, self._given = set(skip_tensor_list or ()), list(same_scale_tensor_list or ()), dict(scale_dict or {})
        with paused():
            self._program = self._loaded(model_dir, model_filename, params_filename)
            if optimize_model:
                self._program = batch_norm(self._program)
        self._batches = _batches(
            [x.name for x in self._program.feeds], data_loader, batch_generator, sample_generator, batch_size, batch_nums
        )
        self._quantized: Program | None = None

    def _loaded(self, model_dir: str, model_filename: str | None, params_filename: str | None) -> Program:
        """The float model."""
        model = os.path.join(model_dir, model_filename or "__model__")
        params = model_dir if params_filename is None else os.path.join(model_dir, params_filename)
        return load_model(os.path.join(model_dir, "model"), model_path=model, params_path=params)

    def quantize(self) -> Program:
        """Run the batches, find the scales, and round.

        Returns:
            The quantized program; the float one stays as it is.

        Raises:
            ValueError: no batch, one that does not fit the model, or a name that no input of a quantized operator has.

        Source:
            `paddle.static.quantization.PostTrainingQuantization.quantize`.
        """
        with paused(), no_grad():
            self._quantized = self._calibrated()
        return self._quantized

    def _calibrated(self) -> Program:
        program = self._program.copy()[0]
        found = chosen(program, self._kinds, self._skipped)
        inputs = {id(x): x for _, values in found for x in values}
        seen: dict[int, Any] = {}  # of a weight, by its id: the second moments of what it is multiplied by
        scales = self._scales(program, list(inputs.values()), [node for node, _ in found if self._searches and rows_of(node) is not None], seen)
        return round_chosen(program, found, scales, self._activation_bits, self._weight_bits, self._each, seen)

    def save_quantized_model(self, save_model_path: str, model_filename: str | None = None, params_filename: str | None = None) -> None:
        """Save what `quantize` made.

        Args:
            save_model_path: a folder, which is made.
            model_filename: of the program; None for `model.pdmodel`.
            params_filename: no effect, as in Paddle: the name is that of the program with `.pdiparams`.

        Raises:
            ValueError: `quantize` was not called (also an AssertionError).
            OSError: a file cannot be written.

        Source:
            `paddle.static.quantization.PostTrainingQuantization.save_quantized_model`.
        """
        if self._quantized is None:
            raise AssertedArgumentError(
                "PostTrainingQuantization.save_quantized_model: nothing is quantized. Got no program, expected quantize() before."
            )
        name = "model" if model_filename is None else model_filename.rsplit(".", 1)[0]
        with paused():
            save_model(os.path.join(save_model_path, name), self._quantized)

    def _scales(self, program: Program, inputs: list[Variable], products: list[Node], moments: dict[int, Any]) -> dict[str, float]:
        run = Interpreter(program, fetches=inputs, prune=True)
        observers = [self._observer() for _ in inputs]
        count = 0
        for batch in self._batches():
            count += 1
            values = dict(zip(map(id, inputs), run(*batch), strict=True))
            for observer, value in zip(observers, values.values(), strict=True):
                observer(value)
            for node in products:
                rows = rows_of(node)(values[id(node.inputs[0])].astype("float32")).astype(np.float64)  # type: ignore[misc]
                moments[id(node.inputs[1])] = moments.get(id(node.inputs[1]), 0) + rows.T @ rows
        if not count:
            raise AssertedArgumentError("PostTrainingQuantization.quantize: scales come from data. Got no batch, expected some.")
        scales = {x.name: float(observer.scales().item()) for x, observer in zip(inputs, observers, strict=True)}
        for name in (*self._given, *(name for names in self._same for name in names)):
            if name not in scales:
                raise InvalidArgumentError(
                    f"PostTrainingQuantization: no quantized operator has an input of this name. Got {short(name)}, expected one of "
                    f"{short(sorted(scales))}.{did_you_mean(name, list(scales))}"
                )
        for names in self._same:
            scales.update(dict.fromkeys(names, max(scales[name] for name in names)))
        scales.update({name: float(scale) for name, scale in self._given.items()})
        return scales


def _refuse(**given: Any) -> None:
    for name, value in given.items():
        if value:
            raise UnimplementedError(
                f"PostTrainingQuantization: {name} is not there. Got {name} set, expected it to be left out. Models of layers have "
                f"paddle.quantization.PTQ, and more ways of rounding in paddle.quant."
            )


def among(what: str, name: str, value: Any, known: Iterable[str]) -> None:
    """Refuse a value of an argument that is not one of those."""
    if value not in known:
        raise AssertedArgumentError(
            f"{what}: {name} is not one of those. Got {short(value)}, expected one of {', '.join(known)}."
            f"{did_you_mean(value, list(known)) if isinstance(value, str) else ''}"
        )


def _batches(
    names: list[str], loader: Any, batch_generator: Any, sample_generator: Any, batch_size: int, batch_nums: int | None
) -> Callable[[], Iterator[list[Tensor]]]:
    """What gives the batches, each in the order of the inputs."""

    def together() -> Iterator[list[Any]]:
        samples = iter(sample_generator())
        while some := [x if isinstance(x, (tuple, list)) else (x,) for x in islice(samples, batch_size)]:
            yield [np.stack([np.asarray(x) for x in column]) for column in zip(*some, strict=True)]

    def batches() -> Iterator[list[Tensor]]:
        source = together() if sample_generator is not None else batch_generator() if batch_generator is not None else loader
        for i, batch in enumerate(source):
            if i == batch_nums:
                return
            yield _in_order(batch, names)

    return batches


def _in_order(batch: Any, names: list[str]) -> list[Tensor]:
    if isinstance(batch, (tuple, list)) and len(batch) == 1 and isinstance(batch[0], Mapping):
        (batch,) = batch  # as a DataLoader with `feed_list` gives it, for one place
    if isinstance(batch, Mapping):
        missing = [name for name in names if name not in batch]
        if missing:
            raise InvalidArgumentError(
                f"PostTrainingQuantization: a batch lacks inputs of the model. Got {short(list(batch))}, expected also {short(missing)}."
            )
        batch = [batch[name] for name in names]
    elif not isinstance(batch, (tuple, list)):
        batch = [batch]
    if len(batch) != len(names):
        raise InvalidArgumentError(
            f"PostTrainingQuantization: a batch does not fit the model. Got {len(batch)} values, expected one for each of {short(names)}."
        )
    return [x if isinstance(x, Tensor) else to_tensor(np.asarray(x)) for x in batch]
