"""`StaticRNN`: a loop over the steps of sequences, whose body is written once. And decoding of sequences of tags, which is such a loop."""
from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from wherry_autograd import no_grad
from wherry_graph.static.nn.making import Maker
from wherry_graph.static.nn.sequence import sequence_pad, sequence_unpad
from wherry_nn import unique_name
from wherry_paddle_files.sequences import best_tags, known_offsets, with_offsets
from wherry_program.program.capture import Capture, current_capture
from wherry_program.program.control import array_append, array_stack, create_array, while_loop
from wherry_program.program.ir import Block, Variable
from wherry_program.program.replay import replayed
from wherry_tensor import ops
from wherry_tensor._core import Tensor, int64
from wherry_tensor.arguments import require_rank, require_tensor
from wherry_tensor.errors import InvalidArgumentError, UnavailableError, short
from wherry_tensor.explained import explained

__all__ = ["StaticRNN", "crf_decoding"]


class StaticRNN:
    """A recurrent network: the block `with rnn.step()` runs for each step of its sequences in order.

    Source:
        `paddle.static.nn.StaticRNN` of Paddle 2.3; 2.6 no longer has it.

    Examples:
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [3, None, 2])  # steps, batch, width
        ...     rnn = wherry.static.nn.StaticRNN()
        ...     with rnn.step():
        ...         word = rnn.step_input(x)
        ...         total = rnn.memory(shape=[-1, 2], batch_ref=word)
        ...         more = total + word
        ...         rnn.update_memory(total, more)
        ...         rnn.step_output(more)
        ...     totals = rnn()
        >>> exe = wherry.static.Executor()
        >>> exe.run(main, feed={"x": np.ones([3, 1, 2], "float32")}, fetch_list=[totals])[0][:, 0].tolist()
        [[1.0, 1.0], [2.0, 2.0], [3.0, 3.0]]
        >>> wherry.disable_static()
    """

    BEFORE_RNN_BLOCK, IN_RNN_BLOCK, AFTER_RNN_BLOCK = 0, 1, 2

    def __init__(self, name: str | None = None) -> None:
        self.status = self.BEFORE_RNN_BLOCK
        self._sequences: dict[int, tuple[Variable, Tensor]] = {}  # the variable of a step, and the sequence
        self._memories: dict[int, tuple[Variable, Tensor]] = {}   # the variable of the previous value, and the first value
        self._updates: dict[int, Tensor] = {}
        self._outputs: list[Tensor] = []
        self._results: list[Tensor] = []
        self._recording: Capture | None = None
        self._around: Block | None = None

    @contextmanager
    def step(self) -> Iterator[None]:
        """A context in which one step is recorded.

        Raises:
            ValueError: it was used before, a memory is not updated, or there is no sequence or no output.
        """
        recording = current_capture()
        if recording is None:
            raise UnavailableError(
                "StaticRNN.step: it describes a loop of a program. Got a call outside of static mode, expected one after "
                "paddle.enable_static(). In dynamic mode use paddle.nn.RNN, or a Python loop."
            )
        if self.status != self.BEFORE_RNN_BLOCK:
            raise InvalidArgumentError(
                "StaticRNN.step: a StaticRNN has one step. Got a second `with rnn.step()`, expected one. Make another StaticRNN."
            )
        program, mark = recording.program, len(recording.program.blocks)
        self._recording, self._around = recording, recording.block
        self.status = self.IN_RNN_BLOCK
        block = program.new_block(recording.block)
        try:
            with recording.inside(block):
                yield
        finally:
            self.status = self.AFTER_RNN_BLOCK
            del program.blocks[mark:]  # what stays is the loop, into which its nodes are recorded again
        self._loop(block)

    def _require_inside(self, method: str) -> tuple[Capture, Block]:
        if self.status != self.IN_RNN_BLOCK or self._recording is None or self._around is None:
            raise InvalidArgumentError(
                f"StaticRNN.{method}: You must invoke {method} in rnn block. Got a call outside of it, expected one inside of `with rnn.step():`."
            )
        return self._recording, self._around

    def _placeholder(self, shape: tuple[int, ...], like: Tensor, kind: str) -> Variable:
        recording, _ = self._require_inside(kind)
        x = recording.block.variable(shape, like.dtype, unique_name.generate(f"static_rnn.{kind}"))
        recording.block.inputs.append(x)
        x.stop_gradient = like.stop_gradient
        return x

    def step_input(self, x: Tensor) -> Tensor:
        """One step of a sequence.

        Args:
            x: `[steps, ...]`; the number of steps is known, and the same of all sequences.

        Returns:
            What stands for a step, `[...]`.

        Raises:
            TypeError: `x` is not a Tensor.
            ValueError: outside of the step; it has no axis; the number of steps differs or is not known.
        """
        _, _ = self._require_inside("step_input")
        require_rank(x, "StaticRNN.step_input", 1, 9, layout="[steps, ...]")
        steps = x.shape[0]
        if type(steps) is not int or steps < 1:
            raise InvalidArgumentError(
                f"StaticRNN.step_input: the number of steps is known before the program runs. Got shape {x.shape}, expected an int in front. "
                f"With while_loop it may differ."
            )
        first = next(iter(self._sequences.values()), None)
        if first is not None and first[1].shape[0] != steps:
            raise InvalidArgumentError(
                f"StaticRNN.step_input: Static RNN only take fix seq_len input. Got {steps} steps, expected {first[1].shape[0]} as of the first one."
            )
        own = self._placeholder(tuple(-1 if type(n) is not int else n for n in x.shape[1:]), x, "step_input")
        self._sequences[id(own)] = own, x
        return own

    def memory(
        self, init: Tensor | None = None, shape: Any = None, batch_ref: Tensor | None = None, init_value: float = 0.0,
        init_batch_dim_idx: int = 0, ref_batch_dim_idx: int = 1,
    ) -> Tensor:
        """A state that each step passes to the next: its value is that of the previous step.

        Args:
            init: what the first step gets; None makes it from the others:
            shape: its shape, -1 for the batch.
            batch_ref: has the size of the batch: what stands for a step means the whole sequence here.
            init_value: what it is filled with.
            init_batch_dim_idx: the axis of the batch in `shape`.
            ref_batch_dim_idx: the axis of the batch in `batch_ref`.

        Raises:
            TypeError: `init` is not a Tensor.
            ValueError: outside of the step; neither `init` nor both of `shape` and `batch_ref`.
        """
        recording, around = self._require_inside("memory")
        if init is None:
            if shape is None or batch_ref is None:
                raise InvalidArgumentError(
                    "StaticRNN.memory: if init is None, memory at least need shape and batch_ref. Got neither a first value nor both, expected "
                    "memory(init=x) or memory(shape=[-1, 8], batch_ref=word)."
                )
            require_tensor(batch_ref, "StaticRNN.memory", "batch_ref")
            whole = self._sequences[id(batch_ref)][1] if id(batch_ref) in self._sequences else batch_ref
            sizes = list(shape)
            if not 0 <= init_batch_dim_idx < len(sizes) or not 0 <= ref_batch_dim_idx < whole.ndim:
                raise InvalidArgumentError(
                    f"StaticRNN.memory: there is no such axis. Got init_batch_dim_idx={short(init_batch_dim_idx)} for shape {sizes} and "
                    f"ref_batch_dim_idx={short(ref_batch_dim_idx)} for {whole.shape}, expected axes of both."
                )
            sizes[init_batch_dim_idx] = whole.shape[ref_batch_dim_idx]
            with recording.inside(around):
                init = ops.full(shape=tuple(sizes), value=init_value, dtype=batch_ref.dtype)
        require_tensor(init, "StaticRNN.memory", "init")
        own = self._placeholder(tuple(-1 if type(n) is not int else n for n in init.shape), init, "memory")
        own.stop_gradient = False
        self._memories[id(own)] = own, init
        return own

    def update_memory(self, mem: Tensor, var: Tensor) -> None:
        """Make `var` the value of the memory `mem` for the next step.

        Raises:
            TypeError: one of them is not a Tensor.
            ValueError: outside of the step; `mem` is not a memory.
        """
        self._require_inside("update_memory")
        require_tensor(mem, "StaticRNN.update_memory", "mem")
        require_tensor(var, "StaticRNN.update_memory", "var")
        if id(mem) not in self._memories:
            raise InvalidArgumentError("StaticRNN.update_memory: this is not a memory. Got another tensor, expected what rnn.memory() returned.")
        self._updates[id(mem)] = var

    def step_output(self, o: Tensor) -> None:
        """Collect a value of each step; they become `[steps, ...]`.

        Raises:
            TypeError: `o` is not a Tensor.
            ValueError: outside of the step.
        """
        self._require_inside("step_output")
        self._outputs.append(require_tensor(o, "StaticRNN.step_output", "o"))

    def output(self, *outputs: Tensor) -> None:
        """`step_output` of each."""
        for each in outputs:
            self.step_output(each)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """The collected outputs, steps first: one tensor, or a list of several.

        Raises:
            ValueError: before the step is complete.
        """
        if self.status != self.AFTER_RNN_BLOCK or not self._results:
            raise InvalidArgumentError(
                "StaticRNN: RNN output can only be retrieved after rnn block. Got a call before its end, expected one after it."
            )
        return self._results[0] if len(self._results) == 1 else list(self._results)

    def _loop(self, block: Block) -> None:
        missing = [own.name for at, (own, _) in self._memories.items() if at not in self._updates]
        if missing:
            raise InvalidArgumentError(f"StaticRNN: each memory is updated. Got '{missing[0]}' without, expected update_memory for it in the step.")
        if not self._sequences or not self._outputs:
            raise InvalidArgumentError(
                f"StaticRNN: a loop has sequences and outputs. Got {len(self._sequences)} of step_input and {len(self._outputs)} of step_output, "
                f"expected one or more of each."
            )
        steps = next(iter(self._sequences.values()))[1].shape[0]
        end, one = _number(steps), _number(1)
        lists = [create_array(o.dtype) for o in self._outputs]
        n = len(self._memories)

        def step(at: Tensor, *values: Any) -> list[Any]:
            env: dict[int, Any] = {own: _row(x, at) for own, (_, x) in self._sequences.items()}
            env.update(zip(self._memories, values))
            replayed(block.nodes, env, lambda x: x)
            new = [env.get(id(self._updates[own]), self._updates[own]) for own in self._memories]
            grown = [array_append(array, env.get(id(o), o)) for array, o in zip(values[n:], self._outputs)]
            return [ops.add(at, one), *new, *grown]

        first = [init for _, init in self._memories.values()]
        done = while_loop(lambda at, *_: ops.less_than(at, end), step, [_number(0), *first, *lists])
        self._results = [
            array_stack(array, (steps, *(-1 if type(size) is not int else size for size in o.shape)))
            for array, o in zip(done[1 + n :], self._outputs)
        ]


