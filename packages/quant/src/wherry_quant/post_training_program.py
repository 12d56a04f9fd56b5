"""Calibration of a program that is there already: `paddle.static.quantization.PostTrainingQuantizationProgram`."""
from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from wherry_graph.static import Program, normalize_program
from wherry_graph.static.scope import chosen_scope
from wherry_nn.parameter import Parameter
from wherry_quant.post_training import PostTrainingQuantization
from wherry_quant.transforming import IrGraph
from wherry_tensor.errors import AssertedArgumentError, PreconditionNotMetError

__all__ = ["PostTrainingQuantizationProgram"]


class PostTrainingQuantizationProgram(PostTrainingQuantization):
    """Quantization of a program of static mode: as `PostTrainingQuantization`, without files.

    Args:
        executor: a `static.Executor`; programs run by themselves here.
        program: what computes the fetches, with the values that its parameters have now. It stays as it is.
        feed_list: the inputs: names, or variables.
        fetch_list: the results: variables.
        scope: where the values of the parameters are; None for `static.global_scope()`.
        batch_generator: called, gives batches: arrays in the order of `feed_list`.
        sample_generator: called, gives samples, which are put together.
        data_loader: batches: dicts by the names of the inputs, or arrays in their order. One of these three.
        batch_size: of samples that are put together.
        batch_nums: how many batches are taken; None for all.
        algo: how scales of inputs are found: "KL", "hist", "mse", "emd", "avg", "abs_max" or "min_max".
        hist_percent: the share of values below the threshold of "hist".
        quantizable_op_type: types of operators whose inputs are rounded.
        round_type: "round" to nearest; "adaround" up or down as results change least.
        learning_rate: no effect.
        is_full_quantize: round the inputs of sums, pooling, activations, softmax and concat too.
        bias_correction: refused.
        activation_bits: of inputs.
        weight_bits: of weights.
        activation_quantize_type: no effect on what is made: the scales that were found.
        weight_quantize_type: "channel_wise_abs_max" for a scale for each output, or "abs_max".
        onnx_format: no effect: what is made has `quantize_linear` and `dequantize_linear`.
        freeze_model: True: weights become whole numbers.
        optimize_model: fold batch normalizations into convolutions first.
        is_use_cache_file, cache_dir: no effect.
        skip_tensor_list: names of tensors: operators that read one stay in floats.
        same_scale_tensor_list: lists of names of inputs that share the largest of their scales.
        scale_dict: scales of inputs by name, which are taken as they are.
        return_graph: `quantize` gives a graph, as passes take it; False for a program.

    Shape:
        Those of the program.

    Raises:
        ValueError: an argument is not one of these, there is no data, or no list of inputs or results (also an AssertionError).
        NotImplementedError: an argument that is refused.
        TypeError: `program` is not a Program, or a variable is not one of it.

    Source:
        `paddle.static.quantization.PostTrainingQuantizationProgram`.

    Examples:
        >>> from wherry.static.quantization import PostTrainingQuantizationProgram
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [16, 4])
        ...     y = wherry.static.nn.fc(x, 2)
        >>> executor = wherry.static.Executor()
        >>> _ = executor.run(startup)
        >>> batches = [{"x": np.random.rand(16, 4).astype("float32")} for _ in range(4)]
        >>> tool = PostTrainingQuantizationProgram(
        ...     executor, main, ["x"], [y], data_loader=batches, algo="abs_max", return_graph=False)
        >>> [op.type for op in tool.quantize().global_block().ops]
        ['quantize_linear', 'dequantize_linear', 'dequantize_linear', 'matmul', 'add']
        >>> wherry.disable_static()
    """

    def __init__(
        self, executor: Any, program: Program, feed_list: Sequence[Any] | None = None, fetch_list: Sequence[Any] | None = None, scope: Any = None,
        batch_generator: Any = None, sample_generator: Any = None, data_loader: Any = None, batch_size: int = 10, batch_nums: int | None = None,
        algo: str = "KL", hist_percent: float = 0.99999, quantizable_op_type: Sequence[str] = ("conv2d", "depthwise_conv2d", "mul"),
        round_type: str = "round", learning_rate: float = 0.001, is_full_quantize: bool = False, bias_correction: bool = False,
        activation_bits: int = 8, weight_bits: int = 8, activation_quantize_type: str = "range_abs_max",
        weight_quantize_type: str = "channel_wise_abs_max", onnx_format: bool = False, freeze_model: bool = True, optimize_model: bool = False,
        is_use_cache_file: bool = False, skip_tensor_list: Sequence[str] | None = None,
        same_scale_tensor_list: Sequence[Sequence[str]] | None = None, cache_dir: str | None = None,
        scale_dict: Mapping[str, Any] | None = None, return_graph: bool = True,
    ) -> None:
        for name, value in ("program", program), ("feed_list", feed_list), ("fetch_list", fetch_list):
            if value is None:
                raise AssertedArgumentError(f"PostTrainingQuantizationProgram: {name} should not be None. Got None, expected one.")
        self._given_program, self._feeds, self._fetches, self._as_graph = program, feed_list, fetch_list, return_graph
        self._scope = chosen_scope(scope)
        super().__init__(
            executor, "", scope, None, None, batch_generator, sample_generator, data_loader, batch_size, batch_nums, algo, hist_percent,
            quantizable_op_type, round_type, learning_rate, is_full_quantize, bias_correction, activation_bits, weight_bits,
            activation_quantize_type, weight_quantize_type, onnx_format, freeze_model, optimize_model, is_use_cache_file, skip_tensor_list,
            same_scale_tensor_list, cache_dir, scale_dict,
        )

    def _loaded(self, model_dir: str, model_filename: str | None, params_filename: str | None) -> Program:
        program = self._given_program
        feeds = [program.global_block().var(x) if isinstance(x, str) else x for x in self._feeds or ()]
        out = normalize_program(program, feeds, list(self._fetches or ()))
        for x in out.global_block().vars.values():
            if x.bound is None and not x.is_data and (x.persistable or x.is_parameter):
                value = self._scope.value(x.name)
                if value is None:
                    raise PreconditionNotMetError(
                        f"PostTrainingQuantizationProgram: '{x.name}' has no value. Got a scope without it, expected one in which the startup "
                        f"program has run. Run exe.run(static.default_startup_program()) first."
                    )
                x.bound = Parameter(value.detach().clone(), name=x.name, trainable=False)
        return out

    def quantize(self) -> Program | IrGraph:  # type: ignore[override]
        """Run the batches, find the scales, and round.

        Returns:
            The quantized graph, or the program where `return_graph` is False; the float program stays as it is.

        Raises:
            ValueError: no batch, one that does not fit the program, or a name that no input of a quantized operator has.

        Source:
            `paddle.static.quantization.PostTrainingQuantizationProgram.quantize`.
        """
        program = super().quantize()
        return IrGraph(program) if self._as_graph else program
