"""Pipelines of static mode: a program whose sections, named by `device_guard`, are computed by processes of their own.

Each process takes the nodes of its section out of the program, together with the gradients of what the next sections take from it, and puts
one node in their place. When the program runs, that node cuts the feeds into small batches and computes them forwards and backwards in the
order of `pipeline.schedule`, handing values and cotangents on to the processes of other sections; it gives the mean of the losses, and the
mean gradients of the parameters of its section, which the optimizer goes on with.
"""
from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any

from wherry_autograd import no_grad
from wherry_distributed.collective import all_reduce, broadcast_object_list
from wherry_distributed.messages import Messages
from wherry_distributed.model_parallel import reduced
from wherry_distributed.pipeline.schedule import all_forward_then_backward, one_forward_one_backward
from wherry_distributed.topology import HybridCommunicateGroup
from wherry_distributed.world import Group, new_group
from wherry_nn import unique_name
from wherry_program.program.backward import gradients
from wherry_program.program.control.recording import floats, recording_of, rules
from wherry_program.program.ir import Block, ControlOp, Node, Program, Variable
from wherry_program.program.replay import replayed
from wherry_tensor import Tensor, concat, ops, to_tensor, zeros
from wherry_tensor.errors import InvalidArgumentError
from wherry_tensor.static_builder import building

PIPELINE = ControlOp("pipeline", ("plan",), ("io",))


@dataclass
class Plan:
    """What a process does when its section runs.

    Attributes:
        group: the processes of all sections, in their order; this one is `stage`.
        micros: small batches of a run.
        all_forward_first: the schedule "F-then-B", which keeps everything, in place of 1F1B.
        sources: for each earlier section: how many values come from there, and which of them get a cotangent back.
        targets: for each later section: which of this one's values go there (by their place in `leaving`), and which of those get a cotangent.
        leaving, kept: how many values leave the forward block for others, and for the backward block.
        differentiated: of the values that leave, those that the backward block takes a cotangent of; at the end the loss, in the last section.
        entering: of the values that come in, those that the backward block gives a cotangent of; None where nothing depends on them.
        made: other variables that a run may be asked for: the section that makes each, and in that section the variable of the forward block.
    """

    group: Group
    stage: int
    micros: int
    all_forward_first: bool
    sources: dict[int, list[bool]]
    targets: dict[int, list[tuple[int, bool]]]
    leaving: int
    differentiated: list[int]
    entering: list[bool]
    made: list[tuple[int, Variable | None]]

    @property
    def last(self) -> bool:
        """Is the loss computed here?"""
        return self.stage == self.group.nranks - 1


def sections_of(program: Program) -> list[int]:
    """The section of each node of the first block: that of its guard, or the latest of those that it reads from.

    Raises:
        ValueError: a section reads from one after it.
    """
    made: dict[int, int] = {}
    found = []
    for node in program.nodes:
        reads = [(made[id(x)], x) for x in node.reads() if id(x) in made]
        latest, source = max(reads, key=lambda pair: pair[0]) if reads else (0, None)
        _, _, number = node.device.partition(":")
        at = int(number) if number.isdigit() else latest
        if at < latest:
            raise InvalidArgumentError(
                f"device_guard: sections of a pipeline follow one another. Got {node.type} ({node.line}) of section {at}, which reads "
                f"'{source.name if source is not None else ''}' of section {latest}, expected sections that read from those before. Move the layer."
            )
        found.append(at)
        made.update((id(x), at) for x in node.outputs)
    return found


