"""Learning rate schedulers: `paddle.optimizer.lr`.

A scheduler counts calls of `step` (by convention one for each epoch; for those that warm up, one for
each batch) and computes the rate from the count. An optimizer that was given a scheduler asks it for
the rate before every update.
"""
from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any

from wherry_tensor import arguments
from wherry_tensor._core import Tensor
from wherry_tensor.constructor_arguments import (
    Check,
    as_constructed,
    check_arguments,
    epoch_number,
    flag,
    listed_numbers,
    number,
    numbers,
    text,
)
from wherry_tensor.errors import AssertedArgumentError, AssertedTypeError, InvalidArgumentError, short
from wherry_tensor.explained import explained

__all__ = [
    "CosineAnnealingDecay",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialDecay",
    "InverseTimeDecay",
    "LRScheduler",
    "LambdaDecay",
    "LinearLR",
    "LinearWarmup",
    "MultiStepDecay",
    "MultiplicativeDecay",
    "NaturalExpDecay",
    "NoamDecay",
    "OneCycleLR",
    "PiecewiseDecay",
    "PolynomialDecay",
    "ReduceOnPlateau",
    "StepDecay",
]


class LRScheduler:
    """The base of all schedulers. A subclass computes the rate in `get_lr`, from `self.last_epoch` and `self.base_lr`.

    Args:
        learning_rate: the rate to start from, not negative.
        last_epoch: the number of the last epoch that was trained, to go on from there; -1 starts anew.
        verbose: print the rate whenever it is computed.

    Raises:
        TypeError: `learning_rate` is not a number.
        ValueError: it is negative.

    Source:
        `paddle.optimizer.lr.LRScheduler`.

    Examples:
        >>> class Halving(wherry.optimizer.lr.LRScheduler):
        ...     def get_lr(self):
        ...         return self.base_lr * 0.5**self.last_epoch
        >>> scheduler = Halving(learning_rate=1.0)
        >>> scheduler.step()
        >>> scheduler()
        0.5
    """

    def __init__(self, learning_rate: float = 0.1, last_epoch: int = -1, verbose: bool = False) -> None:
        name = type(self).__name__
        if not isinstance(learning_rate, (int, float)):
            raise TypeError(
                f"{name}: the learning rate must be a number. Got {short(learning_rate)} ({type(learning_rate).__name__}), expected "
                f"a float. Write learning_rate=0.1, say."
            )
        if learning_rate < 0:
            raise ValueError(
                f"{name}: Invalid learning rate. Got {short(learning_rate)}, expected a number >= 0. A step along the gradient "
                f"makes the loss larger."
            )
        if not isinstance(last_epoch, (int, float)):
            raise TypeError(
                f"{name}: last_epoch is not a number. Got {short(last_epoch)} ({type(last_epoch).__name__}), expected an int. Leave it "
                f"out to start anew."
            )
        _check(self, {"last_epoch": last_epoch, "verbose": verbose})
        self.base_lr = float(learning_rate)
        self.last_lr = float(learning_rate)
        self.last_epoch = last_epoch
        self.verbose = verbose
        self.step()

    def __call__(self) -> float:
        """The rate in use."""
        return self.last_lr

    def __repr__(self) -> str:
        text = as_constructed(self, "learning_rate", "last_epoch", "verbose")[:-1]
        comma = "" if text.endswith("(") else ", "
        return f"{text}{comma}base_lr={self.base_lr:g}, last_lr={self.last_lr:g}, last_epoch={self.last_epoch})"

    def step(self, epoch: int | None = None) -> None:
        """Count one more epoch and compute its rate. Call it after the optimizer's `step`.

        Args:
            epoch: its number, to jump there; None means the next one.
        """
        if epoch is None:
            self.last_epoch += 1
            self.last_lr = self.get_lr()
        else:
            self.last_epoch = arguments.number(epoch, type(self).__name__, "epoch")
            self.last_lr = self._get_closed_form_lr()
        self._say()

    def _say(self) -> None:
        if self.verbose:
            print(f"Epoch {self.last_epoch}: {type(self).__name__} set learning rate to {self.last_lr}.")

    def _get_closed_form_lr(self) -> float:
        """The rate at `self.last_epoch` without a look at the rate before."""
        return self.get_lr()

    def get_lr(self) -> float:
        """The rate at `self.last_epoch`: what a subclass defines."""
        raise NotImplementedError(
            f"{type(self).__name__}: get_lr is not implemented. Got a scheduler without get_lr, expected one that "
            f"computes the rate from self.last_epoch. Use a subclass such as StepDecay, or define get_lr."
        )

    def state_keys(self) -> None:
        """Set `self.keys`, the attributes that are the scheduler's state. Subclasses with more of them redefine it.

        Source:
            `paddle.optimizer.lr.LRScheduler.state_keys`; Paddle 2.3 called it `_state_keys`.
        """
        self.keys = ["last_epoch", "last_lr"]

    def _state_keys(self) -> None:
        self.state_keys()

    def state_dict(self) -> dict[str, Any]:
        """The state, plain numbers by name, for `set_state_dict`.

        Examples:
            >>> wherry.optimizer.lr.StepDecay(0.5, step_size=2).state_dict()
            {'last_epoch': 0, 'last_lr': 0.5}
        """
        self._state_keys()
        state = {}
        for key in self.keys:
            if key in self.__dict__:
                value = self.__dict__[key]
                state[key] = value.item() if isinstance(value, Tensor) else value
        return state

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where `state_dict()` was taken.

        Raises:
            RuntimeError: something is missing.
            TypeError: `state_dict` is not a dict.

        Source:
            `paddle.optimizer.lr.LRScheduler.set_state_dict`, also called `set_dict`.
        """
        if not isinstance(state_dict, dict):
            raise TypeError(
                f"{type(self).__name__}: this is not a state. Got {type(state_dict).__name__}, expected a dict. Pass what "
                f"state_dict() returned."
            )
        self._state_keys()
        for key in self.keys:
            if key not in state_dict:
                raise RuntimeError(
                    f"{type(self).__name__}: Can't find [ {key} ] in state_dict. Got {', '.join(state_dict) or 'nothing'}, "
                    f"expected {', '.join(self.keys)}. Load the state of the same kind of scheduler."
                )
        for key in self.keys:
            self.__dict__[key] = state_dict[key]
        if len(state_dict) > len(self.keys):
            warnings.warn(
                f"There are some unused values in state_dict. {type(self).__name__} knows {', '.join(self.keys)}. Maybe it "
                f"is the state of another kind of scheduler.",
                stacklevel=2,
            )

    set_dict = set_state_dict


class NoamDecay(LRScheduler):
    """Rises linearly for `warmup_steps` steps, then falls with the square root: for Transformers.

        learning_rate * d_model**-0.5 * min(epoch**-0.5, epoch * warmup_steps**-1.5)

    Args:
        d_model: the width of the model, > 0.
        warmup_steps: how many steps the rate rises, > 0.
        learning_rate: a factor.
        last_epoch, verbose: as `LRScheduler`.

    Raises:
        ValueError: `d_model` or `warmup_steps` is not positive.

    Source:
        `paddle.optimizer.lr.NoamDecay`; Vaswani et al., "Attention is all you need" (2017).

    Examples:
        >>> scheduler = wherry.optimizer.lr.NoamDecay(d_model=64, warmup_steps=4)
        >>> rates = []
        >>> for _ in range(6):
        ...     scheduler.step()
        ...     rates.append(round(scheduler(), 4))
        >>> rates
        [0.0156, 0.0312, 0.0469, 0.0625, 0.0559, 0.051]
    """

    def __init__(
        self, d_model: int, warmup_steps: int, learning_rate: float = 1.0, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        _check(self, locals())
        _positive(d_model, "d_model", self)
        _positive(warmup_steps, "warmup_steps", self)
        self.d_model = d_model
        self.warmup_steps = warmup_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        a = 1 if self.last_epoch == 0 else self.last_epoch**-0.5
        b = self.warmup_steps**-1.5 * self.last_epoch
        return self.base_lr * (self.d_model**-0.5) * min(a, b)


class PiecewiseDecay(LRScheduler):
    """Piecewise constant: the next value begins at each boundary.

    Args:
        boundaries: the epochs at which the next value begins, increasing.
        values: one more than boundaries.
        last_epoch, verbose: as `LRScheduler`.

    Raises:
        ValueError: there are too few values.

    Source:
        `paddle.optimizer.lr.PiecewiseDecay`.

    Examples:
        >>> scheduler = wherry.optimizer.lr.PiecewiseDecay(boundaries=[1, 2], values=[1.0, 0.5, 0.25])
        >>> rates = []
        >>> for _ in range(3):
        ...     rates.append(scheduler())
        ...     scheduler.step()
        >>> rates
        [1.0, 0.5, 0.25]
    """

    def __init__(
        self, boundaries: Sequence[int], values: Sequence[float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        _check(self, locals())
        if not boundaries:
            raise ValueError(
                "PiecewiseDecay: The boundaries cannot be empty. Got none, expected one or more. A rate that never changes is "
                "a number: learning_rate=0.1."
            )
        if len(values) <= len(boundaries):
            raise ValueError(
                f"PiecewiseDecay: The values must have one more element than boundaries. Got {len(values)} values and "
                f"{len(boundaries)} boundaries, expected {len(boundaries) + 1} values. The last one holds from the last "
                f"boundary on."
            )
        self.boundaries = boundaries
        self.values = values
        super().__init__(last_epoch=last_epoch, verbose=verbose)

    def get_lr(self) -> float:
        for boundary, value in zip(self.boundaries, self.values, strict=False):
            if self.last_epoch < boundary:
                return value
        return self.values[-1]


class NaturalExpDecay(LRScheduler):
    """`learning_rate * exp(-gamma * epoch)`.

    Args:
        learning_rate: the rate at the beginning.
        gamma: how fast it falls, > 0.
        last_epoch, verbose: as `LRScheduler`.

    Raises:
        ValueError: `gamma` is not positive (also an AssertionError).

    Source:
        `paddle.optimizer.lr.NaturalExpDecay`.

    Examples:
        >>> scheduler = wherry.optimizer.lr.NaturalExpDecay(learning_rate=1.0, gamma=0.5)
        >>> scheduler.step()
        >>> round(scheduler(), 4)
        0.6065
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        _check(self, locals())
        if not gamma > 0.0:
            raise AssertedArgumentError(
                f"NaturalExpDecay: 'gamma' must be a positive number so that the learning rate will decay. Got gamma={short(gamma)}, "
                f"expected a number > 0. Write gamma=0.1, say."
            )
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * math.exp(-1 * self.gamma * self.last_epoch)


