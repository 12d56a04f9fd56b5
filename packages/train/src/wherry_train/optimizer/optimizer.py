"""What all optimizers share: parameters and their groups, state, files, and the order of a step.

A step is: gradients of the parameters that have one, clipping, penalties, update. Each optimizer names
one op that updates one parameter (`ops.adam`, ...); here the parameters are sorted once into batches
whose update has the same attributes, and each batch is updated by one call of `Op.each_into`. What a
step costs in Python therefore hardly depends on the number of parameters.
"""
from __future__ import annotations

import copy
import math
import re
import warnings
from collections.abc import Callable, Iterable, Iterator
from contextlib import nullcontext
from functools import partial
from time import perf_counter_ns
from typing import Any, Self

from wherry_autograd.selected_rows import SelectedRows, TableGradient
from wherry_nn import unique_name
from wherry_nn.clip import ClipGradBase, ClipGradByGlobalNorm, merged
from wherry_nn.param_attr import WeightDecayRegularizer
from wherry_nn.parameter import Parameter
from wherry_tensor import _core, ops, to_tensor
from wherry_tensor._core import DType, Op, Tensor
from wherry_tensor.errors import AssertedArgumentError, AssertedTypeError, InvalidTypeError, OutOfRangeError, short
from wherry_tensor.explained import explained
from wherry_tensor.foreach import on_each
from wherry_tensor.static_builder import building, lasting
from wherry_tensor.suggestions import check_keywords, did_you_mean
from wherry_tensor.tracebacks import warn
from wherry_train.optimizer.lr import LRScheduler
from wherry_train.regularizer import L2Decay

__all__ = ["Optimizer"]

_SHOWN = ("momentum", "use_nesterov", "beta1", "beta2", "epsilon", "rho", "centered", "initial")  # in repr
_HALF = (_core.float16, _core.bfloat16)
_OPTIMIZATION = 11  # the kind of event that a profiler records