def write_section(
    loss: Variable, hcg: HybridCommunicateGroup, configs: dict[str, Any], parameters: Iterable[Any] | None, no_grad_set: Iterable[Any] | None
) -> tuple[list[tuple[Variable, Variable]], dict[str, Group], dict[str, int]]:
    """Leave of the program of `loss` the section of this process.

    Args:
        hcg: whose pipeline has a process for each section.
        configs: `strategy.pipeline_configs`.
        parameters, no_grad_set: as of `minimize`; None for all of the program, and for none.

    Returns:
        The parameters of the section and their gradients; for parameters that several sections use, by name, the processes of these; the section
        whose process has the value of each variable that lasts.

    Raises:
        ValueError: there are not as many sections as processes in the group, or the loss is not in the last one.
    """
    program, group = loss.program, hcg.get_pipe_parallel_group()
    places = sections_of(program)
    count = max(places, default=0) + 1
    if count != group.nranks:
        raise InvalidArgumentError(
            f"fleet.minimize: there is a process for each section of a pipeline. Got {count} sections (device_guard) for pp_degree={group.nranks}, "
            f"expected as many. Name them \"gpu:0\" to \"gpu:{group.nranks - 1}\", or change hybrid_configs."
        )
    made = {id(x): at for node, at in zip(program.nodes, places, strict=True) if not node.in_place for x in node.outputs}
    if made.get(id(loss)) != count - 1:
        raise InvalidArgumentError(
            f"fleet.minimize: the last section of a pipeline computes the loss. Got '{loss.name}' in section {made.get(id(loss))} of {count}, "
            f"expected {count - 1}. Compute it under the last device_guard."
        )
    stage = group.rank
    crossing = _crossing(program, places, made)
    trained = _trained(program, parameters, no_grad_set)
    shared = _shared(program, places, trained, hcg)
    keepers: dict[str, int] = {}
    for node, at in zip(program.nodes, places, strict=True):
        for x in (*node.reads(), *node.outputs):
            if x.persistable:
                keepers.setdefault(x.name, at)
    mine = [node for node, at in zip(program.nodes, places, strict=True) if at == stage]
    plan = Plan(
        group, stage, int(configs["accumulate_steps"]), configs["schedule_mode"] == "F-then-B",
        {a: [_gets_cotangent(x) for x in values] for (a, b), values in crossing.items() if b == stage}, {}, 0, [], [], [])
    entering = [x for (_, b), values in crossing.items() if b == stage for x in values]
    leaving: list[Variable] = []
    for (a, b), values in crossing.items():
        if a == stage:
            leaving += [x for x in values if not any(x is y for y in leaving)]
            plan.targets[b] = [(next(i for i, y in enumerate(leaving) if y is x), _gets_cotangent(x)) for x in values]
    plan.leaving = len(leaving)
    plan.differentiated = [i for i, x in enumerate(leaving) if _gets_cotangent(x)]
    read = {id(x) for node in mine for x in node.reads()}
    feeds = [x for x in program.feeds if id(x) in read]
    own = [x for x in trained if id(x) in read]
    others = [x for node in program.nodes if not node.in_place for x in node.outputs if x is not loss and not x.is_array]
    forward, backward, used = _blocks(program, mine, feeds, entering, leaving, loss if plan.last else None, own, others, made, plan)
    program.nodes.clear()
    grads = tuple(program.blocks[0].variable(p.sizes, p.dtype, f"{p.name}@GRAD") for p in used)
    recording_of("pipeline").record(PIPELINE, tuple(feeds), (plan,), (loss, *grads, *others), blocks=(forward, backward))
    found: dict[str, Any] = {p.name: g for p, g in zip(used, grads, strict=True)}
    with no_grad():
        for p in own:
            if p.name in shared:  # in one section its gradient may be none at all
                g = found.get(p.name)
                found[p.name] = reduced(ops.full(shape=p.sizes, value=0, dtype=p.dtype) if g is None else g, shared[p.name])
    return [(p, found[p.name]) for p in own if p.name in found], shared, keepers


def _crossing(program: Program, places: Sequence[int], made: dict[int, int]) -> dict[tuple[int, int], list[Variable]]:
    """What goes from which section to which later one, in the same order in all processes."""
    found: dict[tuple[int, int], dict[int, Variable]] = {}
    for node, at in zip(program.nodes, places, strict=True):
        for x in node.reads():
            if made.get(id(x), at) != at:
                found.setdefault((made[id(x)], at), {})[id(x)] = x
    return {pair: list(found[pair].values()) for pair in sorted(found)}


def _gets_cotangent(x: Variable) -> bool:
    return floats(x) and not x.stop_gradient


def _trained(program: Program, parameters: Iterable[Any] | None, no_grad_set: Iterable[Any] | None) -> list[Variable]:
    chosen = None if parameters is None else {each if isinstance(each, str) else each.name for each in parameters}
    left_out = {each if isinstance(each, str) else each.name for each in no_grad_set or ()}
    return [p for p in program.parameters() if not p.stop_gradient and p.name not in left_out and (chosen is None or p.name in chosen)]


def _shared(program: Program, places: Sequence[int], trained: Iterable[Variable], hcg: HybridCommunicateGroup) -> dict[str, Group]:
    """The processes of the sections that use a parameter, where there are several: of those of this process."""
    found: dict[str, Group] = {}
    for p in trained:
        users = sorted({at for node, at in zip(program.nodes, places, strict=True) if any(x is p for x in node.reads())})
        groups = [new_group([ranks[at] for at in users]) for ranks in hcg.topology().get_comm_list("pipe")] if len(users) > 1 else []
        found.update((p.name, group) for group in groups if group.is_member())
    return found


