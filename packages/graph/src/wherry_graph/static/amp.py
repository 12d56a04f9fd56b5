"""`paddle.static.amp`: programs in mixed precision.

A program is built in float32 and changed when it is to be trained (`decorate(optimizer).minimize(loss)`): the ops of its forward pass
are applied once more under autocast, whose rules are those of eager code (`wherry_train.amp`). Steps whose gradients are not finite are left out.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any

from wherry_graph.static.builder import lasting_variable
from wherry_graph.static.mode import default_startup_program, name_scope, paused, program_guard, recording_into
from wherry_graph.static.scope import chosen_scope
from wherry_graph.static.training import append_backward
from wherry_nn import unique_name
from wherry_program.program import control
from wherry_program.program.ir import FORWARD, OPTIMIZE, Block, Node, Program, StaticParameter, Variable
from wherry_tensor import _core, ops
from wherry_tensor._core import DType, Tensor
from wherry_tensor.arguments import names_of, require
from wherry_tensor.dtype import as_dtype
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short
from wherry_tensor.explained import explained
from wherry_train.amp import auto_cast, lists
from wherry_train.amp.lists import black_list, white_list
from wherry_train.optimizer import Optimizer

__all__ = [
    "AutoMixedPrecisionLists", "CustomOpLists", "OptimizerWithMixedPrecision", "cast_model_to_fp16", "cast_parameters_to_fp16", "decorate",
    "fp16_guard",
]

_GUARD = "__use_fp16__"
_HALF = (_core.float16, _core.bfloat16)


class AutoMixedPrecisionLists:
    """Which ops run in 16 bits: the lists of `paddle.amp`, with changes.

    Args:
        custom_white_list: names of ops that run in 16 bits in addition, Paddle's ("elementwise_add") or ours ("add").
        custom_black_list: names of ops that run in float32 in addition.
        custom_black_varnames: names of variables; the ops that read one run in float32.
        dtype: "float16" or "bfloat16".

    Raises:
        ValueError: a name stands in both lists.
        TypeError: something holds other things than names.

    Source:
        `paddle.static.amp.AutoMixedPrecisionLists`.

    Examples:
        >>> found = wherry.static.amp.AutoMixedPrecisionLists(custom_black_list={"matmul_v2"})
        >>> "matmul_v2" in found.black_list, "matmul_v2" in found.white_list
        (True, False)
    """

    def __init__(
        self, custom_white_list: Iterable[str] | None = None, custom_black_list: Iterable[str] | None = None,
        custom_black_varnames: Iterable[str] | None = None, dtype: str = "float16",
    ) -> None:
        self.custom_white_list = set(names_of(custom_white_list, "AutoMixedPrecisionLists", "custom_white_list"))
        self.custom_black_list = set(names_of(custom_black_list, "AutoMixedPrecisionLists", "custom_black_list"))
        both = self.custom_white_list & self.custom_black_list
        if both:
            raise InvalidArgumentError(
                f"AutoMixedPrecisionLists: Custom white list overlap custom black list. Got {', '.join(sorted(both))} in both, expected each "
                f"name in one."
            )
        self.black_varnames = set(names_of(custom_black_varnames, "AutoMixedPrecisionLists", "custom_black_varnames"))
        self.amp_dtype = _half(dtype).name
        self.white_list = (set(white_list()) | self.custom_white_list) - self.custom_black_list
        self.black_list = (set(black_list()) | self.custom_black_list) - self.custom_white_list


CustomOpLists = AutoMixedPrecisionLists


def _half(dtype: Any) -> DType:
    found = as_dtype(dtype, "static.amp")
    if found not in _HALF:
        raise InvalidArgumentError(f"static.amp: the dtype has 16 bits. Got {found.name}, expected 'float16' or 'bfloat16'.")
    return found


@contextmanager
def fp16_guard() -> Iterator[None]:
    """A context: the ops recorded in it run in 16 bits, and others do not, where `decorate(use_fp16_guard=True)` asks for it.

    Source:
        `paddle.static.amp.fp16_guard`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 2])
        ...     with wherry.static.amp.fp16_guard():
        ...         hidden = wherry.static.nn.fc(x, 2, weight_attr="inside_w", bias_attr=False)
        ...     y = wherry.static.nn.fc(hidden, 1, weight_attr="outside_w", bias_attr=False)
        >>> wherry.static.amp.cast_model_to_fp16(main, use_fp16_guard=True)
        {'inside_w'}
        >>> wherry.disable_static()
    """
    with name_scope(_GUARD):
        yield


def cast_model_to_fp16(
    program: Program, amp_lists: AutoMixedPrecisionLists | None = None, use_fp16_guard: bool = True, dest_type: Any = "float16",
    level: str = "O2", use_promote: bool = False,
) -> set[str]:
    """Change a program, in place: ops of its forward pass compute in 16 bits.

    Args:
        program: the program.
        amp_lists: which ops; None are the lists of `paddle.amp`.
        use_fp16_guard: only ops recorded in `fp16_guard()`.
        dest_type: "float16" or "bfloat16".
        level: "O1": products in 16 bits; parameters stay float32. "O2": nearly everything, and parameters with it.
        use_promote: in O2, whether an op with a float32 input runs in float32.

    Returns:
        The names of the parameters that are of 16 bits now: `cast_parameters_to_fp16` changes their values.

    Raises:
        TypeError: `program` is not a Program.
        ValueError: another level or dtype.

    Source:
        `paddle.static.amp.cast_model_to_fp16`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 2])
        ...     y = wherry.static.nn.fc(x, 1, weight_attr="cast_w", bias_attr=False)
        >>> wherry.static.amp.cast_model_to_fp16(main, use_fp16_guard=False)
        {'cast_w'}
        >>> wherry.disable_static()
    """
    if not isinstance(program, Program):
        raise InvalidTypeError(f"cast_model_to_fp16: this is not a Program. Got {short(program)} ({type(program).__name__}), expected a Program.")
    if level not in ("O1", "O2"):
        raise InvalidArgumentError(f"cast_model_to_fp16: the level is 'O1' or 'O2'. Got {short(level)}.")
    chosen = AutoMixedPrecisionLists() if amp_lists is None else amp_lists
    low = _half(dest_type)
    caster = _Caster(program, chosen, use_fp16_guard, low, level, use_promote)
    names = caster.cast_parameters() if level == "O2" else set()
    with paused():
        caster.block(program.blocks[0])
    program.__dict__["_changes"] = program.__dict__.get("_changes", 0) + 1
    return names


class _Caster:
    """Applies the ops of a program once more under autocast; the variables stay, their dtypes change."""

    def __init__(
        self, program: Program, chosen: AutoMixedPrecisionLists, guarded: bool, low: DType, level: str, use_promote: bool
    ) -> None:
        self.program, self.chosen, self.guarded, self.low, self.level, self.use_promote = program, chosen, guarded, low, level, use_promote
        self.rules = lists.table(level, use_promote, chosen.custom_white_list, chosen.custom_black_list)

    def takes(self, node: Node) -> bool:
        """Whether the node is in the forward pass, and allowed by the guard."""
        return node.role == FORWARD and (not self.guarded or _GUARD in node.scope)

    def cast_parameters(self) -> set[str]:
        """Cast the parameters that only ops of 16 bits read."""
        wide: set[int] = set()
        narrow: dict[int, Variable] = {}
        for node in self.program.walk():
            rule = self.rules.get(None if node.is_control else node.op, self.rules[None])
            keeps = rule in (lists.keep, lists.black, lists.always_black) or node.is_control or node.in_place or not self.takes(node)
            for x in (*(x for x in node.inputs if x is not None), *node.writes()):
                if isinstance(x, StaticParameter) and x.dtype is _core.float32:
                    if keeps or x.name in self.chosen.black_varnames:
                        wide.add(id(x))
                    else:
                        narrow[id(x)] = x
        found = [x for x in narrow.values() if id(x) not in wide]
        for x in found:
            x.resize(x.sizes, self.low)
        return {x.name for x in found}

    def block(self, block: Block) -> None:
        nodes, block.nodes = block.nodes, []
        expected = {id(x): x.dtype for x in block.outputs}
        with recording_into_block(self.program, block) as recording:
            for node in nodes:
                recording.take_place_of(node)
                self.node(block, node)
            outputs = []
            for x in block.outputs:  # the node around it knows the dtype that they had
                outputs.append(x if x.dtype is expected[id(x)] else recording.variable_of(ops.cast(x, dtype=expected[id(x)])))
            block.outputs = outputs

    def node(self, block: Block, node: Node) -> None:
        if node.is_control or node.in_place:
            for inner in node.blocks:
                self.block(inner)
            node.inputs = tuple(self.as_before(block, node, x) for x in node.inputs)
            block.nodes.append(node)
            return
        cast = self.takes(node) and not any(x is not None and x.name in self.chosen.black_varnames for x in node.inputs)
        if cast:
            context = auto_cast(
                True, self.chosen.custom_white_list, self.chosen.custom_black_list, self.level, self.low.name, self.use_promote
            )
        else:
            black = [x if x is None or x.dtype not in _HALF else ops.cast(x, dtype=_core.float32) for x in node.inputs]
            node.inputs, context = tuple(black), auto_cast(False)  # type: ignore[arg-type]
        with context:
            results = node.op.apply(node.inputs, node.attrs)
        made = results if isinstance(results, tuple) else (results,)
        last = block.nodes[-1]
        last.line = node.line
        if [id(x) for x in last.outputs] != [id(x) for x in made]:  # an op that returned its input
            made = tuple(ops.copy(x) for x in made)
            last = block.nodes[-1]
        for x, y in zip(node.outputs, made, strict=True):
            del block.vars[y.name]
            if x.dtype is not y.dtype:
                x.resize(x.sizes, y.dtype)
            x.made_by = last
        last.outputs = node.outputs

    def as_before(self, block: Block, node: Node, x: Variable | None) -> Variable | None:
        """An input of a node that keeps the dtypes it was recorded with."""
        if x is None or x.is_array or x.dtype not in _HALF or (node.in_place and node.outputs[0].dtype in _HALF):
            return x
        return ops.cast(x, dtype=_core.float32)  # type: ignore[return-value]


@contextmanager
def recording_into_block(program: Program, block: Block) -> Iterator[Any]:
    """Record at the end of one block; the scope and role of what is recorded there come back afterwards."""
    from wherry_program.program.capture import capture

    with capture(block) as recording:
        yield recording


def cast_parameters_to_fp16(
    place: Any, program: Program, scope: Any = None, to_fp16_var_names: Iterable[str] | None = None, dest_type: Any = "float16",
    rewrite_master_weight: bool = False, master_weights: Any = None,
) -> None:
    """Cast the values of parameters to 16 bits.

    Args:
        place: no effect; values stay where they are.
        program: whose parameters they are.
        scope: the scope of the values; None is `static.global_scope()`.
        to_fp16_var_names: which; None takes all that are of 16 bits in the program.
        dest_type: "float16" or "bfloat16".
        rewrite_master_weight: write the values into the float32 copies of `master_weights` too.
        master_weights: variables of float32 copies by the names of parameters.

    Raises:
        TypeError: `program` is not a Program (also a ValueError), or `dest_type` is unknown.

    Source:
        `paddle.static.amp.cast_parameters_to_fp16`.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 2])
        ...     y = wherry.static.nn.fc(x, 1, weight_attr="half_w", bias_attr=False)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> names = wherry.static.amp.cast_model_to_fp16(main, use_fp16_guard=False)
        >>> wherry.static.amp.cast_parameters_to_fp16(wherry.CPUPlace(), main, to_fp16_var_names=names)
        >>> wherry.static.global_scope().find_var("half_w").get_tensor().numpy().dtype
        dtype('float16')
        >>> wherry.disable_static()
    """
    require(program, Program, "cast_parameters_to_fp16", "program", "Pass the one that was built, such as default_main_program().")
    low = _half(dest_type)
    chosen = names_of(to_fp16_var_names, "cast_parameters_to_fp16", "to_fp16_var_names")
    names = {x.name for x in program.all_parameters() if x.dtype is low} if to_fp16_var_names is None else chosen
    there = chosen_scope(scope)
    with paused():
        for x in program.all_parameters():
            value = there.value(x.name)
            if x.name not in names or value is None:
                continue
            master = (master_weights or {}).get(x.name) if rewrite_master_weight else None
            held = None if master is None else there.value(master.name)
            if held is not None:
                ops.copy.into((held,), ops.cast(value, dtype=held.dtype))
            if value.dtype is not low:
                there.put(x.name, ops.cast(value.detach(), dtype=low))


def _require_loss(loss: Any, what: str) -> Variable:
    return require(loss, Variable, what, "loss", "Compute it under paddle.enable_static().")


class OptimizerWithMixedPrecision:
    """An optimizer that trains programs in mixed precision; made by `decorate`.

    Raises:
        TypeError: `optimizer` is not an Optimizer (also a ValueError).

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     loss = wherry.static.nn.fc(wherry.static.data("x", [None, 2]), 1).mean()
        ...     optimizer = wherry.static.amp.decorate(wherry.optimizer.SGD(0.1), init_loss_scaling=128.0)
        ...     _ = optimizer.minimize(loss)
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> exe.run(main, feed={"x": np.ones([4, 2], "float32")}, fetch_list=[optimizer.get_loss_scaling()])
        [array([128.], dtype=float32)]
        >>> wherry.disable_static()
    """

    def __init__(
        self, optimizer: Optimizer, amp_lists: AutoMixedPrecisionLists, level: str, dtype: DType, init_loss_scaling: float,
        use_dynamic_loss_scaling: bool, incr_every_n_steps: int, decr_every_n_nan_or_inf: int, incr_ratio: float, decr_ratio: float,
        use_amp_guard: bool, use_promote: bool,
    ) -> None:
        require(optimizer, Optimizer, "OptimizerWithMixedPrecision", "optimizer", "static.amp.decorate(optimizer) makes one of these.")
        self._optimizer, self._amp_lists, self._amp_level, self._dtype = optimizer, amp_lists, level, dtype
        self._init_loss_scaling, self._use_dynamic = float(init_loss_scaling), use_dynamic_loss_scaling
        self._incr_every, self._decr_every = incr_every_n_steps, decr_every_n_nan_or_inf
        self._incr_ratio, self._decr_ratio = incr_ratio, decr_ratio
        self._guard, self.use_promote = use_amp_guard, use_promote
        self._to_fp16_var_names: set[str] = set()
        self._loss_scaling: Any = None
        self._scaled_loss: Any = None
        self._train_program: Program | None = None

    def get_loss_scaling(self) -> Any:
        """The variable with the factor of the loss."""
        return self._loss_scaling

    def get_scaled_loss(self) -> Any:
        """The variable with the loss times the factor."""
        return self._scaled_loss

    def __getattr__(self, name: str) -> Any:
        if name.startswith("__"):
            raise AttributeError(name)
        return getattr(self._optimizer, name)

    def amp_init(
        self, place: Any, scope: Any = None, test_program: Program | None = None, use_fp16_test: bool = False,
        rewrite_master_weight: bool = False,
    ) -> None:
        """For level O2: give the values of parameters 16 bits. Call it once the startup program has run.

        Args:
            place: no effect; values stay where they are.
            scope: the scope of the values; None is `static.global_scope()`.
            test_program: is changed likewise, with `use_fp16_test`.
            use_fp16_test: let `test_program` compute in 16 bits.
            rewrite_master_weight: write the values into the float32 copies too: after loading a checkpoint.

        Raises:
            RuntimeError: `minimize` was not called.

        Source:
            `paddle.static.amp` (`amp_init` of a decorated optimizer).
        """
        if self._train_program is None:
            raise RuntimeError("amp_init: there is no program. Got a call before minimize(), expected one after it and the startup program.")
        if self._amp_level == "O2":
            cast_parameters_to_fp16(
                place, self._train_program, scope, self._to_fp16_var_names, self._dtype, rewrite_master_weight, self._optimizer._master_weights
            )
        if test_program is not None and use_fp16_test:
            cast_model_to_fp16(test_program, self._amp_lists, self._guard, self._dtype, self._amp_level, self.use_promote)

    def minimize(
        self, loss: Tensor, startup_program: Program | None = None, parameter_list: Any = None, no_grad_set: Any = None
    ) -> tuple[list[Any], list[tuple[Any, Any]]]:
        """Change the program of `loss` to mixed precision, and let it compute gradients and take steps. Arguments as `Optimizer.minimize`."""
        end = _require_loss(loss, "minimize")
        with program_guard(end.program, default_startup_program() if startup_program is None else startup_program):
            pairs = self.backward(end, startup_program, parameter_list, no_grad_set)
            mark = len(end.program.blocks[0].nodes)
            self.apply_gradients(pairs)
            return end.program.blocks[0].nodes[mark:], pairs

    def backward(
        self, loss: Variable, startup_program: Program | None = None, parameter_list: Any = None, no_grad_set: Any = None,
        callbacks: Any = None,
    ) -> list[tuple[Any, Any]]:
        """Change the program, scale the loss, and compute the (scaled) gradients."""
        return append_backward(self._scaled(loss), parameter_list, no_grad_set, callbacks)

    def _scaled(self, loss: Variable) -> Any:
        """Change the program; returns the scaled loss."""
        _require_loss(loss, "backward")
        program = self._train_program = loss.program
        self._to_fp16_var_names = cast_model_to_fp16(
            program, self._amp_lists, self._guard, self._dtype, self._amp_level, self.use_promote
        )
        self._loss_scaling = lasting_variable(
            unique_name.generate("loss_scaling"), partial(ops.full, shape=(1,), value=self._init_loss_scaling, dtype=_core.float32), main=program
        )
        with recording_into(program):
            wide: Any = loss if loss.dtype is _core.float32 else ops.cast(loss, dtype=_core.float32)
            self._scaled_loss = ops.multiply(wide, ops.reshape(self._loss_scaling, shape=tuple(loss.sizes)))
        return self._scaled_loss

    def _agreed(self, finite: Any) -> Any:
        """Are all gradients finite? `finite` says it of those of this program, None where it has none; other processes may have others."""
        return finite

    def apply_gradients(self, params_grads: list[tuple[Any, Any]]) -> list[Any]:
        """Divide the gradients by the factor, and take the step if all of them are finite."""
        program = self._train_program
        assert program is not None, "apply_gradients: call backward first"
        scale = self._loss_scaling
        with recording_into(program, OPTIMIZE):
            before = _core.set_grad_mode(False)
            try:
                one = ops.full(shape=(), value=1.0, dtype=_core.float32)
                factor = ops.divide(one, ops.reshape(scale, shape=()))
                finite: Any = None
                unscaled = []
                for p, g in params_grads:
                    wide = g if g.dtype not in _HALF else ops.cast(g, dtype=_core.float32)
                    wide = ops.multiply(wide, factor if wide.dtype is _core.float32 else ops.cast(factor, dtype=wide.dtype))
                    here = ops.reduce_all(ops.isfinite(wide), tuple(range(wide.ndim)), False)
                    finite = here if finite is None else ops.logical_and(finite, here)
                    unscaled.append((p, wide))
                finite = self._agreed(finite)
                if finite is None:
                    return []
                self._first_state(params_grads)
                control.cond(finite, lambda: self._step(unscaled), lambda: None)
                if self._use_dynamic:
                    self._update_scale(scale, finite)
            finally:
                _core.set_grad_mode(before)
        return []

    def _first_state(self, pairs: list[tuple[Any, Any]]) -> None:
        """Accumulators begin in the startup program, not in the branch that takes the step."""
        for p, _ in pairs:
            self._optimizer._create_accumulators(p, {})

    def _step(self, pairs: list[tuple[Any, Any]]) -> None:
        self._optimizer.apply_gradients(pairs)

    def _update_scale(self, scale: Any, finite: Any) -> None:
        counts = [
            lasting_variable(unique_name.generate(name), partial(ops.full, shape=(1,), value=0, dtype=_core.int32))
            for name in ("num_good_steps", "num_bad_steps")
        ]
        good, bad = counts
        zero, one = (ops.full(shape=(1,), value=n, dtype=_core.int32) for n in (0, 1))
        ok = ops.reshape(finite, shape=(1,))
        more_good, more_bad = ops.where(ok, good + one, zero), ops.where(ok, zero, bad + one)
        grows = ops.greater_equal(more_good, ops.full(shape=(1,), value=self._incr_every, dtype=_core.int32))
        shrinks = ops.greater_equal(more_bad, ops.full(shape=(1,), value=self._decr_every, dtype=_core.int32))
        larger = ops.multiply(scale, ops.full(shape=(1,), value=self._incr_ratio, dtype=_core.float32))
        larger = ops.where(ops.isfinite(larger), larger, scale)
        smaller = ops.multiply(scale, ops.full(shape=(1,), value=self._decr_ratio, dtype=_core.float32))
        smaller = ops.maximum(smaller, ops.full(shape=(1,), value=1.0, dtype=_core.float32))
        new = ops.where(grows, larger, ops.where(shrinks, smaller, scale))
        ops.copy.into((good,), ops.where(grows, zero, more_good))
        ops.copy.into((bad,), ops.where(shrinks, zero, more_bad))
        ops.copy.into((scale,), new)


def decorate(
    optimizer: Optimizer, amp_lists: AutoMixedPrecisionLists | None = None, level: str = "O1", dtype: str = "float16",
    master_weight: bool | None = None, master_grad: bool = False, init_loss_scaling: float = 2.0**16, incr_every_n_steps: int = 2000,
    decr_every_n_nan_or_inf: int = 1, incr_ratio: float = 2.0, decr_ratio: float = 0.5, use_dynamic_loss_scaling: bool | None = None,
    use_amp_guard: bool = False, use_promote: bool = False, use_pure_fp16: bool | None = None, use_fp16_guard: bool | None = None,
    use_bf16: bool | None = None,
) -> OptimizerWithMixedPrecision:
    """An optimizer that trains programs in mixed precision.

    Args:
        optimizer: of `paddle.optimizer`.
        amp_lists: which ops run in 16 bits; None are the lists of `paddle.amp`.
        level: "O1": products in 16 bits. "O2": nearly everything, parameters too; call `amp_init` after the startup program.
        dtype: "float16" or "bfloat16".
        master_weight: in O2 keep float32 copies of parameters; None and True do.
        master_grad: no effect; gradients become float32 before they are clipped and used.
        init_loss_scaling: what the loss is multiplied by at the beginning.
        incr_every_n_steps: after so many good steps the factor grows,
        decr_every_n_nan_or_inf: after so many bad ones it shrinks,
        incr_ratio, decr_ratio: by these.
        use_dynamic_loss_scaling: does the factor change? None: with float16 alone.
        use_amp_guard: only ops recorded in `fp16_guard()` run in 16 bits.
        use_promote: in O2, whether an op with a float32 input runs in float32.
        use_pure_fp16, use_fp16_guard, use_bf16: old names of level "O2", `use_amp_guard` and dtype "bfloat16".

    Raises:
        TypeError: `optimizer` is not an Optimizer.
        ValueError: another level or dtype.

    Source:
        `paddle.static.amp.decorate`; Micikevicius et al., "Mixed precision training" (2018).

    Examples:
        >>> wherry.enable_static()
        >>> with wherry.static.program_guard(wherry.static.Program(), wherry.static.Program()):
        ...     loss = wherry.static.nn.fc(wherry.static.data("x", [None, 4]), 2).mean()
        ...     optimizer = wherry.static.amp.decorate(wherry.optimizer.SGD(0.1), init_loss_scaling=128.0)
        ...     result = optimizer.minimize(loss)
        >>> [op.type for op in loss.program.global_block().ops][:3]
        ['cast', 'cast', 'matmul']
        >>> wherry.disable_static()
    """
    if not isinstance(optimizer, Optimizer):
        raise InvalidTypeError(f"decorate: this is not an optimizer. Got {short(optimizer)} ({type(optimizer).__name__}), expected an Optimizer.")
    if use_pure_fp16:
        level = "O2"
    if level not in ("O1", "O2"):
        raise InvalidArgumentError(f"decorate: the level is 'O1' or 'O2'. Got {short(level)}, expected one of these.")
    low = _half("bfloat16" if use_bf16 else dtype)
    if level == "O2" and master_weight is not False and hasattr(optimizer, "_multi_precision"):
        optimizer._multi_precision = True
    dynamic = low is _core.float16 if use_dynamic_loss_scaling is None else bool(use_dynamic_loss_scaling)
    if low is _core.bfloat16 and not dynamic:
        init_loss_scaling = 1.0
    return OptimizerWithMixedPrecision(
        optimizer, AutoMixedPrecisionLists(dtype=low.name) if amp_lists is None else amp_lists, level, low, init_loss_scaling, dynamic,
        incr_every_n_steps, decr_every_n_nan_or_inf, incr_ratio, decr_ratio, use_amp_guard if use_fp16_guard is None else use_fp16_guard,
        use_promote,
    )


explained(globals())
