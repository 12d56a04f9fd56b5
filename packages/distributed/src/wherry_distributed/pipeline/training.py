"""Training of models in stages."""
from __future__ import annotations

from typing import Any

from wherry_autograd import backward, no_grad
from wherry_distributed.collective import broadcast
from wherry_distributed.messages import Messages
from wherry_distributed.pipeline.layers import PipelineLayer
from wherry_distributed.pipeline.schedule import Step, all_forward_then_backward, interleaved, one_forward_one_backward
from wherry_distributed.wrappers import MetaParallelBase
from wherry_program.program.structure import flatten, map_structure
from wherry_tensor import Tensor, is_floating_point, to_tensor, zeros, zeros_like
from wherry_tensor.errors import InvalidArgumentError, InvalidTypeError, short


class PipelineParallel(MetaParallelBase):
    """A model in stages. `train_batch` does a whole step: small batches forwards and backwards, exchange, update.

    How many small batches a batch is cut into is `strategy.pipeline_configs["accumulate_steps"]`.

    Raises:
        TypeError: the model is not a PipelineLayer.

    Source:
        `paddle.distributed.fleet.meta_parallel.PipelineParallel`.
    """

    @staticmethod
    def of(layers: Any, hcg: Any, strategy: Any) -> PipelineParallel:
        """The wrapper that a model needs."""
        if not isinstance(layers, PipelineLayer):
            raise InvalidTypeError(
                f"distributed_model: a model in stages is a list of layers. Got {type(layers).__name__} with pp_degree="
                f"{hcg.get_pipe_parallel_world_size()}, expected a PipelineLayer. Describe the model with LayerDesc."
            )
        kind = PipelineParallelWithInterleave if layers.get_num_virtual_stages() > 1 else PipelineParallel
        return kind(layers, hcg, strategy)

    def __init__(self, layers: PipelineLayer, hcg: Any, strategy: Any) -> None:
        super().__init__(layers, hcg, strategy)
        self._pipeline: PipelineLayer = layers
        configs = strategy.pipeline_configs
        self.accumulate_steps, self.micro_batch_size = int(configs["accumulate_steps"]), int(configs["micro_batch_size"])
        if configs["schedule_mode"] not in ("1F1B", "F-then-B"):
            raise InvalidArgumentError(
                f"PipelineParallel: schedule_mode is not known. Got {short(configs['schedule_mode'])}, expected '1F1B' or 'F-then-B'. Choose one.")
        self._mode = configs["schedule_mode"]
        self.stage_id, self.num_stages = hcg.get_stage_id(), hcg.get_pipe_parallel_world_size()
        self._chunks = layers.get_num_virtual_stages()
        self.pp_group = hcg.get_pipe_parallel_group()
        self._messages = Messages(self.pp_group)
        self._compute_loss = True
        self.total_loss: Tensor | None = None

    def is_pipeline_first_stage(self, ignore_virtual: bool = True) -> bool:
        """Does this process begin the model?"""
        return bool(self.stage_id == 0)

    def is_pipeline_last_stage(self, ignore_virtual: bool = True) -> bool:
        """Does it end it?"""
        return bool(self.stage_id == self.num_stages - 1)

    def _order(self) -> list[Step]:
        if self._mode == "F-then-B":
            return all_forward_then_backward(self.stage_id, self.num_stages, self.accumulate_steps, self._chunks)
        return one_forward_one_backward(self.stage_id, self.num_stages, self.accumulate_steps)

    def train_batch(self, data: Any, optimizer: Any, lr_scheduler: Any = None, scaler: Any = None) -> Tensor:
        """A step: gradients of a batch, in small ones, and an update.

        Args:
            data: inputs and labels, a pair; each a tensor, a tuple of tensors, or a list of one for each small batch. The first stage reads the
                inputs, the last one the labels.
            optimizer: of `fleet.distributed_optimizer`.
            lr_scheduler: makes a step afterwards.
            scaler: of `fleet.distributed_scaler`.

        Returns:
            The mean of the losses of the small batches, in all stages.

        Raises:
            ValueError: the batch does not divide, or the model has no loss.
        """
        self.train()
        loss = self.forward_backward_pipeline(data, scaler)
        if scaler is not None:
            scaler.step(optimizer)
            scaler.update()
        else:
            optimizer.step()
        optimizer.clear_grad()
        if lr_scheduler is not None:
            lr_scheduler.step()
        return loss

    def forward_backward_pipeline(self, data: Any, scaler: Any = None) -> Tensor:
        """Gradients of a batch, without an update. Returns the loss."""
        run = _Run(self, data, scaler, True)
        for step in self._order():
            run.forward(step) if step.forward else run.backward(step)
        self._messages.finish()
        self._pipeline.allreduce_shared_weight_gradients()
        self.total_loss = self._of_last_stage(run.losses)
        return self.total_loss

    def eval_batch(self, data: Any, compute_loss: bool = False) -> Any:
        """The loss of a batch in all stages; without `compute_loss` the outputs of the small batches in the last stage, None in others."""
        self.eval()
        run = _Run(self, data, None, compute_loss)
        with no_grad():
            for step in self._order():
                if step.forward:
                    run.forward(step)
            self._messages.finish()
        if compute_loss:
            return self._of_last_stage(run.losses)
        return run.results if self.is_pipeline_last_stage() else None

    def _of_last_stage(self, losses: list[Tensor]) -> Tensor:
        with no_grad():
            total = to_tensor(sum(loss.item() for loss in losses) / self.accumulate_steps if losses else 0.0, dtype="float32")
            if self.num_stages > 1:
                broadcast(total, self.pp_group.ranks[-1], self.pp_group)
        return total


