"""Weights of saved models in few bits, without data: `paddle.static.quantization.WeightQuantization`."""
from __future__ import annotations

import os
from collections.abc import Sequence
from typing import Any

from wherry_autograd import no_grad
from wherry_graph.static.mode import paused
from wherry_paddle_files.models import load_model, save_model
from wherry_program.passes.rewriting import forget_unused
from wherry_program.program.ir import Program, Variable
from wherry_quant.numbers import holder
from wherry_quant.post_training import among
from wherry_quant.rounded_programs import PRODUCTS, kinds_of, round_weight, weight_of
from wherry_tensor import ops
from wherry_tensor.errors import AssertedArgumentError, UnimplementedError

__all__ = ["WeightQuantization"]


class WeightQuantization:
    """Rounds the weights of a saved model; inputs stay floats.

    Args:
        model_dir: the folder of the float model.
        model_filename: of the program; None for `__model__`.
        params_filename: of the parameters; None for a file for each.

    Raises:
        FileNotFoundError: there is no such model.
        ValueError: it is damaged.

    Source:
        `paddle.static.quantization.WeightQuantization`.

    Examples:
        >>> import os, tempfile
        >>> from wherry.static.quantization import WeightQuantization
        >>> net = wherry.nn.Sequential(wherry.nn.Linear(16, 32), wherry.nn.ReLU(), wherry.nn.Linear(32, 2))
        >>> x = wherry.randn([3, 16])
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     wherry.jit.save(net, folder + "/float/model", input_spec=[wherry.static.InputSpec([None, 16], "float32", "x")])
        ...     tool = WeightQuantization(folder + "/float", "model.pdmodel", "model.pdiparams")
        ...     tool.quantize_weight_to_int(folder + "/int8", "model.pdmodel", "model.pdiparams", quantizable_op_type=["mul"])
        ...     small = wherry.jit.load(folder + "/int8/quantized_model/model")
        >>> bool((small(x) - net(x)).abs().max() < 0.05)
        True
    """

    def __init__(self, model_dir: str, model_filename: str | None = None, params_filename: str | None = None) -> None:
        model = os.path.join(model_dir, model_filename or "__model__")
        params = model_dir if params_filename is None else os.path.join(model_dir, params_filename)
        with paused():
            self._program = load_model(os.path.join(model_dir, "model"), model_path=model, params_path=params)

    def quantize_weight_to_int(
        self, save_model_dir: str, save_model_filename: str | None = None, save_params_filename: str | None = None,
        quantizable_op_type: Sequence[str] = ("conv2d", "mul"), weight_bits: int = 8, weight_quantize_type: str = "channel_wise_abs_max",
        generate_test_model: bool = False, threshold_rate: float = 0.0,
    ) -> None:
        """Round and save: `quantized_model` in a folder has whole numbers and `dequantize_linear`, so that it runs wherever models run.

        Args:
            save_model_dir: the folder, which is made.
            save_model_filename: of the program; None for `model.pdmodel`. Parameters have its name with `.pdiparams`.
            save_params_filename: no effect.
            quantizable_op_type: types of operators.
            weight_bits: of weights.
            weight_quantize_type: "channel_wise_abs_max" for a scale for each output, or "abs_max".
            generate_test_model: save `test_model` as well, whose weights are floats of the same values.
            threshold_rate: 0.0.

        Raises:
            ValueError: an argument is not one of these (also an AssertionError), or nothing has such a weight.
            NotImplementedError: `threshold_rate` is not 0.
            OSError: a file cannot be written.

        Source:
            `paddle.static.quantization.WeightQuantization.quantize_weight_to_int`.
        """
        what = "WeightQuantization.quantize_weight_to_int"
        among(what, "weight_quantize_type", weight_quantize_type, ("channel_wise_abs_max", "abs_max"))
        for kind in quantizable_op_type:
            among(what, "quantizable_op_type", kind, PRODUCTS)
        holder(weight_bits)
        if threshold_rate:
            raise UnimplementedError(f"{what}: threshold_rate is not there. Got {threshold_rate}, expected 0.0. Scales are largest magnitudes.")
        name = "model" if save_model_filename is None else save_model_filename.rsplit(".", 1)[0]
        with paused(), no_grad():
            whole, rounded = self._rounded(frozenset(quantizable_op_type), weight_bits, weight_quantize_type == "channel_wise_abs_max")
            if not rounded:
                kinds = ", ".join(quantizable_op_type)
                raise AssertedArgumentError(f"{what}: nothing is rounded. Got a model without weights of {kinds}, expected some.")
            save_model(os.path.join(save_model_dir, "quantized_model", name), whole)
            if generate_test_model:
                save_model(os.path.join(save_model_dir, "test_model", name), _in_floats(whole, rounded))

    def _rounded(self, kinds: frozenset[str], bits: int, each: bool) -> tuple[Program, list[Variable]]:
        program = self._program.copy()[0]
        done: dict[int, Variable] = {}
        for node in list(program.nodes):
            weight = weight_of(node)
            if weight is None or not kinds & kinds_of(node):
                continue
            if id(weight) not in done:
                done[id(weight)] = round_weight(program, node, weight, bits, each)
            node.inputs = (node.inputs[0], done[id(weight)], *node.inputs[2:])
        forget_unused(program)
        return program, list(done.values())


def _in_floats(program: Program, rounded: list[Variable]) -> Program:
    """The same program with the values that whole numbers stand for as its weights."""
    out, new = program.copy()
    for x in rounded:
        node: Any = new[id(x)].made_by  # a dequantize_linear of constants
        q, step, _zero = node.inputs
        value = ops.dequantize_linear.run((q.bound.detach(), step.bound.detach(), None), node.attrs)
        value.name, value.persistable = x.name, True
        weight = out.bind(value)
        for reader in out.nodes:
            reader.inputs = tuple(weight if y is new[id(x)] else y for y in reader.inputs)
        out.blocks[0].nodes.remove(node)
    forget_unused(out)
    return out
