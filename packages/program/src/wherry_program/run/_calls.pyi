from collections.abc import Callable, Sequence
from typing import Any

from wherry_nn import Layer
from wherry_tensor._core import Tensor

class Guard:
    def __init__(self, args: tuple[Any, ...], modes: Sequence[tuple[Layer, bool]], stops: Sequence[tuple[Tensor, bool]]) -> None: ...
    @staticmethod
    def knows(args: tuple[Any, ...]) -> bool: ...
    def tensors(self, args: tuple[Any, ...]) -> list[Tensor] | None: ...

class Trained:
    forward: Any
    backward: Any
    def __init__(
        self, forward: Any, backward: Any, n_results: int, targets: list[int], from_call: list[int], from_bound: list[Tensor],
        watched: list[Tensor], handed: list[tuple[int | None, int | None, Tensor | None]], again: Callable[..., list[Tensor]],
    ) -> None: ...
    def __call__(self, tensors: list[Tensor]) -> list[Any]: ...