class PipelineParallelWithInterleave(PipelineParallel):
    """A model of which each stage has several parts.

    Source:
        `paddle.distributed.fleet.meta_parallel.PipelineParallelWithInterleave`.
    """

    def _order(self) -> list[Step]:
        if self._mode == "F-then-B":
            return super()._order()
        return interleaved(self.stage_id, self.num_stages, self.accumulate_steps, self._chunks)


class _Run:
    """One batch on its way through the stages."""

    def __init__(self, model: PipelineParallel, data: Any, scaler: Any, compute_loss: bool) -> None:
        self.model, self.scaler, self.compute_loss = model, scaler, compute_loss
        if not isinstance(data, (list, tuple)) or len(data) != 2:
            raise InvalidArgumentError(f"train_batch: data is not a pair. Got {short(data)}, expected (inputs, labels). Pass [inputs, labels].")
        self.inputs = self._cut(data[0]) if model.is_pipeline_first_stage() else None
        self.labels = self._cut(data[1]) if model.is_pipeline_last_stage() and compute_loss else None
        if compute_loss and model.is_pipeline_last_stage() and model._pipeline._loss_fn is None:
            raise InvalidArgumentError("train_batch: the model has no loss. Got loss_fn=None, expected a function. Pass loss_fn to PipelineLayer.")
        self.kept: dict[tuple[int, int], tuple[list[Tensor], list[Tensor]]] = {}
        self.losses: list[Tensor] = []
        self.results: list[Any] = []

    def _cut(self, whole: Any) -> list[Any]:
        """The small batches of inputs or labels."""
        count, size = self.model.accumulate_steps, self.model.micro_batch_size
        if isinstance(whole, list) and len(whole) == count and not isinstance(whole[0], (int, float)):
            return whole
        for x in flatten(whole):
            if not isinstance(x, Tensor) or not x.ndim or x.shape[0] % count:
                raise InvalidArgumentError(
                    f"train_batch: the batch does not divide. Got {list(x.shape) if isinstance(x, Tensor) else short(x)} for "
                    f"accumulate_steps={count}, "
                    f"expected a multiple of {count} samples. Change pipeline_configs, or the batch size."
                )
            if size > 1 and x.shape[0] != size * count:
                raise InvalidArgumentError(
                    f"train_batch: the batch has another size. Got {x.shape[0]} samples, expected micro_batch_size * accumulate_steps = "
                    f"{size * count}. "
                    f"Change pipeline_configs."
                )

        def piece(i: int) -> Any:
            return map_structure(lambda x: x[x.shape[0] // count * i : x.shape[0] // count * (i + 1)], whole)

        return [piece(i) for i in range(count)]

    def _neighbour(self, chunk: int, step: int) -> tuple[int, int] | None:
        """Stage and chunk of the part of the model before (-1) or after (1) one of this stage's; None at the ends."""
        stages = self.model.num_stages
        part = chunk * stages + self.model.stage_id + step
        return (part % stages, part // stages) if 0 <= part < stages * self.model._chunks else None

    def _number(self, forward: bool, receiver_chunk: int, micro: int) -> int:
        return ((0 if forward else self.model._chunks) + receiver_chunk) * self.model.accumulate_steps + micro

    def forward(self, step: Step) -> None:
        """A small batch through a part of the model."""
        model, before, behind = self.model, self._neighbour(step.chunk, -1), self._neighbour(step.chunk, 1)
        if before is None:
            assert self.inputs is not None
            given = self.inputs[step.micro]
        else:
            found = model._messages.receive(before[0], self._number(True, step.chunk, step.micro))
            given = found[0] if len(found) == 1 else tuple(found)
        out = model._layers(given, chunk_id=step.chunk)
        inputs, outputs = [x for x in flatten(given) if isinstance(x, Tensor)], [x for x in flatten(out) if isinstance(x, Tensor)]
        if behind is not None:
            model._messages.send(outputs, behind[0], self._number(True, behind[1], step.micro))
        elif self.compute_loss:
            assert self.labels is not None
            label = self.labels[step.micro]
            loss = model._pipeline._loss_fn(out, *label) if isinstance(label, tuple) else model._pipeline._loss_fn(out, label)
            if not isinstance(loss, Tensor) or loss.size != 1:
                raise InvalidArgumentError(
                    f"train_batch: loss_fn gives no loss. Got {short(loss) if not isinstance(loss, Tensor) else loss.shape}, expected a tensor of "
                    f"one number. "
                    f"Take the mean."
                )
            self.losses.append(loss.detach().astype("float32"))
            scaled = loss * (1.0 / model.accumulate_steps)
            outputs = [scaled if self.scaler is None else self.scaler.scale(scaled)]
        else:
            self.results.append(out)
        self.kept[step.micro, step.chunk] = inputs, outputs

    def backward(self, step: Step) -> None:
        """The gradients of a small batch in a part of the model."""
        model, before, behind = self.model, self._neighbour(step.chunk, -1), self._neighbour(step.chunk, 1)
        inputs, outputs = self.kept.pop((step.micro, step.chunk))
        cotangents: list[Tensor | None] = [None] * len(outputs)
        if behind is not None:
            found = iter(model._messages.receive(behind[0], self._number(False, step.chunk, step.micro)))
            cotangents = [next(found) if _passes(x) else None for x in outputs]
        pairs = [(x, ct) for x, ct in zip(outputs, cotangents, strict=True) if not x.stop_gradient]
        if pairs:
            backward([x for x, _ in pairs], [ct for _, ct in pairs])
        if before is not None:
            with no_grad():
                gradients = [zeros_like(x) if x.grad is None else x.grad.detach() for x in inputs if _passes(x)]
            model._messages.send(gradients or [zeros([0])], before[0], self._number(False, before[1], step.micro))


def _passes(x: Tensor) -> bool:
    return not x.stop_gradient and is_floating_point(x)

