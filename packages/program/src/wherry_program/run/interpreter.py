"""The interpreter: runs a program op by op. It defines the result with which faster ways of running are compared.

It needs nothing but the dispatcher, works on every device, and records gradients when they are on. `executor.compiled` is what
runs programs; it takes the same arguments.
"""
from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

from wherry_program.program.ir import Block, Node, Program, Variable
from wherry_program.program.needs import required_nodes
from wherry_program.program.node_rules import RUN
from wherry_tensor._core import Tensor
from wherry_tensor.sizes import resolved

__all__ = ["Interpreter"]


class Interpreter:
    """A program that can be called.

    Args:
        program: the program.
        feeds: the variables that a call gives values to, in order; None takes `program.feeds`.
        fetches: the variables whose values a call returns, in order; None takes `program.fetches`.
        lookup: gives the tensor of a variable that is neither fed nor made nor bound (from a scope); None: there is none.
        prune: leave out the nodes that nothing needs: neither a fetch, nor what lasts beyond the run.
    """

    def __init__(
        self, program: Program, feeds: Sequence[Variable] | None = None, fetches: Sequence[Variable] | None = None, *,
        lookup: Callable[[Variable], Tensor | None] | None = None, prune: bool = False,
    ) -> None:
        self.program = program
        self.feeds = list(program.feeds if feeds is None else feeds)
        self.fetches = list(program.fetches if fetches is None else fetches)
        self.lookup = lookup
        block = program.blocks[0]
        self.nodes = required_nodes(block, self.fetches) if prune else block.nodes
        self._last_uses: dict[int, dict[int, list[int]]] = {}  # of a block, by its id: number of a node -> variables to forget after it

    def __call__(self, *values: Tensor) -> list[Any]:
        """Run it.

        Args:
            values: one for each feed.

        Returns:
            The value of each fetch: a Tensor, or a list of them for an array.

        Raises:
            ValueError: the number of values is not that of the feeds, or a variable has no value.
        """
        if len(values) != len(self.feeds):
            raise ValueError(
                f"program: got {len(values)} values, expected {len(self.feeds)}, one for each of {[x.name for x in self.feeds]}."
            )
        env: dict[int, Any] = {id(x): value for x, value in zip(self.feeds, values)}
        self.run_nodes(self.nodes, env, {id(x) for x in self.fetches})
        return [self.value_of(x, env) for x in self.fetches]

    def value_of(self, x: Variable, env: dict[int, Any]) -> Any:
        """The value of a variable at this point of a run."""
        found = env.get(id(x))
        if found is not None:
            return found
        found = x.bound
        if found is None and self.lookup is not None:
            found = self.lookup(x)
        if found is None:
            raise ValueError(
                f"program: variable '{x.name}' of shape {x.shape} has no value. Got nothing fed, computed or stored under this name, expected "
                f"one. {'Feed it.' if x.is_data else 'Run the startup program first, or load the parameters.'}"
            )
        return found

    def run_nodes(self, nodes: list[Node], env: dict[int, Any], keep: set[int]) -> None:
        """Run nodes of one block; values that are no longer used are dropped, except `keep`."""
        last = self._last_uses.get(id(nodes))
        if last is None:
            last = self._last_uses[id(nodes)] = _last_uses(nodes)
        for i, node in enumerate(nodes):
            self.run_node(node, env)
            for at in last.get(i, ()):
                if at not in keep:
                    env.pop(at, None)

    def run_node(self, node: Node, env: dict[int, Any]) -> None:
        """Run one node and put its outputs into `env`."""
        if node.is_control:
            RUN[node.op.name](self, node, env)
            return

        def find(x: Any) -> Any:
            return self.value_of(x, env)

        inputs = tuple(None if x is None else find(x) for x in node.inputs)
        attrs = resolved(node.attrs, find)
        if node.in_place:
            outs = tuple(find(x) for x in node.outputs)
            node.op.into(outs, *inputs, **dict(zip(node.op.attr_names, attrs, strict=True)))
            return
        results = node.op.apply(inputs, attrs)
        for x, result in zip(node.outputs, results if isinstance(results, tuple) else (results,), strict=True):
            env[id(x)] = result

    def run_block(self, block: Block, env: dict[int, Any], values: Iterable[Any] = ()) -> list[Any]:
        """Run an inner block with values for its inputs; returns its outputs. `env` is left as it was."""
        inner = dict(env)
        inner.update((id(x), value) for x, value in zip(block.inputs, values, strict=True))
        self.run_nodes(block.nodes, inner, {id(x) for x in block.outputs} | set(env))
        return [self.value_of(x, inner) for x in block.outputs]


def _last_uses(nodes: list[Node]) -> dict[int, list[int]]:
    last: dict[int, int] = {}
    for i, node in enumerate(nodes):
        for x in (*node.reads(), *node.outputs):
            last[id(x)] = i
    # Views share memory through the tensors themselves, so forgetting a base does no harm.
    out: dict[int, list[int]] = {}
    for at, i in last.items():
        out.setdefault(i, []).append(at)
    return out