def _number(n: int) -> Tensor:
    return ops.full(shape=(), value=n, dtype=int64)


def _row(x: Tensor, at: Tensor) -> Tensor:
    return ops.squeeze(ops.gather(x, ops.reshape(at, shape=(1,)), axis=0), (0,))


def crf_decoding(input: Tensor, param_attr: Any, label: Tensor | None = None, length: Tensor | None = None) -> Tensor:
    """Viterbi decoding of a linear-chain conditional random field: the sequence of tags with the best score.

    The score of tags `t1 ... tn` is `w[0, t1] + w[1, tn] + sum(input[k, tk]) + sum(w[2 + t(k-1), tk])`.

    Args:
        input: scores of tags: rows of sequences, or with `length` padded.
        param_attr: of the parameter `w`; one of its name that the program has is taken.
        label: tags to compare with.
        length: integers, the lengths of padded sequences.

    Returns:
        The tags, int64, 0 where a sequence is padded; with `label` 1 where both are the same, and 0.

    Shape:
        `[rows, tags]` to `[rows, 1]`; `[batch, time, tags]` to `[batch, time]`. w: `[tags + 2, tags]`.

    Raises:
        TypeError: an argument is not a Tensor.
        ValueError: `input` holds no sequences and there is no `length`.
        RuntimeError: outside of static mode.

    Source:
        `paddle.static.nn.crf_decoding` of Paddle 2.3; 2.6 has `paddle.text.viterbi_decode`. Lafferty et al., "Conditional random fields" (2001).

    Examples:
        >>> rows = wherry.static.create_lod_tensor(np.array([[0.0, 1.0], [1.0, 0.0], [0.0, 1.0]], "float32"), [[2, 1]])  # of two sequences
        >>> feed = {"x": rows}
        >>> wherry.enable_static()
        >>> main, startup = wherry.static.Program(), wherry.static.Program()
        >>> with wherry.static.program_guard(main, startup):
        ...     x = wherry.static.data("x", [None, 2], lod_level=1)
        ...     y = wherry.static.nn.crf_decoding(x, param_attr=wherry.ParamAttr(name="crf", initializer=wherry.nn.initializer.Constant(0.0)))
        >>> exe = wherry.static.Executor()
        >>> exe.run(startup)
        []
        >>> [out] = exe.run(main, feed=feed, fetch_list=[y], return_numpy=False)
        >>> out.numpy().tolist()
        [[1], [0], [1]]
        >>> wherry.disable_static()
    """
    require_rank(input, "crf_decoding", 2 if length is None else 3, name="input", layout="[rows, tags]" if length is None else "[batch, time, tags]")
    if current_capture() is None:
        raise UnavailableError(
            "crf_decoding: it describes a loop of a program. Got a call outside of static mode, expected one after paddle.enable_static(). In "
            "dynamic mode use paddle.text.viterbi_decode."
        )
    tags = input.shape[-1]
    weight = Maker("crf_decoding").parameter([tags + 2 if type(tags) is int else tags, tags], param_attr, input.dtype)
    with no_grad():
        if length is None:
            padded, lengths = sequence_pad(input, ops.full(shape=(), value=0, dtype=input.dtype))
        else:
            padded = input
            lengths = ops.reshape(ops.cast(require_tensor(length, "crf_decoding", "length"), dtype=int64), shape=(input.shape[0],))
        found = best_tags(padded, lengths, weight)
        if length is None:
            found = sequence_unpad(ops.unsqueeze(found, (2,)), lengths)
        if label is None:
            return found
        wanted = ops.reshape(ops.cast(require_tensor(label, "crf_decoding", "label"), dtype=int64), shape=tuple(found.shape))
        same = ops.cast(ops.equal(found, wanted), dtype=int64)
        return with_offsets(same, known_offsets(found)) if length is None else ops.multiply(same, _inside(lengths, found))


def _inside(lengths: Tensor, like: Tensor) -> Tensor:
    """1 where a sequence is, 0 where it is padded."""
    places = ops.arange(start=0, step=1, length=like.shape[1], dtype=int64)
    return ops.cast(ops.less_than(ops.unsqueeze(places, (0,)), ops.unsqueeze(lengths, (1,))), dtype=int64)


explained(globals())