class InverseTimeDecay(LRScheduler):
    """`learning_rate / (1 + gamma * epoch)`.

    Args:
        learning_rate: the rate at the beginning.
        gamma: how fast it falls.
        last_epoch, verbose: as `LRScheduler`.

    Raises:
        TypeError: `learning_rate` or `gamma` is not a number.
        ValueError: `learning_rate` is negative; in `step`, `1 + gamma * epoch` is 0.

    Source:
        `paddle.optimizer.lr.InverseTimeDecay`.

    Examples:
        >>> scheduler = wherry.optimizer.lr.InverseTimeDecay(learning_rate=1.0, gamma=0.5)
        >>> scheduler.step()
        >>> scheduler.step()
        >>> scheduler()
        0.5
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        _check(self, locals())
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        divisor = 1 + self.gamma * self.last_epoch
        if not divisor:
            raise InvalidArgumentError(
                f"InverseTimeDecay: the rate has no value at epoch {self.last_epoch}, where 1 + gamma * epoch is 0. Got gamma={short(self.gamma)}, "
                f"expected a number >= 0. A rate that decays has a positive gamma."
            )
        return self.base_lr / divisor


class PolynomialDecay(LRScheduler):
    """Falls from `learning_rate` to `end_lr` in `decay_steps` steps, as a power of the fraction of steps that is left.

        (learning_rate - end_lr) * (1 - epoch / decay_steps)**power + end_lr

    Args:
        learning_rate: the rate at the beginning.
        decay_steps: how many steps it takes, > 0.
        end_lr: the rate at the end.
        power: 1 is a straight line.
        cycle: when the end is reached, jump up and fall again, over a longer time; else stay.
        last_epoch, verbose: as `LRScheduler`.

    Raises:
        ValueError: `decay_steps` is not a positive int, or `power` not positive (also an AssertionError).

    Source:
        `paddle.optimizer.lr.PolynomialDecay`.

    Examples:
        >>> scheduler = wherry.optimizer.lr.PolynomialDecay(learning_rate=1.0, decay_steps=4, end_lr=0.0)
        >>> rates = []
        >>> for _ in range(6):
        ...     rates.append(scheduler())
        ...     scheduler.step()
        >>> rates
        [1.0, 0.75, 0.5, 0.25, 0.0, 0.0]
    """

    def __init__(
        self,
        learning_rate: float,
        decay_steps: int,
        end_lr: float = 0.0001,
        power: float = 1.0,
        cycle: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        _check(self, locals())
        _positive_int(decay_steps, "decay_steps", self)
        if not power > 0.0:
            raise AssertedArgumentError(
                f"PolynomialDecay: 'power' must be greater than 0.0 so that the learning rate will decay. Got power={short(power)}, "
                f"expected a number > 0. Leave it out for a straight line."
            )
        self.decay_steps = decay_steps
        self.end_lr = end_lr
        self.power = power
        self.cycle = cycle
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        epoch, steps = self.last_epoch, self.decay_steps
        if self.cycle:
            steps = steps * (math.ceil(float(epoch) / float(steps)) if epoch else 1)
        else:
            epoch = min(epoch, steps)
        return (self.base_lr - self.end_lr) * ((1 - float(epoch) / float(steps)) ** self.power) + self.end_lr


class LinearWarmup(LRScheduler):
    """Rises linearly from `start_lr`, then follows another scheduler, or stays at a number.

    Args:
        learning_rate: the rate afterwards, or the scheduler that takes over. That one's first epoch is
            the first after the rise.
        warmup_steps: how many steps the rate rises, > 0.
        start_lr: the rate at the beginning.
        end_lr: the rate towards which it rises, more than `start_lr`.
        last_epoch, verbose: as `LRScheduler`.

    Raises:
        TypeError: `learning_rate` is neither a number nor a scheduler.
        ValueError: `warmup_steps` is not a positive int, or `end_lr` not greater than `start_lr` (also an AssertionError).

    Source:
        `paddle.optimizer.lr.LinearWarmup`.

    Examples:
        >>> after = wherry.optimizer.lr.StepDecay(0.5, step_size=2)
        >>> scheduler = wherry.optimizer.lr.LinearWarmup(after, warmup_steps=2, start_lr=0.0, end_lr=0.5)
        >>> rates = []
        >>> for _ in range(3):
        ...     rates.append(scheduler())
        ...     scheduler.step()
        >>> rates
        [0.0, 0.25, 0.5]
    """

    def __init__(
        self,
        learning_rate: float | LRScheduler,
        warmup_steps: int,
        start_lr: float,
        end_lr: float,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        _check(self, locals())
        if not isinstance(learning_rate, (int, float, LRScheduler)):
            raise TypeError(
                f"LinearWarmup: the type of learning_rate should be int, float or LRScheduler. Got {short(learning_rate)} "
                f"({type(learning_rate).__name__}), expected one of these. Write learning_rate=0.5, say."
            )
        _positive_int(warmup_steps, "warmup_steps", self)
        if not end_lr > start_lr:
            raise AssertedArgumentError(
                f"LinearWarmup: end_lr must be greater than start_lr. Got end_lr={short(end_lr)} and start_lr={short(start_lr)}, expected "
                f"a rate that rises. Exchange them."
            )
        self.learning_rate = learning_rate
        self.warmup_steps = warmup_steps
        self.start_lr = start_lr
        self.end_lr = end_lr
        super().__init__(start_lr, last_epoch, verbose)

    def state_dict(self) -> dict[str, Any]:
        """The state, with that of the scheduler that takes over as `LinearWarmup_LR`.

        Source:
            `paddle.optimizer.lr.LinearWarmup.state_dict`.
        """
        state = super().state_dict()
        if isinstance(self.learning_rate, LRScheduler):
            state["LinearWarmup_LR"] = self.learning_rate.state_dict()
        return state

    def set_state_dict(self, state_dict: dict[str, Any]) -> None:
        """Go on where `state_dict()` was taken. Errors as `LRScheduler.set_state_dict`.

        Source:
            `paddle.optimizer.lr.LinearWarmup.set_state_dict`.
        """
        own = state_dict
        if isinstance(state_dict, dict):
            own = {key: value for key, value in state_dict.items() if key != "LinearWarmup_LR"}
        super().set_state_dict(own)
        if isinstance(self.learning_rate, LRScheduler) and "LinearWarmup_LR" in state_dict:
            self.learning_rate.set_state_dict(state_dict["LinearWarmup_LR"])

    set_dict = set_state_dict

    def get_lr(self) -> float:
        if self.last_epoch < self.warmup_steps:
            return (self.end_lr - self.start_lr) * float(self.last_epoch) / float(self.warmup_steps) + self.start_lr
        if isinstance(self.learning_rate, LRScheduler):
            self.learning_rate.step(self.last_epoch - self.warmup_steps)
            return self.learning_rate()
        return float(self.learning_rate)


class ExponentialDecay(LRScheduler):
    """`learning_rate * gamma**epoch`.

    Args:
        learning_rate: the rate at the beginning.
        gamma: in (0, 1).
        last_epoch, verbose: as `LRScheduler`.

    Raises:
        ValueError: `gamma` is not in (0, 1) (also an AssertionError).

    Source:
        `paddle.optimizer.lr.ExponentialDecay`.

    Examples:
        >>> scheduler = wherry.optimizer.lr.ExponentialDecay(learning_rate=1.0, gamma=0.5)
        >>> scheduler.step()
        >>> scheduler.step()
        >>> scheduler()
        0.25
    """

    def __init__(self, learning_rate: float, gamma: float, last_epoch: int = -1, verbose: bool = False) -> None:
        _check(self, locals())
        if not 0.0 < gamma < 1.0:
            raise AssertedArgumentError(
                f"ExponentialDecay: 'gamma' must be in interval (0.0, 1.0) so that the learning rate will decay. Got "
                f"gamma={short(gamma)}, expected a number between. Write gamma=0.9, say."
            )
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * (self.gamma**self.last_epoch)


class MultiStepDecay(LRScheduler):
    """Multiplied by `gamma` at each milestone.

    Args:
        learning_rate: the rate at the beginning.
        milestones: epochs, rising.
        gamma: less than 1.
        last_epoch, verbose: as `LRScheduler`.

    Raises:
        TypeError: `milestones` is neither a list nor a tuple.
        ValueError: `milestones` do not increase; `gamma` is not less than 1.

    Source:
        `paddle.optimizer.lr.MultiStepDecay`.

    Examples:
        >>> scheduler = wherry.optimizer.lr.MultiStepDecay(1.0, milestones=[1, 3], gamma=0.5)
        >>> rates = []
        >>> for _ in range(4):
        ...     rates.append(scheduler())
        ...     scheduler.step()
        >>> rates
        [1.0, 0.5, 0.5, 0.25]
    """

    def __init__(
        self,
        learning_rate: float,
        milestones: Sequence[int],
        gamma: float = 0.1,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        _check(self, locals())
        if not isinstance(milestones, (tuple, list)):
            raise TypeError(
                f"MultiStepDecay: milestones is not a list. Got {short(milestones)} ({type(milestones).__name__}), expected a "
                f"list or tuple. Write milestones=[{milestones}]."
            )
        if not all(a < b for a, b in zip(milestones, milestones[1:], strict=False)):
            raise ValueError(
                f"MultiStepDecay: The elements of milestones must be incremented. Got {list(milestones)}, expected rising "
                f"numbers. Write milestones={sorted(set(milestones))}."
            )
        _below_one(gamma, self)
        self.milestones = milestones
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        for passed, milestone in enumerate(self.milestones):
            if self.last_epoch < milestone:
                return self.base_lr * (self.gamma**passed)
        return self.base_lr * (self.gamma ** len(self.milestones))


class StepDecay(LRScheduler):
    """Multiplied by `gamma` every `step_size` epochs.

    Args:
        learning_rate: the rate at the beginning.
        step_size: epochs between two changes, > 0.
        gamma: less than 1.
        last_epoch, verbose: as `LRScheduler`.

    Raises:
        TypeError: `step_size` is not an int.
        ValueError: `gamma` is not less than 1; `step_size` is not positive (also an AssertionError).

    Source:
        `paddle.optimizer.lr.StepDecay`.

    Examples:
        >>> scheduler = wherry.optimizer.lr.StepDecay(1.0, step_size=2, gamma=0.5)
        >>> rates = []
        >>> for _ in range(4):
        ...     rates.append(scheduler())
        ...     scheduler.step()
        >>> rates
        [1.0, 1.0, 0.5, 0.5]
    """

    def __init__(
        self, learning_rate: float, step_size: int, gamma: float = 0.1, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        _check(self, locals())
        _int(step_size, "step_size", self)
        _below_one(gamma, self)
        _positive_int(step_size, "step_size", self)
        self.step_size = step_size
        self.gamma = gamma
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * (self.gamma ** (self.last_epoch // self.step_size))


class LambdaDecay(LRScheduler):
    """`learning_rate * lr_lambda(epoch)`.

    Args:
        learning_rate: the rate at the beginning.
        lr_lambda: a function of the epoch.
        last_epoch, verbose: as `LRScheduler`.

    Raises:
        TypeError: `lr_lambda` cannot be called.

    Source:
        `paddle.optimizer.lr.LambdaDecay`.

    Examples:
        >>> scheduler = wherry.optimizer.lr.LambdaDecay(0.5, lr_lambda=lambda epoch: 0.5**epoch)
        >>> scheduler.step()
        >>> scheduler()
        0.25
    """

    def __init__(
        self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        _check(self, locals())
        _callable(lr_lambda, self)
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        return self.base_lr * self.lr_lambda(self.last_epoch)


class MultiplicativeDecay(LRScheduler):
    """Multiplied by `lr_lambda(epoch)` at every epoch.

    Args:
        learning_rate: the rate at the beginning.
        lr_lambda: a function of the epoch.
        last_epoch, verbose: as `LRScheduler`.

    Raises:
        TypeError: `lr_lambda` cannot be called.

    Source:
        `paddle.optimizer.lr.MultiplicativeDecay`.

    Examples:
        >>> scheduler = wherry.optimizer.lr.MultiplicativeDecay(1.0, lr_lambda=lambda epoch: 0.5)
        >>> scheduler.step()
        >>> scheduler.step()
        >>> scheduler()
        0.25
    """

    def __init__(
        self, learning_rate: float, lr_lambda: Callable[[int], float], last_epoch: int = -1, verbose: bool = False
    ) -> None:
        _check(self, locals())
        _callable(lr_lambda, self)
        if isinstance(last_epoch, (int, float)) and last_epoch > _MOST_PRODUCTS:
            raise InvalidArgumentError(
                f"MultiplicativeDecay: last_epoch is too large, as the rate is a product of all factors. Got "
                f"last_epoch={short(last_epoch)}, expected at most {_MOST_PRODUCTS}, which takes a second. Use LambdaDecay for a rate "
                f"that follows from the epoch alone."
            )
        self.lr_lambda = lr_lambda
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        rate = self.base_lr
        for epoch in range(1, int(self.last_epoch) + 1):
            rate *= self.lr_lambda(epoch)
        return rate


class ReduceOnPlateau(LRScheduler):
    """Multiplied by `factor` when a measure has not improved for more than `patience` epochs.

    Args:
        learning_rate: the rate at the beginning.
        mode: "min": smaller is better; "max": greater is.
        factor: less than 1.
        patience: how many epochs without improvement are accepted.
        threshold: an improvement by less does not count.
        threshold_mode: "rel": relative to the best measure; "abs": absolute.
        cooldown: for how many epochs after a change nothing is counted.
        min_lr: the smallest rate.
        epsilon: smaller changes of the rate are not made.
        verbose: print each change.

    Raises:
        TypeError: `learning_rate` is not a number.
        ValueError: `mode` or `threshold_mode` is unknown; `factor` is not less than 1.

    Source:
        `paddle.optimizer.lr.ReduceOnPlateau`.

    Examples:
        >>> scheduler = wherry.optimizer.lr.ReduceOnPlateau(1.0, factor=0.5, patience=1)
        >>> for loss in 3.0, 2.0, 2.0, 2.0:
        ...     scheduler.step(loss)
        >>> scheduler()
        0.5
    """

    def __init__(
        self,
        learning_rate: float,
        mode: str = "min",
        factor: float = 0.1,
        patience: int = 10,
        threshold: float = 1e-4,
        threshold_mode: str = "rel",
        cooldown: int = 0,
        min_lr: float = 0,
        epsilon: float = 1e-8,
        verbose: bool = False,
    ) -> None:
        _check(self, locals())
        mode, threshold_mode = (one.lower() if isinstance(one, str) else short(one) for one in (mode, threshold_mode))
        if mode not in ("min", "max"):
            raise ValueError(f"ReduceOnPlateau: mode: {mode} is unknown! Got {short(mode)}, expected 'min' or 'max'. Choose one.")
        _below_one(factor, self, "factor")
        if threshold_mode not in ("rel", "abs"):
            raise ValueError(
                f"ReduceOnPlateau: threshold mode: {threshold_mode} is unknown! Got {short(threshold_mode)}, expected 'rel' or "
                f"'abs'. Choose one."
            )
        if not isinstance(learning_rate, (int, float)):
            raise TypeError(
                f"ReduceOnPlateau: the learning rate must be a number. Got {short(learning_rate)} ({type(learning_rate).__name__}), "
                f"expected a float. Write learning_rate=0.1, say."
            )
        self.mode = mode
        self.factor = factor
        self.patience = patience
        self.threshold = threshold
        self.threshold_mode = threshold_mode
        self.cooldown = cooldown
        self.min_lr = min_lr
        self.epsilon = epsilon
        self.cooldown_counter = 0
        self.best: float | None = None
        self.num_bad_epochs = 0
        # Nothing to compute before there is a measure, so not through the base's __init__.
        self.base_lr = float(learning_rate)
        self.last_lr = float(learning_rate)
        self.last_epoch = 0
        self.verbose = verbose

    def state_keys(self) -> None:
        """Set `self.keys`: the counters and the best measure belong to the state.

        Source:
            `paddle.optimizer.lr.ReduceOnPlateau.state_keys`.
        """
        self.keys = ["cooldown_counter", "best", "num_bad_epochs", "last_epoch", "last_lr"]

    def step(self, metrics: Any, epoch: int | None = None) -> None:  # type: ignore[override]
        """Look at the measure of one more epoch.

        Args:
            metrics: a number, or an array or tensor of one element: the loss, say.
            epoch: its number, to jump there; None means the next one.

        Raises:
            TypeError: `metrics` is not a number, an array or a tensor.
            ValueError: it has more than one element (also an AssertionError).

        Source:
            `paddle.optimizer.lr.ReduceOnPlateau.step`.
        """
        value = _measure(metrics)
        self.last_epoch = self.last_epoch + 1 if epoch is None else epoch
        if self.cooldown_counter > 0:
            self.cooldown_counter -= 1
            return
        if self.best is None or self._is_better(value, self.best):
            self.best = value
            self.num_bad_epochs = 0
        else:
            self.num_bad_epochs += 1
        if self.num_bad_epochs > self.patience:
            self.cooldown_counter = self.cooldown
            self.num_bad_epochs = 0
            rate = max(self.last_lr * self.factor, self.min_lr)
            if self.last_lr - rate > self.epsilon:
                self.last_lr = rate
                self._say()

    def _is_better(self, value: float, best: float) -> bool:
        best = float(best)  # a file may bring an array
        margin = best * self.threshold if self.threshold_mode == "rel" else self.threshold
        return value < best - margin if self.mode == "min" else value > best + margin


class CosineAnnealingDecay(LRScheduler):
    """Falls from `learning_rate` to `eta_min` along half a cosine in `T_max` epochs, and rises again.

        eta_min + (learning_rate - eta_min) * (1 + cos(pi * epoch / T_max)) / 2

    computed from the rate before, so that other changes of the rate last; `step(epoch)` computes it directly.

    Args:
        learning_rate: the rate at the beginning.
        T_max: half a period, in epochs, > 0.
        eta_min: the smallest rate.
        last_epoch, verbose: as `LRScheduler`.

    Raises:
        TypeError: `T_max` is not an int, or `eta_min` is not a number.
        ValueError: `T_max` is not positive (also an AssertionError).

    Source:
        `paddle.optimizer.lr.CosineAnnealingDecay`; Loshchilov & Hutter, "SGDR" (2017), without restarts.

    Examples:
        >>> scheduler = wherry.optimizer.lr.CosineAnnealingDecay(learning_rate=1.0, T_max=2)
        >>> rates = []
        >>> for _ in range(3):
        ...     rates.append(round(scheduler(), 6))
        ...     scheduler.step()
        >>> rates
        [1.0, 0.5, 0.0]
    """

    def __init__(
        self, learning_rate: float, T_max: int, eta_min: float = 0, last_epoch: int = -1, verbose: bool = False
    ) -> None:
        _check(self, locals())
        _int(T_max, "T_max", self)
        _number(eta_min, "eta_min", self)
        _positive_int(T_max, "T_max", self)
        self.T_max = T_max
        self.eta_min = float(eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        if self.last_epoch == 0:
            return self.base_lr
        if (self.last_epoch - 1 - self.T_max) % (2 * self.T_max) == 0:
            # The rate before is eta_min, and nothing can be scaled up from there.
            return self.last_lr + (self.base_lr - self.eta_min) * (1 - math.cos(math.pi / self.T_max)) / 2
        before = 1 + math.cos(math.pi * (self.last_epoch - 1) / self.T_max)
        if before == 0.0:  # also near eta_min, by rounding, where T_max or the epoch has nine digits or more
            return self._get_closed_form_lr()
        return (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / before * (self.last_lr - self.eta_min) + self.eta_min

    def _get_closed_form_lr(self) -> float:
        return (
            self.eta_min + (self.base_lr - self.eta_min) * (1 + math.cos(math.pi * self.last_epoch / self.T_max)) / 2
        )


class CosineAnnealingWarmRestarts(LRScheduler):
    """Falls along half a cosine, jumps back to `learning_rate` and falls again, each time over `T_mult` times as many epochs.

    Args:
        learning_rate: the rate after each restart.
        T_0: epochs until the first restart, > 0.
        T_mult: >= 1.
        eta_min: the smallest rate.
        last_epoch, verbose: as `LRScheduler`.

    Raises:
        ValueError: `T_0` or `T_mult` is not an int, or too small; a negative epoch.

    Source:
        `paddle.optimizer.lr.CosineAnnealingWarmRestarts`, which after `set_state_dict` goes on as if it
        had just restarted; here the rates of a resumed training are those of one that was never stopped.
        Loshchilov & Hutter, "SGDR: stochastic gradient descent with warm restarts" (2017).

    Examples:
        >>> scheduler = wherry.optimizer.lr.CosineAnnealingWarmRestarts(learning_rate=1.0, T_0=2)
        >>> rates = []
        >>> for _ in range(4):
        ...     rates.append(round(scheduler(), 6))
        ...     scheduler.step()
        >>> rates
        [1.0, 0.5, 1.0, 0.5]
    """

    def __init__(
        self,
        learning_rate: float,
        T_0: int,
        T_mult: int = 1,
        eta_min: float = 0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        _check(self, locals())
        for name, value, least in ("T_0", T_0, 1), ("T_mult", T_mult, 1):
            if not isinstance(value, int) or value < least:
                raise ValueError(
                    f"CosineAnnealingWarmRestarts: {name} is not a number of epochs. Got {name}={short(value)}, expected an int >= {least}. "
                    f"Round it."
                )
        _number(eta_min, "eta_min", self)
        self.T_0 = T_0
        self.T_mult = T_mult
        self.eta_min = float(eta_min)
        super().__init__(learning_rate, last_epoch, verbose)

    def step(self, epoch: float | None = None) -> None:
        """Count one more epoch, or jump to `epoch`, which may be a fraction: `epoch + batch / batches`."""
        if epoch is not None and arguments.number(epoch, "CosineAnnealingWarmRestarts", "epoch") < 0:
            raise ValueError(
                f"CosineAnnealingWarmRestarts: Expected non-negative epoch. Got epoch={short(epoch)}, expected a number >= 0. "
                f"Epochs count from 0."
            )
        now = self.last_epoch + 1 if epoch is None else epoch
        self.last_lr = self._rate_at(now)
        self.last_epoch = math.floor(now)
        self._say()

    def get_lr(self) -> float:
        return self._rate_at(self.last_epoch)

    def _rate_at(self, now: float) -> float:
        period = self.T_0
        if self.T_mult == 1:
            now %= period
        else:
            while now >= period:
                now -= period
                period *= self.T_mult
        return self.eta_min + (self.base_lr - self.eta_min) * (1 + math.cos(math.pi * now / period)) / 2


class LinearLR(LRScheduler):
    """The factor of the rate changes linearly from `start_factor` to `end_factor` in `total_steps` steps.

    Args:
        learning_rate: the rate that the factors multiply.
        total_steps: > 0.
        start_factor: in (0, 1].
        end_factor: in [0, 1].
        last_epoch, verbose: as `LRScheduler`.

    Raises:
        ValueError: one of these is out of its range.

    Source:
        `paddle.optimizer.lr.LinearLR`.

    Examples:
        >>> scheduler = wherry.optimizer.lr.LinearLR(learning_rate=1.0, total_steps=2, start_factor=0.5)
        >>> rates = []
        >>> for _ in range(3):
        ...     rates.append(scheduler())
        ...     scheduler.step()
        >>> rates
        [0.5, 0.75, 1.0]
    """

    def __init__(
        self,
        learning_rate: float,
        total_steps: int,
        start_factor: float = 1.0 / 3,
        end_factor: float = 1.0,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        _check(self, locals())
        if not 0 < start_factor <= 1.0:
            raise ValueError(
                f"LinearLR: `start_factor` must be greater than 0 and less or equal to 1. Got {short(start_factor)}, expected a "
                f"number in (0, 1]. Start from a small number instead of 0."
            )
        if not 0 <= end_factor <= 1.0:
            raise ValueError(
                f"LinearLR: `end_factor` must be between 0 and 1. Got {short(end_factor)}, expected a number in [0, 1]. Raise "
                f"learning_rate instead."
            )
        if total_steps <= 0:
            raise ValueError(f"LinearLR: `total_steps` must be greater than 0. Got {short(total_steps)}, expected more. Count steps.")
        self.start_factor = start_factor
        self.end_factor = end_factor
        self.total_steps = total_steps
        super().__init__(learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        if self.last_epoch == 0:
            return self.base_lr * self.start_factor
        if self.last_epoch > self.total_steps:
            return self.last_lr
        slope = self.end_factor - self.start_factor
        return self.last_lr * (1.0 + slope / (self.total_steps * self.start_factor + (self.last_epoch - 1) * slope))


class OneCycleLR(LRScheduler):
    """Rises from `max_learning_rate / divide_factor` to `max_learning_rate`, then falls to `end_learning_rate`.

    Args:
        max_learning_rate: the largest rate.
        total_steps: the number of training steps; one `step()` for each batch.
        divide_factor: how much smaller the first rate is than the largest.
        end_learning_rate: the last rate.
        phase_pct: the part of the steps in which the rate rises, in [0, 1].
        anneal_strategy: "cos" or "linear": the shape of rise and fall.
        three_phase: fall to the first rate in as many steps as it rose, and only then to the last one;
            `phase_pct` must then be less than 0.5.
        last_epoch, verbose: as `LRScheduler`.

    Raises:
        TypeError, ValueError: an argument has the wrong type or is out of range; more than `total_steps` steps.

    Source:
        `paddle.optimizer.lr.OneCycleLR`; Smith & Topin, "Super-convergence" (2018).

    Examples:
        >>> scheduler = wherry.optimizer.lr.OneCycleLR(max_learning_rate=1.0, total_steps=5, divide_factor=4.0, end_learning_rate=0.0,
        ...                                            phase_pct=0.5)
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(round(scheduler(), 4))
        ...     scheduler.step()
        >>> rates
        [0.25, 0.8125, 0.9045, 0.3455, 0.0]
    """

    def __init__(
        self,
        max_learning_rate: float,
        total_steps: int,
        divide_factor: float = 25.0,
        end_learning_rate: float = 0.0001,
        phase_pct: float = 0.3,
        anneal_strategy: str = "cos",
        three_phase: bool = False,
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        _check(self, locals())
        for name, value in (
            ("max_learning_rate", max_learning_rate), ("divide_factor", divide_factor),
            ("end_learning_rate", end_learning_rate), ("phase_pct", phase_pct),
        ):
            _number(value, name, self)
        _positive(divide_factor, "divide_factor", self)
        _not_negative(max_learning_rate, "max_learning_rate", self)
        _not_negative(end_learning_rate, "end_learning_rate", self)
        _int(total_steps, "total_steps", self)
        if total_steps <= 0:
            raise ValueError(
                f"OneCycleLR: 'total_steps' must be a positive integer. Got {short(total_steps)}, expected more. Count the batches."
            )
        if not 0 <= phase_pct <= 1:
            raise ValueError(
                f"OneCycleLR: 'phase_pct' must be between 0 and 1. Got {short(phase_pct)}, expected a part of the whole. Divide "
                f"percent by 100."
            )
        if three_phase and phase_pct >= 0.5:
            raise ValueError(
                f"OneCycleLR: When three_phase is True, 'phase_pct' must be less than 0.5. Got {short(phase_pct)}, expected less. "
                f"Rise and fall take that part each."
            )
        if anneal_strategy not in ("cos", "linear"):
            raise ValueError(
                f"OneCycleLR: 'anneal_strategy' must by one of 'cos' or 'linear'. Got {short(anneal_strategy)}, expected one of these. "
                f"Leave it out for 'cos'."
            )
        first = max_learning_rate / float(divide_factor)
        self.total_steps = total_steps
        if three_phase:
            self._ends = [0, phase_pct * total_steps - 1, 2 * phase_pct * total_steps - 2, total_steps - 1]
            self._rates = [first, max_learning_rate, first, end_learning_rate]
        else:
            self._ends = [0, phase_pct * total_steps - 1, total_steps - 1]
            self._rates = [first, max_learning_rate, end_learning_rate]
        self._anneal = _cosine if anneal_strategy == "cos" else _straight
        super().__init__(first, last_epoch, verbose)

    def get_lr(self) -> float:
        now = self.last_epoch
        if now > self.total_steps:
            raise ValueError(
                f"OneCycleLR: Tried to step {now} times. However the number of total steps is {self.total_steps}. Got one step "
                f"more than planned, expected at most {self.total_steps}. Give the scheduler the number of all batches."
            )
        for i in range(1, len(self._ends)):
            if now <= self._ends[i] or i == len(self._ends) - 1:
                length = self._ends[i] - self._ends[i - 1]
                done = (now - self._ends[i - 1]) / length if length else 1.0  # a rise of one step is at its end
                return self._anneal(self._rates[i - 1], self._rates[i], done)
        raise AssertionError("the last phase has no end")


class CyclicLR(LRScheduler):
    """Rises from `base_learning_rate` to `max_learning_rate` and falls back, linearly, in cycles.

    Args:
        base_learning_rate: the smallest rate.
        max_learning_rate: the largest rate.
        step_size_up: steps of a rise, > 0.
        step_size_down: steps of a fall; None: as many as of a rise.
        mode: "triangular": all cycles have the same height; "triangular2": each has half the height;
            "exp_range": scaled by `exp_gamma` to the power of the step.
        exp_gamma: for "exp_range".
        scale_fn: a function that gives the height of a cycle, in place of `mode`.
        scale_mode: what `scale_fn` is called with: the number of the "cycle", from 1, or of "iterations".
        last_epoch, verbose: as `LRScheduler`.

    Raises:
        TypeError, ValueError: an argument has the wrong type or is out of range.

    Source:
        `paddle.optimizer.lr.CyclicLR`; Smith, "Cyclical learning rates for training neural networks" (2017).

    Examples:
        >>> scheduler = wherry.optimizer.lr.CyclicLR(base_learning_rate=0.5, max_learning_rate=1.0, step_size_up=2)
        >>> rates = []
        >>> for _ in range(5):
        ...     rates.append(scheduler())
        ...     scheduler.step()
        >>> rates
        [0.5, 0.75, 1.0, 0.75, 0.5]
    """

    def __init__(
        self,
        base_learning_rate: float,
        max_learning_rate: float,
        step_size_up: int,
        step_size_down: int | None = None,
        mode: str = "triangular",
        exp_gamma: float = 1.0,
        scale_fn: Callable[[float], float] | None = None,
        scale_mode: str = "cycle",
        last_epoch: int = -1,
        verbose: bool = False,
    ) -> None:
        _check(self, locals())
        _number(base_learning_rate, "base_learning_rate", self)
        _number(max_learning_rate, "max_learning_rate", self)
        _not_negative(max_learning_rate, "max_learning_rate", self)
        step_size_down = step_size_up if step_size_down is None else step_size_down
        for name, value in ("step_size_up", step_size_up), ("step_size_down", step_size_down):
            _int(value, name, self)
            if value <= 0:
                raise ValueError(f"CyclicLR: '{name}' must be a positive integer. Got {short(value)}, expected more. Count steps.")
        modes: dict[str, tuple[Callable[[float], float], str]] = {
            "triangular": (lambda x: 1.0, "cycle"),
            "triangular2": (lambda x: 1 / (2.0 ** (x - 1)), "cycle"),
            "exp_range": (lambda x: exp_gamma**x, "iterations"),
        }
        if mode not in modes and scale_fn is None:
            raise ValueError(
                f"CyclicLR: 'mode' is invalid and 'scale_fn' is not specified. Got mode={short(mode)}, expected one of "
                f"{', '.join(modes)}, or a scale_fn. Leave mode out for 'triangular'."
            )
        if scale_mode not in ("cycle", "iterations"):
            raise ValueError(
                f"CyclicLR: 'scale_mode' must be one of 'cycle' or 'iterations'. Got {short(scale_mode)}, expected one of these. "
                f"Leave it out for 'cycle'."
            )
        if scale_fn is not None:
            _callable(scale_fn, self, "scale_fn")
        self.cycle_size = float(step_size_up + step_size_down)
        self.step_up_pct = step_size_up / self.cycle_size
        self.max_lr = float(max_learning_rate)
        self.amplitude = self.max_lr - base_learning_rate
        self.scale_fn, self.scale_mode = (scale_fn, scale_mode) if scale_fn is not None else modes[mode]
        super().__init__(base_learning_rate, last_epoch, verbose)

    def get_lr(self) -> float:
        now = self.last_epoch
        cycle = 1 + now // self.cycle_size
        place = 1.0 + now / self.cycle_size - cycle
        up = self.step_up_pct
        height = self.amplitude * (place / up if place <= up else (1 - place) / (1 - up))
        return self.base_lr + height * self.scale_fn(cycle if self.scale_mode == "cycle" else now)


def _cosine(start: float, end: float, done: float) -> float:
    return end + (start - end) / 2.0 * (math.cos(math.pi * done) + 1)


def _straight(start: float, end: float, done: float) -> float:
    return (end - start) * done + start


def _measure(metrics: Any) -> float:
    size = getattr(metrics, "size", 1)
    if isinstance(metrics, str) or not (isinstance(metrics, (int, float, Tensor)) or hasattr(metrics, "dtype")):
        raise TypeError(
            f"ReduceOnPlateau: metrics must be a number, an array or a Tensor. Got {short(metrics)} ({type(metrics).__name__}), "
            f"expected one of these. Pass the loss of the epoch."
        )
    if size != 1:
        raise AssertedArgumentError(
            f"ReduceOnPlateau: the size of metrics must be 1. Got {size} elements, expected one number. Maybe that you should "
            f"call paddle.mean to process it first."
        )
    return float(metrics.item() if hasattr(metrics, "item") else metrics)


def _int(value: Any, name: str, scheduler: Any) -> None:
    if not isinstance(value, int):
        raise TypeError(
            f"{type(scheduler).__name__}: '{name}' must be an int. Got {short(value)} ({type(value).__name__}), expected a whole "
            f"number. Write {name}=10, say."
        )


_MOST_PRODUCTS = 10_000_000
_KINDS: dict[str, Check] = {
    **dict.fromkeys(
        ("gamma", "power", "end_lr", "start_lr", "d_model", "warmup_steps", "factor", "patience", "threshold", "cooldown", "min_lr", "epsilon",
         "start_factor", "end_factor", "total_steps", "exp_gamma", "divide_factor", "end_learning_rate", "phase_pct"), number
    ),
    **dict.fromkeys(("boundaries", "values"), numbers),
    "milestones": listed_numbers,
    **dict.fromkeys(("verbose", "cycle", "three_phase"), flag),
    **dict.fromkeys(("anneal_strategy", "mode", "scale_mode"), text),
    "last_epoch": epoch_number,
}


def _check(scheduler: Any, given: dict[str, Any]) -> None:
    """Refuse arguments of another kind before anything computes with them."""
    check_arguments(type(scheduler).__name__, given, **_KINDS)


def _number(value: Any, name: str, scheduler: Any) -> None:
    if not isinstance(value, (int, float)):
        raise TypeError(
            f"{type(scheduler).__name__}: '{name}' must be 'float' or 'int'. Got {short(value)} ({type(value).__name__}), expected a "
            f"number. Write {name}=0.1, say."
        )


def _positive_int(value: Any, name: str, scheduler: Any) -> None:
    if not isinstance(value, int) or value <= 0:
        kind = AssertedArgumentError if isinstance(value, int) else AssertedTypeError
        raise kind(
            f"{type(scheduler).__name__}: '{name}' must be a positive integer. Got {short(value)}, expected an int > 0. Count steps."
        )


def _positive(value: Any, name: str, scheduler: Any) -> None:
    if not value > 0:
        raise ValueError(
            f"{type(scheduler).__name__}: {name} should be greater than 0. Got {short(value)}, expected a number > 0. The rate has "
            f"no value otherwise."
        )


def _not_negative(value: float, name: str, scheduler: Any) -> None:
    if value < 0:
        raise ValueError(
            f"{type(scheduler).__name__}: '{name}' must not be negative. Got {short(value)}, expected a number >= 0. A step along "
            f"the gradient makes the loss larger."
        )


def _below_one(value: float, scheduler: Any, name: str = "gamma") -> None:
    if value >= 1.0:
        raise ValueError(
            f"{type(scheduler).__name__}: {name} should be < 1.0. Got {short(value)}, expected less, since the new rate is the old one "
            f"times {name}. Write {name}=0.1, say."
        )


def _callable(function: Any, scheduler: Any, name: str = "lr_lambda") -> None:
    if not callable(function):
        raise TypeError(
            f"{type(scheduler).__name__}: '{name}' must be a function. Got {short(function)} ({type(function).__name__}), expected "
            f"something to call with a number. Write {name}=lambda epoch: 0.9**epoch, say."
        )


explained(globals())