def _blocks(
    program: Program, mine: list[Node], feeds: list[Variable], entering: list[Variable], leaving: list[Variable], loss: Variable | None,
    own: list[Variable], others: list[Variable], made: dict[int, int], plan: Plan,
) -> tuple[Block, Block, list[Variable]]:
    """Two blocks, of one small batch forwards and backwards, and the parameters that have a gradient.

    forward: feeds and values that come in -> values that leave, the loss, values for the backward block.
    backward: cotangents of what leaves, values of the forward block -> cotangents of what came in, of parameters.
    """
    recording = recording_of("pipeline")
    forward, backward = program.new_block(recording.block), program.new_block(recording.block)
    env: dict[int, Any] = {}
    for x in (*feeds, *entering):
        y = forward.variable(x.sizes, x.dtype, unique_name.generate("pipeline.in"), stop_gradient=x.stop_gradient)
        env[id(x)] = y
        forward.inputs.append(y)
    with recording.inside(forward):
        replayed(mine, env, lambda x: x)
    plan.made = [(made[id(x)], recording.variable_of(env[id(x)]) if made[id(x)] == plan.stage else None) for x in others]
    forward.outputs = [recording.variable_of(env[id(x)]) for x in leaving]
    targets, cotangents = [forward.outputs[i] for i in plan.differentiated], []
    for x in targets:
        cotangents.append(backward.variable(x.sizes, x.dtype, unique_name.generate("pipeline.in")))
    backward.inputs = list(cotangents)
    given: list[Variable | None] = list(cotangents)
    if loss is not None:
        targets, given = [*targets, recording.variable_of(env[id(loss)])], [*given, None]
        forward.outputs.append(targets[-1])
    wanted = [env[id(x)] for x in entering if _gets_cotangent(x)]
    mark = len(forward.nodes)
    with building.builder.paused():  # type: ignore[union-attr]
        found = gradients(targets, [*wanted, *own], given) if targets else [None] * (len(wanted) + len(own))
    for node in forward.nodes[mark:]:
        node.block = backward
        for x in () if node.in_place else node.outputs:
            del forward.vars[x.name]
            x.block = backward
            backward.add(x)
        backward.nodes.append(node)
    del forward.nodes[mark:]
    plan.entering = [g is not None for g in found[: len(wanted)]]
    backward.outputs = [g for g in found if g is not None]
    of_forward, given_ids = forward.own_ids(), {id(x) for x in backward.inputs}
    kept = [x for x in backward.free() if id(x) in of_forward and id(x) not in given_ids]
    forward.outputs += kept
    backward.inputs += kept
    return forward, backward, [p for p, g in zip(own, found[len(wanted) :], strict=True) if g is not None]


def _run_pipeline(run: Any, node: Node, env: dict[int, Any]) -> None:
    with no_grad():
        results = _Run(run, node, env).results()
    env.update((id(x), value) for x, value in zip(node.outputs, results, strict=True) if value is not None)