class Optimizer:
    """Changes parameters so that a loss becomes smaller. The base of all optimizers.

    A subclass says which op updates a parameter (`_op`), which accumulators that op reads and writes
    after the parameter (`_accumulator_names`), and the op's attributes (`_attributes`).

    Args:
        learning_rate: the length of a step, or a scheduler of `paddle.optimizer.lr`.
        parameters: tensors that require gradients, or dicts of options, one for each group of
            parameters: `{"params": [...], "learning_rate": factor, "weight_decay": ..., "grad_clip": ...}`
            and arguments of the optimizer. The factor multiplies the learning rate. Options that a group
            leaves out are those of the optimizer; a group's weight decay replaces regularizers that its
            parameters have.
        weight_decay: the coefficient of an L2 penalty, or a regularizer. A parameter with a regularizer
            of its own keeps that.
        grad_clip: how to clip gradients before the update, such as `nn.ClipGradByGlobalNorm(1.0)`.
        name: becomes part of the names of the accumulators.

    Raises:
        TypeError: an argument has another type; a single tensor as `parameters`.
        ValueError: `learning_rate` is None; a parameter appears in two groups.
        AttributeError: `parameters` is None.

    Source:
        `paddle.optimizer.Optimizer`.

    Examples:
        >>> weight = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
        >>> optimizer = wherry.optimizer.SGD(learning_rate=0.5, parameters=[weight])
        >>> (weight * weight).sum().backward()
        >>> optimizer.step()
        >>> print(weight.numpy())
        [0. 0.]
    """

    _op: Op
    # After the parameter, in the order of the op: names as in Paddle's files.
    _accumulator_names: tuple[str, ...] = ()
    # Those of one element, such as powers of beta.
    _number_names: tuple[str, ...] = ()

    def __new__(cls, *args: Any, **kwargs: Any) -> Self:
        if kwargs:
            check_keywords(cls, kwargs)
        return super().__new__(cls)

    def __getattr__(self, name: str) -> Any:
        hint = "" if name.startswith("__") else did_you_mean(name, dir(type(self)))
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}.{hint}", name=name, obj=self)

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        parameters: Iterable[Any] | None = None,
        weight_decay: float | WeightDecayRegularizer | None = None,
        grad_clip: ClipGradBase | None = None,
        name: str | None = None,
    ) -> None:
        self._learning_rate = _checked_rate(learning_rate, self)
        self._name = name
        self._parameter_list = _checked_parameters(parameters, self)
        self._grad_clip = _checked_clip(grad_clip, self)
        self.regularization = _as_regularizer(weight_decay, self)
        if not hasattr(self, "_multi_precision"):
            self._multi_precision = False
        self._accumulators: dict[str, dict[str, Tensor]] = {}
        self._accumulators_holder: dict[str, Any] = {}  # what was loaded
        self._waiting: set[str] = set()                 # its keys that no accumulator has taken yet
        self._master_weights: dict[str, Tensor] = {}
        self._rate: float | None = None
        self._rates: dict[float, Tensor] = {}
        self._groups: list[_Group] = []
        self._param_groups: list[Any] = self._parameter_list
        if self._parameter_list and isinstance(self._parameter_list[0], dict):
            given, self._param_groups = self._parameter_list, []
            for options in given:
                self._add_param_group(dict(options))
        else:
            self._groups.append(_Group(self._parameter_list, {}, self._grad_clip))

    def __repr__(self) -> str:
        rate: Any = self._learning_rate
        decay = self.regularization if self.regularization is not None else vars(self).get("_weight_decay")
        facts = [f"learning_rate={rate!r}"]
        facts += [f"{name}={value!r}" for name in _SHOWN if (value := vars(self).get(f"_{name}")) is not None]
        facts += [f"weight_decay={decay!r}"] * (decay is not None) + [f"grad_clip={self._grad_clip!r}"] * (self._grad_clip is not None)
        held = list(self._all_parameters())
        values = sum(p.size for p in held)
        groups = f" in {len(self._groups)} groups" if len(self._groups) > 1 else ""
        return f"{type(self).__name__}({', '.join(facts)}, parameters={len(held)} tensors of {values:,} values{groups})"

    # Parameter groups.

    def _add_param_group(self, options: dict[str, Any]) -> None:
        name = type(self).__name__
        if "params" not in options:
            raise AssertedArgumentError(
                f"{name}: params should be set in every parameter group. Got a group with {', '.join(options) or 'nothing'}, "
                f"expected the key 'params'. Write {{'params': layer.parameters(), ...}}."
            )
        params = options["params"]
        params = [params] if isinstance(params, Tensor) else list(params)
        _check_tensors(params, name)
        for group in self._groups:
            if {id(p) for p in group.params} & {id(p) for p in params}:
                raise ValueError(
                    f"{name}: some parameters appear in more than one parameter group. Got a parameter twice, expected each "
                    f"in one group. Take it out of one of them."
                )
        options["params"] = params
        options.setdefault("weight_decay", self._default_decay())
        options.setdefault("grad_clip", self._grad_clip)
        self._param_groups.append(options)
        self._groups.append(_Group(params, options, _checked_clip(options["grad_clip"], self)))
        self._take_group_options(params, options)

    def _default_decay(self) -> Any:
        return self.regularization

    def _take_group_options(self, params: list[Any], options: dict[str, Any]) -> None:
        """A group's factor and penalty replace those of its parameters, as in Paddle."""
        regularizer = _as_regularizer(options["weight_decay"], self)
        for param in params:
            param.optimize_attr = {"learning_rate": options.get("learning_rate", 1.0)}
            param.regularizer = regularizer

    # Learning rate.

    def get_lr(self) -> float:
        """The current learning rate: the number, or the value of the scheduler.

        Source:
            `paddle.optimizer.Optimizer.get_lr`.
        """
        rate = self._learning_rate
        return rate if isinstance(rate, float) else rate()

    def set_lr(self, value: float) -> None:
        """Set the learning rate.

        Raises:
            TypeError: `value` is not a number.
            RuntimeError: the optimizer has a scheduler, which would set its own.

        Source:
            `paddle.optimizer.Optimizer.set_lr`.

        Examples:
            >>> weight = wherry.to_tensor([1.0], stop_gradient=False)
            >>> optimizer = wherry.optimizer.SGD(learning_rate=0.5, parameters=[weight])
            >>> optimizer.set_lr(0.25)
            >>> optimizer.get_lr()
            0.25
        """
        if not isinstance(value, (int, float)):
            raise TypeError(
                f"set_lr: the learning rate must be a number. Got {short(value)} ({type(value).__name__}), expected a float. "
                f"For a scheduler call set_lr_scheduler."
            )
        if isinstance(self._learning_rate, LRScheduler):
            raise RuntimeError(
                f"set_lr: the learning rate comes from a scheduler, which would overwrite it. Got {short(value)} while "
                f"{type(self._learning_rate).__name__} is in use, expected an optimizer with a fixed rate. Change the "
                f"scheduler, or set another one with set_lr_scheduler."
            )
        self._learning_rate = float(value)

    def set_lr_scheduler(self, scheduler: LRScheduler) -> None:
        """Take the learning rate from `scheduler` from now on.

        Raises:
            TypeError: `scheduler` is not an LRScheduler.

        Source:
            `paddle.optimizer.Optimizer.set_lr_scheduler`.
        """
        if not isinstance(scheduler, LRScheduler):
            raise TypeError(
                f"set_lr_scheduler: this is not a scheduler. Got {short(scheduler)} ({type(scheduler).__name__}), expected an "
                f"optimizer.lr.LRScheduler. For a number call set_lr."
            )
        self._learning_rate = scheduler

    def _rate_of(self, factor: float) -> Tensor:
        """The learning rate times `factor` as a tensor: always the same one, so that a captured step sees the rate change."""
        rate = self._refresh_rates()
        known = self._rates.get(factor)
        if known is None:
            known = self._rates[factor] = _core.scalar(rate * factor, _core.float64)
        return known

    def _refresh_rates(self) -> float:
        """Write the current learning rate into the tensors of `_rate_of`, which programs read, and return it."""
        rate = self._learning_rate
        if type(rate) is not float:
            rate = float(rate()) if isinstance(rate, LRScheduler) else float(rate)
        if rate != self._rate:
            self._rate = rate
            for of, tensor in self._rates.items():
                _core.set_number(tensor, rate * of)
        return rate

    # A step.

    def step(self) -> None:
        """Change every parameter that has a gradient.

        Source:
            `paddle.optimizer.Optimizer.step`.

        Examples:
            >>> layer = wherry.nn.Linear(10, 2)
            >>> optimizer = wherry.optimizer.Adam(parameters=layer.parameters())
            >>> layer(wherry.ones([4, 10])).mean().backward()
            >>> optimizer.step()
            >>> optimizer.clear_grad()
        """
        if not self._parameter_list:
            raise OutOfRangeError(  # Paddle's class
                f"{type(self).__name__}.step: there is nothing to train. Got an empty list of parameters, expected tensors. "
                f"Layers in a plain list or dict are not found: use LayerList or LayerDict."
            )
        begin = perf_counter_ns() if _core.is_tracing() else 0
        before = _core.set_grad_mode(False)
        try:
            for group in self._groups:
                params = group.params
                grads = [g for p in params if not p.stop_gradient and (g := p._grad_as_left) is not None]
                if len(grads) != len(params):
                    params = [p for p in params if not p.stop_gradient and p._grad_as_left is not None]
                if TableGradient in map(type, grads):
                    params, grads = self._update_tables(group, params, grads)
                if grads:
                    self._update(group, params, grads)
        finally:
            _core.set_grad_mode(before)
            if begin:
                _core.trace_note(_OPTIMIZATION, f"{type(self).__name__}.step", begin, perf_counter_ns())

    def minimize(
        self,
        loss: Tensor,
        startup_program: Any = None,
        parameters: Iterable[Tensor] | None = None,
        no_grad_set: Iterable[Tensor] | None = None,
    ) -> tuple[list[Any], list[tuple[Tensor, Tensor]]]:
        """Change the parameters by the gradients that `loss.backward()` has left: call that first.

        In static mode: let the program of `loss` compute the gradients and change the parameters, each time it runs.

        Args:
            loss: a tensor; outside of static mode it is not used otherwise.
            startup_program: of static mode, the program that makes first values; None is the default one.
            parameters: which to change; None means those of the optimizer, or, if it has none, all of the program.
            no_grad_set: which to leave alone.

        Returns:
            An empty list, and the pairs of parameter and gradient that were used.

        Raises:
            TypeError: `loss` is not a tensor (also an AssertionError).

        Source:
            `paddle.optimizer.Optimizer.minimize`.
        """
        if building.builder is not None:
            return building.builder.minimize(self, loss, startup_program, parameters, no_grad_set)
        pairs = self.backward(loss, startup_program, parameters, no_grad_set)
        self.apply_gradients(pairs)
        return [], pairs

    def backward(
        self,
        loss: Tensor,
        startup_program: Any = None,
        parameters: Iterable[Tensor] | None = None,
        no_grad_set: Iterable[Tensor] | None = None,
        callbacks: Any = None,
    ) -> list[tuple[Tensor, Tensor]]:
        """The pairs of a parameter and its gradient. As in Paddle nothing is computed: call `loss.backward()` first.

        Args:
            loss: a tensor; it is not used otherwise.
            startup_program: of static mode, the program that makes first values; None is the default one.
            parameters: among which to look; None means those of the optimizer.
            no_grad_set: which to leave out.
            callbacks: of static mode, called with the block and what is known of each gradient.

        Raises:
            TypeError: `loss` is not a tensor (also an AssertionError).

        Source:
            `paddle.optimizer.Optimizer.backward`.
        """
        if not isinstance(loss, Tensor):
            raise AssertedTypeError(
                f"minimize: the loss should be a Tensor. Got {short(loss)} ({type(loss).__name__}), expected what loss.backward() "
                f"was called on. Pass that tensor."
            )
        if building.builder is not None:
            return building.builder.backward(self, loss, startup_program, parameters, no_grad_set, callbacks)
        left_out = {id(p) for p in no_grad_set or ()} | {p.name for p in no_grad_set or () if isinstance(p, Tensor)}
        params = self._all_parameters() if parameters is None else parameters
        return [
            (p, p.grad)
            for p in params
            if not p.stop_gradient and p.grad is not None and id(p) not in left_out and p.name not in left_out
        ]

    def apply_gradients(self, params_grads: Iterable[tuple[Tensor, Tensor | None]]) -> list[Any]:
        """Change parameters by the gradients given with them: clip, penalise, update.

        Args:
            params_grads: pairs of a parameter and its gradient; those with None are skipped.

        Returns:
            An empty list.

        Source:
            `paddle.optimizer.Optimizer.apply_gradients`.

        Examples:
            >>> weight = wherry.to_tensor([1.0, 2.0], stop_gradient=False)
            >>> optimizer = wherry.optimizer.SGD(learning_rate=0.5, parameters=[weight])
            >>> optimizer.apply_gradients([(weight, wherry.ones([2]))])
            []
            >>> print(weight.numpy())
            [0.5 1.5]
        """
        pairs = [(p, g) for p, g in params_grads if g is not None]
        before = _core.set_grad_mode(False)
        try:
            with nullcontext() if building.builder is None else building.builder.updating(self):
                group_of = {id(p): group for group in self._groups for p in group.params}
                for group in self._groups:
                    # A parameter that is in no group is updated as the first one says.
                    mine = [pair for pair in pairs if group_of.get(id(pair[0]), self._groups[0]) is group]
                    if mine:
                        self._update(group, [p for p, _ in mine], [g for _, g in mine])
        finally:
            _core.set_grad_mode(before)
        return []

    def append_regularization_ops(
        self, parameters_and_grads: Iterable[tuple[Tensor, Tensor]], regularization: Any = None
    ) -> list[tuple[Tensor, Tensor]]:
        """Gradients with those of the penalties added.

        Args:
            parameters_and_grads: pairs of a parameter and its gradient.
            regularization: for parameters without a regularizer of their own.

        Returns:
            The pairs, with new gradients where there is a penalty.

        Source:
            `paddle.optimizer.Optimizer.append_regularization_ops`.
        """
        out = []
        for param, grad in parameters_and_grads:
            regularizer = _regularizer_of(param) or regularization
            if grad is not None and regularizer is not None:
                out.append((param, ops.add(grad, regularizer(param, grad))))
            else:
                out.append((param, grad))
        return out

    def clear_grad(self, set_to_zero: bool = True) -> None:
        """Set the gradients of all parameters to zero, or, with `set_to_zero=False`, to None.

        The zeros are made when they are first read, so unused ones cost nothing.

        Source:
            `paddle.optimizer.Optimizer.clear_grad`, also called `clear_gradients`.
        """
        for group in self._groups:
            _core.clear_gradients(group.params, set_to_zero)

    clear_gradients = clear_grad

    def _all_parameters(self) -> Iterator[Tensor]:
        for group in self._groups:
            yield from group.params

    def _update(self, group: _Group, params: list[Any], grads: list[Tensor]) -> None:
        clip, scales = group.grad_clip, None
        sparse = [isinstance(g, SelectedRows) for g in grads] if SelectedRows in map(type, grads) else None
        if sparse is not None:
            grads = [merged(g) for g in grads]
        if clip is not None:
            scales = clip._scales(params, grads)
            if scales is None:
                grads = clip._clip(params, grads)
        if sparse is not None:
            params, grads, scales = self._update_rows(group, params, grads, scales)
            if not params:
                return
        for batch in self._batches(group, params):
            places = batch.chosen
            chosen = grads if places is None else [grads[i] for i in places]
            scale: Any = None
            if scales is not None:
                scale = scales if places is None else [scales[i] for i in places]
            if batch.regularizers is not None:
                if clip is not None and scale is not None:  # clipped before the penalty is added
                    chosen, scale = clip._clip_by(chosen, scale), None
                chosen = [
                    g if r is None else ops.add(g, r(p, g))
                    for p, g, r in zip(batch.params, chosen, batch.regularizers, strict=True)
                ]
            chosen = self._rescaled(chosen)
            rate = self._rate_of(batch.factor)
            columns = batch.columns
            if batch.half is None:
                self._op.each_into(columns, (*columns, chosen, rate, scale), batch.attributes)
            else:
                self._update_half(batch, chosen, rate, scale)

    def _update_tables(self, group: _Group, params: list[Any], grads: list[Tensor]) -> tuple[list[Any], list[Tensor]]:
        """Update large tables, whose gradient is not written out, part by part, where no update needs the whole. Returns what is left."""
        left: list[tuple[Any, Tensor]] = []
        by_parts = group.grad_clip is None and self._op in _BY_NUMBER and type(self)._update is Optimizer._update
        for param, grad in zip(params, grads, strict=True):
            if isinstance(grad, TableGradient):
                (batch,) = self._batches(group, [param])
                if by_parts and batch.regularizers is None and batch.half is None:
                    self._update_parts(batch, grad)
                    continue
                grad = param.grad
            left.append((param, grad))
        return [p for p, _ in left], [g for _, g in left]

    def _update_parts(self, batch: _Batch, grad: TableGradient) -> None:
        wholes = [column[0] for column in batch.columns]
        height, width = wholes[0].shape
        rate = self._rate_of(batch.factor)
        for first, end, part in grad.parts(max(1, _PART // (width * grad.dtype.itemsize))):
            columns = []
            for whole in wholes:
                if whole.shape == wholes[0].shape:
                    columns.append([ops.slice(whole, axes=(0,), starts=(first,), ends=(end,), steps=(1,))])
                else:  # powers of beta: the last part writes them
                    columns.append([whole if end == height else ops.copy(whole)])
            self._op.each_into(tuple(columns), (*columns, self._rescaled([part]), rate, None), batch.attributes)

    def _update_rows(
        self, group: _Group, params: list[Any], grads: list[Tensor], scales: list[Tensor | None] | None
    ) -> tuple[list[Any], list[Tensor], list[Tensor | None] | None]:
        """Update only the rows of sparse gradients where the other rows would not change. Returns what is left to update, dense."""
        left = [place for place, grad in enumerate(grads) if not isinstance(grad, SelectedRows)]
        for place, (param, grad) in enumerate(zip(params, grads, strict=True)):
            if not isinstance(grad, SelectedRows):
                continue
            (batch,) = self._batches(group, [param])
            if batch.regularizers is not None or batch.half is not None or not self._changes_rows_only(batch.attributes):
                grads[place] = grad.to_dense()
                left.append(place)
                continue
            rows, (chosen,) = grad._rows, self._rescaled([grad.get_tensor()])
            wholes = [column[0] for column in batch.columns]
            shared = [whole.shape != param.shape for whole in wholes]  # powers of beta: one number for all rows
            parts = [
                whole if one else ops.gather(whole, rows, axis=0) for whole, one in zip(wholes, shared, strict=True)
            ]
            columns = tuple([part] for part in parts)
            scale = None if scales is None else scales[place]
            self._op.each_into(columns, (*columns, [chosen], self._rate_of(batch.factor), [scale]), batch.attributes)
            for whole, part, one in zip(wholes, parts, shared, strict=True):
                if not one:
                    ops.index_put.into((whole,), whole, part, rows, axes=(0,), accumulate=False)
        left.sort()
        return (
            [params[i] for i in left], [grads[i] for i in left], None if scales is None else [scales[i] for i in left],
        )

    def _changes_rows_only(self, attributes: tuple[Any, ...]) -> bool:
        """Does a row whose gradient is zero stay as it is, so that a sparse gradient need not become dense?"""
        return False

    def _update_half(self, batch: _Batch, grads: list[Tensor], rate: Tensor, scale: Any) -> None:
        """Parameters of 16 bits: computed in float32, in master weights where these are kept."""
        params, *others = batch.columns
        masters = batch.masters
        if masters is None:
            masters = on_each(ops.cast, params, attrs=(_core.float32,), dtype=_core.float32)
        if any(g.dtype is not _core.float32 for g in grads):
            grads = on_each(ops.cast, grads, attrs=(_core.float32,), dtype=_core.float32)
        columns = (masters, *others)
        self._op.each_into(columns, (*columns, grads, rate, scale), batch.attributes)
        ops.cast.each_into((params,), (masters,), (batch.half,))

    def _batches(self, group: _Group, params: list[Any]) -> list[_Batch]:
        """`params` grouped by how they are updated. Computed again only when parameters or their options have changed."""
        whole = params is group.params
        if whole and group.plain:
            marks = [(p.regularizer, p.optimize_attr["learning_rate"]) for p in params]
        else:
            marks = [(_regularizer_of(p), _factor_of(p)) for p in params]
        key = None if whole else tuple(map(id, params))
        found = group.layouts.get(key)
        if found is not None and found[0] == marks:
            return found[1]
        batches: dict[Any, _Batch] = {}
        for i, (param, (regularizer, factor)) in enumerate(zip(params, marks, strict=True)):
            regularizer = self._penalty(regularizer, group.options)
            decay = 0.0
            if isinstance(regularizer, L2Decay) and self._fuses_decay:
                decay, regularizer = regularizer._coeff, None
            attributes = self._attributes(param, group.options, decay)
            factor *= self._extra_factor(param)
            half = param.dtype if param.dtype in _HALF else None
            batch = batches.setdefault((factor, attributes, half), _Batch(factor, attributes, half))
            batch.places.append(i)
            batch.params.append(param)
            batch.penalties.append(regularizer)
        for batch in batches.values():
            batch.chosen = None if len(batch.params) == len(params) else batch.places
            batch.regularizers = batch.penalties if any(batch.penalties) else None
            for param in batch.params:
                self._create_accumulators(param, group.options)
            batch.columns = (
                batch.params, *([self._accumulators[name][p.name] for p in batch.params] for name in self._accumulator_names)
            )
            if batch.half is not None and self._multi_precision:
                batch.masters = [self._master_weights[p.name] for p in batch.params]
            elif batch.half is not None:
                warnings.warn(
                    "Accumulating with FP16/BF16 in optimizer can lead to poor accuracy or slow convergence. "
                    f"Consider using multi_precision=True option of the {type(self).__name__} optimizer.",
                    stacklevel=4,
                )
        if len(group.layouts) > 64:  # the parameters with gradients keep changing: drop old layouts
            group.layouts.clear()
        group.layouts[key] = marks, list(batches.values())
        return group.layouts[key][1]

    def _forget_layouts(self) -> None:
        """Sort the parameters anew: their dtypes or options were changed."""
        for group in self._groups:
            group.layouts.clear()

    def _same_for(self, parameters: Iterable[Tensor]) -> Self:
        """An optimizer of the same settings for other parameters, which has not made a step. It clips each by itself, or not at all."""
        made = copy.copy(self)
        made._grad_clip = None if isinstance(self._grad_clip, ClipGradByGlobalNorm) else self._grad_clip
        made._parameter_list = made._param_groups = list(parameters)
        made._accumulators, made._accumulators_holder, made._master_weights = {}, {}, {}
        made._waiting, made._rate, made._rates = set(), None, {}
        made._groups = [_Group(made._parameter_list, {}, made._grad_clip)]
        return made

    # What subclasses define.

    _fuses_decay = True  # does the op have the attribute weight_decay for L2 penalties?

    def _attributes(self, param: Tensor, options: dict[str, Any], decay: float) -> tuple[Any, ...]:
        """The attributes of the op for one parameter, in the order of its declaration."""
        raise NotImplementedError(
            f"{type(self).__name__}: it does not define an update. Got an optimizer without _op and _attributes, expected "
            f"both. Use a subclass of Optimizer such as SGD."
        )

    def _extra_factor(self, param: Tensor) -> float:
        """Multiplies the learning rate of one parameter."""
        return 1.0

    def _first_value(self, accumulator: str, options: dict[str, Any]) -> float:
        """What an accumulator holds at the beginning."""
        return 0.0

    def _penalty(self, own: WeightDecayRegularizer | None, options: dict[str, Any]) -> WeightDecayRegularizer | None:
        """The regularizer of a parameter that has `own`."""
        return own or (None if options else self.regularization)

    def _rescaled(self, grads: list[Tensor]) -> list[Tensor]:
        """Gradients as the op gets them."""
        return grads

    # State.

    def _stem(self, param_name: str, name: str) -> str:
        """What an accumulator is called in `state_dict()`, before the number that makes it unique."""
        return f"{param_name}_{name}" if self._name is None else f"{param_name}_{self._name}_{name}"

    def _create_accumulators(self, param: Tensor, options: dict[str, Any]) -> None:
        dtype = _core.float32 if param.dtype in _HALF else param.dtype
        if param.dtype in _HALF and self._multi_precision and param.name not in self._master_weights:
            master = self._loaded_master(param)
            if master is None:
                master = lasting(
                    unique_name.generate(f"{param.name}_fp32_master"), lambda p: ops.cast(p.detach(), dtype=_core.float32), param
                )
            self._master_weights[param.name] = master
        for name in self._accumulator_names:
            known = self._accumulators.setdefault(name, {})
            if param.name in known:
                continue
            shape = [1] if name in self._number_names else param.shape
            stem, first = self._stem(param.name, name), self._first_value(name, options)
            tensor = lasting(unique_name.generate(stem), partial(ops.full, shape=tuple(shape), value=first, dtype=dtype))
            if self._accumulators_holder:
                _write(tensor, self._loaded(stem, tensor.name, self._accumulators_holder), tensor.name)
            known[param.name] = tensor

    def _loaded_master(self, param: Tensor) -> Tensor | None:
        value = self._accumulators_holder.get("master_weights", {}).get(param.name)
        if value is None:
            return None
        master = ops.full(shape=tuple(param.shape), value=0.0, dtype=_core.float32)
        _write(master, value, param.name)
        return master

    def _loaded(self, stem: str, name: str, state: dict[str, Any]) -> Any:
        """The value for accumulator `name`. The number at its end counts the optimizers of a process, so another will do."""
        if name in state:
            self._waiting.discard(name)
            return state[name]
        same = [key for key in state if key.startswith(f"{stem}_") and key[len(stem) + 1 :].isdigit()]
        if not same:
            raise AssertedArgumentError(
                f"{type(self).__name__}: Optimizer set error, {name} should be in the state dict. Got {_names(state)}, "
                f"expected the accumulators of parameter '{stem[: stem.rfind('_')]}' among them. Load the state of the same "
                f"kind of optimizer on the same model, whose parameters must have the same names."
            )
        found = min(same, key=len)
        self._waiting.discard(found)
        return state[found]

    def state_dict(self) -> dict[str, Any]:
        """Everything the optimizer remembers between steps, to be saved as `.pdopt`.

        Returns:
            The accumulators by their names (`linear_0.w_0_moment1_0`); `master_weights`, float32 copies of
            16-bit parameters by the names of these, where there are any; `LR_Scheduler`, the state of the
            scheduler, if there is one. The tensors are the optimizer's own, no copies. What was loaded is
            there from the beginning (in Paddle from the first step on).

        Source:
            `paddle.optimizer.Optimizer.state_dict`.

        Examples:
            >>> weight = wherry.create_parameter([2], "float32", name="weight")
            >>> optimizer = wherry.optimizer.Momentum(parameters=[weight])
            >>> weight.sum().backward()
            >>> optimizer.step()
            >>> list(optimizer.state_dict())
            ['weight_velocity_0']
        """
        state: dict[str, Any] = {}
        for of_params in self._accumulators.values():
            for tensor in of_params.values():
                state[tensor.name] = tensor
        state.update(self._held())
        masters = {**self._accumulators_holder.get("master_weights", {}), **self._master_weights}
        if masters:
            state["master_weights"] = masters
        if isinstance(self._learning_rate, LRScheduler):
            state["LR_Scheduler"] = self._learning_rate.state_dict()
        return state

    def _held(self) -> dict[str, Tensor]:
        """What was loaded for parameters that have no accumulators yet, because no step was made since.

        Paddle leaves it out: there, a state that is loaded and saved without a step between is lost.
        """
        begun = tuple({f"{param_name}_" for of_params in self._accumulators.values() for param_name in of_params})
        return {
            name: value if isinstance(value, Tensor) else to_tensor(value)
            for name, value in self._accumulators_holder.items()
            if hasattr(value, "shape") and not name.startswith(begun)
        }

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where `state_dict()` was taken; also with what real Paddle saved.

        Before the first step there are no accumulators yet: the values are kept and used when there are.

        Args:
            state_dict: tensors or NumPy arrays by name, as `state_dict()` gives them.

        Raises:
            ValueError: an accumulator is missing, or has another shape or dtype (also an AssertionError).
            KeyError: the optimizer has a scheduler and `state_dict` has no state for it.
            TypeError: `state_dict` is not a dict.

        Source:
            `paddle.optimizer.Optimizer.set_state_dict`. Paddle takes an accumulator only under its exact
            name; here another number at its end will do, so that a second optimizer of a process can load
            the state of the first.
        """
        if not isinstance(state_dict, dict):
            raise AttributeTypeError(
                f"set_state_dict: this is not a state. Got {type(state_dict).__name__}, expected a dict. Pass what paddle.load or "
                f"state_dict() returned."
            )
        state = self._renamed(dict(state_dict))
        if isinstance(self._learning_rate, LRScheduler):
            if "LR_Scheduler" not in state:
                raise KeyError(
                    f"LR_Scheduler: the state says nothing about the scheduler. Got {_names(state)}, expected 'LR_Scheduler' "
                    f"among them, since the learning rate comes from {type(self._learning_rate).__name__}. Load the state of "
                    f"an optimizer with a scheduler."
                )
        scheduler_state = state.pop("LR_Scheduler", None)
        before, self._waiting = self._waiting, {key for key in state if key != "master_weights"}
        try:
            found = self._fitting_values(state)
        except Exception:
            self._waiting = before
            raise
        for tensor, value in found:
            _put(tensor, value)
        if isinstance(self._learning_rate, LRScheduler):
            self._learning_rate.set_state_dict(scheduler_state)
        self._accumulators_holder = state

    def _renamed(self, state: dict[str, Any]) -> dict[str, Any]:
        """`state` with the names of our parameters, where it has those of a network that was built alike.

        Names count the layers of a process: a network that is built a second time, as by a cell of a notebook that runs
        again, has `linear_2.w_0` for what was `linear_0.w_0`. The kinds, the order and the shapes must be the same.
        """
        if not self._accumulator_names:
            return state
        ending = "" if self._name is None else f"_{self._name}"
        pattern = re.compile(rf"(.+){re.escape(ending)}_({'|'.join(map(re.escape, self._accumulator_names))})_\d+")
        keys = {key: match for key in state if isinstance(key, str) and (match := pattern.fullmatch(key))}
        theirs = {match[1] for match in keys.values()}
        ours = {p.name: p for p in self._all_parameters()}
        if not keys:
            rest = [key for key in state if key not in ("LR_Scheduler", "master_weights")]
            if rest:
                warnings.warn(
                    f"{type(self).__name__}.set_state_dict: nothing in this state belongs to {type(self).__name__}. Got {_names(state)}, "
                    f"expected names such as {next(iter(ours), 'linear_0.w_0')}_{self._accumulator_names[0]}_0. Load what the "
                    f"state_dict() of the same kind of optimizer gave.", stacklevel=3,
                )
            return state
        if theirs & ours.keys():
            return state
        by_place = {place: name for name, place in _places(ours).items()}
        new = {name: by_place.get(place) for name, place in _places(theirs).items()}
        fits = all(
            ours.get(new[match[1]] or "") is not None
            and (match[2] in self._number_names or list(getattr(state[key], "shape", [])) == ours[new[match[1]]].shape)  # type: ignore[index]
            for key, match in keys.items()
        )
        if not fits:
            warnings.warn(
                f"{type(self).__name__}.set_state_dict: this state is of other parameters. Got those of {_names(dict.fromkeys(sorted(theirs)))}, "
                f"expected those of {_names(ours)}. Build the network and the optimizer as they were.", stacklevel=3,
            )
            return state
        renamed = {(f"{new[keys[key][1]]}{key[len(keys[key][1]):]}" if key in keys else key): value for key, value in state.items()}
        if isinstance(state.get("master_weights"), dict):
            renamed["master_weights"] = {new.get(name) or name: value for name, value in state["master_weights"].items()}
        return renamed

    def _fitting_values(self, state: dict[str, Any]) -> list[tuple[Tensor, Tensor]]:
        """Each accumulator and master weight with its value from `state`."""
        found = []
        for name, of_params in self._accumulators.items():
            for param_name, tensor in of_params.items():
                value = self._loaded(self._stem(param_name, name), tensor.name, state)
                found.append((tensor, _fitting(tensor, value, tensor.name)))
        masters = state.get("master_weights", {})
        for param_name, tensor in self._master_weights.items():
            if param_name in masters:
                found.append((tensor, _fitting(tensor, masters[param_name], param_name)))
        return found

    def get_opti_var_name_list(self) -> list[str]:
        """The names of all accumulators, parameter by parameter.

        Source:
            `paddle.optimizer.Optimizer.get_opti_var_name_list`.
        """
        names: dict[str, list[str]] = {}
        for of_params in self._accumulators.values():
            for param_name, tensor in of_params.items():
                names.setdefault(param_name, []).append(tensor.name)
        return [name for of_param in names.values() for name in of_param]


Optimizer.__new__.__wrapped__ = Optimizer.__init__  # type: ignore[attr-defined]  # what inspect.signature shows


class AttributeTypeError(TypeError, AttributeError):
    """A state is not a dict: Python's class for that, and Paddle's."""


class _Group:
    """Parameters with the same options. `layouts`: the batches for each set of those that have gradients."""

    def __init__(self, params: list[Any], options: dict[str, Any], grad_clip: ClipGradBase | None) -> None:
        self.params = params
        self.options = options
        self.grad_clip = grad_clip
        self.plain = all(isinstance(p, Parameter) for p in params)
        self.layouts: dict[tuple[int, ...] | None, tuple[list[Any], list[_Batch]]] = {}


_BY_NUMBER = {ops.sgd, ops.momentum, ops.adam, ops.adamw, ops.adagrad}  # each number changes by its own gradient alone
_PART = 4 << 20  # bytes of a gradient that is written out in part


class _Batch:
    """Parameters whose update is one op with the same attributes and learning rate."""

    def __init__(self, factor: float, attributes: tuple[Any, ...], half: DType | None) -> None:
        self.factor = factor
        self.attributes = attributes
        self.half = half                             # the dtype, if it has 16 bits
        self.params: list[Any] = []
        self.places: list[int] = []                  # among the parameters of the step
        self.chosen: list[int] | None = None         # the same; None where it is all of them
        self.penalties: list[Any] = []               # that the op does not know
        self.regularizers: list[Any] | None = None   # the same; None where there are none
        self.columns: tuple[list[Tensor], ...] = ()  # what the op reads and writes
        self.masters: list[Tensor] | None = None


def _regularizer_of(param: Any) -> Any:
    return getattr(param, "regularizer", None)


def _factor_of(param: Any) -> float:
    attributes = getattr(param, "optimize_attr", None)
    return 1.0 if attributes is None else attributes["learning_rate"]


def number(optimizer: str, name: str, value: Any, allowed: Callable[[float], bool], expected: str) -> float:
    """A hyper-parameter as a float: a number or a tensor of one element that `allowed` accepts."""
    if value is None:
        raise AssertedArgumentError(
            f"{optimizer}: {name} is not set. Got None, expected {expected}. Leave it out for the default."
        )
    if isinstance(value, str) or not hasattr(value, "__float__") or math.prod(getattr(value, "shape", ())) != 1:
        raise InvalidTypeError(
            f"{optimizer}: {name} must be a number. Got {short(value)} ({type(value).__name__}), expected {expected}. Pass a float."
        )
    found = float(value)
    if not allowed(found):
        raise ValueError(
            f"{optimizer}: Invalid value of {name}, expected {expected}. Got {name}={short(value)}. Leave it out for the default."
        )
    return found


def _checked_rate(rate: Any, optimizer: Optimizer) -> Any:
    if rate is None:
        raise AssertedArgumentError(
            f"{type(optimizer).__name__}: learning_rate is not set. Got None, expected a float or a scheduler. Write "
            f"learning_rate=0.001, say."
        )
    if not isinstance(rate, (float, LRScheduler)):
        raise TypeError(
            f"{type(optimizer).__name__}: learning rate should be float or LRScheduler. Got {short(rate)} ({type(rate).__name__}), "
            f"expected one of these. Write learning_rate=1.0 instead of 1, float(x) for a number of another kind."
        )
    return rate


def _checked_parameters(parameters: Any, optimizer: Optimizer) -> list[Any]:
    name = type(optimizer).__name__
    if parameters is None and building.builder is not None:
        return []  # those of the program that minimize() is called for
    if parameters is None:
        raise AttributeError(
            f"{name}: parameters argument given to the Optimizer should not be None. Got no parameters, expected those to "
            f"train. Write parameters=layer.parameters()."
        )
    if isinstance(parameters, Tensor):
        raise TypeError(
            f"{name}: `parameters` argument given to the optimizer should be an iterable of tensors. Got one "
            f"{type(parameters).__name__}, expected a list. Write parameters=[parameter]."
        )
    if callable(getattr(parameters, "parameters", None)):
        raise AttributeTypeError(
            f"{name}: a layer is not a list of parameters. Got {type(parameters).__name__}, expected its parameters. "
            f"Write parameters=layer.parameters()."
        )
    if callable(parameters) and getattr(parameters, "__name__", "") == "parameters":
        raise AttributeTypeError(
            f"{name}: parameters is a method. Got {parameters.__name__} itself, expected what it returns. "
            f"Write parameters=layer.parameters()."
        )
    if isinstance(parameters, dict):
        raise TypeError(
            f"{name}: `parameters` argument should not get dict type. Got a dict, expected a list of tensors, or a list of "
            f"dicts for parameter groups. Write parameters=[{{'params': ...}}]."
        )
    if not hasattr(type(parameters), "__iter__") and not hasattr(type(parameters), "__getitem__"):
        raise InvalidTypeError(
            f"{name}: parameters is not a list. Got {short(parameters)} ({type(parameters).__name__}), expected tensors. Write "
            f"parameters=layer.parameters()."
        )
    found = list(parameters)
    if not found:
        warn(
            f"{name}: parameters is empty, so step() would change nothing. Got no tensor, expected those to train. Layers in a "
            f"plain list or dict are not found: use LayerList or LayerDict."
        )
    if found and isinstance(found[0], dict):
        for one in found:
            if not isinstance(one, dict):
                raise AttributeTypeError(
                    f"{name}: parameter groups and parameters are mixed. Got {type(one).__name__} among dicts, expected dicts "
                    f"only. Put the parameter into a group: {{'params': [parameter]}}."
                )
    else:
        _check_tensors(found, name)
    return found


def _check_tensors(params: list[Any], name: str) -> None:
    for one in params:
        if not isinstance(one, Tensor):
            raise AttributeTypeError(
                f"{name}: this is not a parameter. Got {short(one)} ({type(one).__name__}) among the parameters, expected tensors. "
                f"Write parameters=layer.parameters()."
            )


def _checked_clip(clip: Any, optimizer: Optimizer) -> Any:
    if clip is not None and not isinstance(clip, ClipGradBase):
        raise TypeError(
            f"{type(optimizer).__name__}: 'grad_clip' should be an instance of GradientClipBase's derived class. Got {short(clip)} "
            f"({type(clip).__name__}), expected nn.ClipGradByValue, ClipGradByNorm or ClipGradByGlobalNorm. Write "
            f"grad_clip=nn.ClipGradByGlobalNorm(1.0), say."
        )
    return clip


def _as_regularizer(decay: Any, optimizer: Optimizer) -> WeightDecayRegularizer | None:
    if decay is None or isinstance(decay, WeightDecayRegularizer):
        return decay
    if isinstance(decay, (int, float)) or (isinstance(decay, Tensor) and decay.size == 1):
        return L2Decay(float(decay))
    raise TypeError(
        f"{type(optimizer).__name__}: weight_decay should be float or a regularizer. Got {short(decay)} ({type(decay).__name__}), "
        f"expected one of these, or None. Write weight_decay=1e-4, or regularizer.L1Decay(1e-4)."
    )


def _places(names: Iterable[str]) -> dict[str, tuple[str, int, str]]:
    """For names such as `linear_7.w_0`: the kind, which one of its kind it is among these, and the rest."""
    parts = {}
    for name in names:
        match = re.fullmatch(r"(.*?)_(\d+)((?:\..*)?)", name)
        parts[name] = (match[1], int(match[2]), match[3]) if match else (name, 0, "")
    ranks: dict[str, list[int]] = {}
    for kind, number_, _ in parts.values():
        ranks.setdefault(kind, []).append(number_)
    order = {kind: {n: i for i, n in enumerate(sorted(set(numbers)))} for kind, numbers in ranks.items()}
    return {name: (kind, order[kind][n], rest) for name, (kind, n, rest) in parts.items()}


def _names(state: dict[str, Any]) -> str:
    names = list(state)
    return ", ".join(names[:4]) + (f" and {len(names) - 4} more" if len(names) > 4 else "") if names else "no keys"


def _fitting(tensor: Tensor, value: Any, name: str) -> Tensor:
    """`value` as a Tensor that can be written into `tensor`."""
    if not isinstance(value, Tensor):
        value = to_tensor(value)
    if value.shape != tensor.shape and value.size != 1 or value.size != tensor.size:
        raise AssertedArgumentError(
            f"set_state_dict: the shape of {name} does not fit. Got {value.shape}, expected {tensor.shape}. Load the state of "
            f"an optimizer on the same model."
        )
    if value.dtype is not tensor.dtype:
        raise AssertedArgumentError(
            f"set_state_dict: the dtype of {name} does not fit. Got {value.dtype.name}, expected {tensor.dtype.name}. Cast it "
            f"with astype('{tensor.dtype.name}')."
        )
    return value if value.shape == tensor.shape else ops.reshape(value, shape=tuple(tensor.shape))


def _write(tensor: Tensor, value: Any, name: str) -> None:
    _put(tensor, _fitting(tensor, value, name))


def _put(tensor: Tensor, value: Tensor) -> None:
    """Copy values, which may be on the cpu after loading, into a tensor on its own device."""
    ops.copy.into((tensor,), _core.to_device(value, _core.device_of(tensor)))


explained(globals())
