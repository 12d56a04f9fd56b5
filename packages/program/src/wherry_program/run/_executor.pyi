from collections.abc import Callable, Sequence
from typing import Any

from wherry_tensor._core import DType, Op, Tensor

class Arenas: ...

class Fused:
    made: Any
    name: str
    kernel_flags: int
    op: Any
    random: bool
    def __init__(self, made: Any) -> None: ...
    @staticmethod
    def uses_shape_only(index: int) -> bool: ...

class Planned:
    device: int
    graphs: list[Any]
    captures: int
    launches: int
    numbers: tuple[tuple[int, int], ...]
    generation: int
    interpreted: bool
    arena_bytes: int
    n_kernels: int
    def __init__(
        self, externals: Sequence[Any], constants: list[Tensor], results: Sequence[Any], slots: Sequence[Any], steps: Sequence[Any],
        outputs: Sequence[Any], arena: int, arenas: Arenas, numbers: tuple[tuple[int, int], ...], interpreted: bool = False,
        tiles: Sequence[Any] = (), device: int = 0,
    ) -> None: ...

class Segment:
    plans: list[Planned]
    replanned: int
    written: tuple[int, ...]
    def __init__(self, make: Callable[[list[Tensor], int], Planned], n_inputs: int, bound: list[Tensor]) -> None: ...
    def run(self, inputs: list[Tensor]) -> list[Tensor] | None: ...

def viewed(
    op: Op, shape: Sequence[int], strides: Sequence[int], dtype: DType, others: Sequence[tuple[Sequence[int], DType] | None], attrs: tuple[Any, ...],
) -> tuple[tuple[int, ...], tuple[int, ...], int, DType] | None: ...
def facts_of(plan: Any) -> tuple[int, bool, bool]: ...