class _Run:
    """One run of a section: all small batches."""

    def __init__(self, run: Any, node: Node, env: dict[int, Any]) -> None:
        self.run, self.env, self.plan = run, env, node.attr("plan")
        self.forward, self.backward = copy(node.blocks[0]), node.blocks[1]
        asked = {id(x) for x in run.fetches}
        self.others = node.outputs[-len(self.plan.made) :] if self.plan.made else ()
        self.asked = [id(x) in asked for x in self.others]
        for x, wanted in zip(self.others, self.asked, strict=True):
            if wanted and not _of_samples(x) and not floats(x):
                raise InvalidArgumentError(
                    f"Executor.run: a pipeline has '{x.name}' once for each small batch. Got {x.dtype.name}{list(x.sizes)} in fetch_list, expected a "
                    f"float, of which the mean is taken, or a first axis of samples. Cast it to a float in the program."
                )
        own = [y for (_, y), wanted in zip(self.plan.made, self.asked, strict=True) if wanted and y is not None]
        self.end = len(self.forward.outputs)  # of what the schedule takes
        self.forward.outputs = [*self.forward.outputs, *own]
        self.found: list[list[Tensor]] = [[] for _ in own]
        self.messages = Messages(self.plan.group)
        self.parts = self._cut([x for x in node.inputs if x is not None])
        self.kept: dict[int, list[Tensor]] = {}  # by small batch: what the backward block reads of the forward one
        self.entered: dict[int, list[Tensor]] = {}  # what came in, whose shapes cotangents have that nothing depends on
        self.losses: list[Tensor] = []
        self.sums: list[Tensor] = []
        self.shape = node.outputs[0]

    def _cut(self, feeds: list[Variable]) -> list[list[Tensor]]:
        count, parts = self.plan.micros, [[] for _ in range(self.plan.micros)]  # type: ignore[var-annotated]
        for x in feeds:
            value = self.run.value_of(x, self.env)
            if not value.ndim or value.shape[0] % count:
                raise InvalidArgumentError(
                    f"pipeline: the feed '{x.name}' does not divide into small batches. Got shape {value.shape} for accumulate_steps={count}, "
                    f"expected a multiple of {count} samples. Feed other samples, or change pipeline_configs."
                )
            size = value.shape[0] // count
            for i, part in enumerate(parts):
                part.append(value[i * size : (i + 1) * size])
        return parts

    def results(self) -> list[Tensor | None]:
        """The mean loss, mean gradients, and what else the run was asked for."""
        plan = self.plan
        make = all_forward_then_backward if plan.all_forward_first else one_forward_one_backward
        for step in make(plan.stage, plan.group.nranks, plan.micros):
            (self._forwards if step.forward else self._backwards)(step.micro)
        self.messages.finish()
        part = 1.0 / plan.micros
        loss = zeros(list(self.shape.sizes), dtype=self.shape.dtype)
        for value in self.losses:
            loss = loss + value * part
        all_reduce(loss, group=plan.group)
        return [loss, *(total * part for total in self.sums), *self._others()]

    def _others(self) -> Iterator[Tensor | None]:
        """Variables that were asked for, which all processes get of the section that makes them; None for others."""
        found, group = iter(self.found), self.plan.group
        for x, wanted, (section, _) in zip(self.others, self.asked, self.plan.made, strict=True):
            if not wanted:
                yield None
                continue
            held: list[Any] = [None]
            if section == self.plan.stage:
                held[0] = _whole(x, next(found)).numpy()
            broadcast_object_list(held, group.ranks[section], group)
            yield to_tensor(held[0], dtype=x.dtype)

    def _forwards(self, micro: int) -> None:
        plan = self.plan
        entered = [x for source in plan.sources for x in self.messages.receive(source, micro)]
        out = self.run.run_block(self.forward, self.env, [*self.parts[micro], *entered])
        for target, places in plan.targets.items():
            self.messages.send([out[i] for i, _ in places], target, micro)
        if plan.last:
            self.losses.append(out[plan.leaving])
        self.kept[micro] = out[plan.leaving + plan.last : self.end]
        for values, x in zip(self.found, out[self.end :], strict=True):
            values.append(x)
        self.entered[micro] = entered

    def _backwards(self, micro: int) -> None:
        plan, sums = self.plan, {}  # type: ignore[var-annotated]
        for target, places in plan.targets.items():
            back = [i for i, differentiable in places if differentiable]
            for i, ct in zip(back, self.messages.receive(target, micro) if back else (), strict=True):
                sums[i] = sums[i] + ct if i in sums else ct
        backs = [back for flags in plan.sources.values() for back in flags]
        entered = [x for x, back in zip(self.entered.pop(micro), backs, strict=True) if back]
        found = iter(self.run.run_block(self.backward, self.env, [*(sums[i] for i in plan.differentiated), *self.kept.pop(micro)]))
        cts = iter([next(found) if there else zeros(x.shape, dtype=x.dtype) for x, there in zip(entered, plan.entering, strict=True)])
        for source, flags in plan.sources.items():
            if any(flags):
                self.messages.send([next(cts) for back in flags if back], source, micro)
        grads = list(found)
        self.sums = [a + b for a, b in zip(self.sums, grads, strict=True)] if self.sums else grads


def _of_samples(x: Variable) -> bool:
    """Has it a first axis of samples?"""
    return bool(x.sizes) and x.sizes[0] < 0


def _whole(x: Variable, parts: list[Tensor]) -> Tensor:
    """A value of all samples, from those of small batches: side by side where there is one for each sample, otherwise the mean."""
    if _of_samples(x):
        return concat(parts, axis=0)
    total = parts[0]
    for part in parts[1:]:
        total = total + part
    return total * (1.0 / len(parts))


rules(PIPELINE, _run_pipeline)
