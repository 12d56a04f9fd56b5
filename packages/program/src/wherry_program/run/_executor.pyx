# cython: language_level=3, boundscheck=False, wraparound=False, initializedcheck=False, binding=True
# cython: auto_pickle=False
"""Running planned programs: kernels one after the other, over memory that was laid out before, without the GIL.

`planner` decides; what it decided comes here as a `Planned`: the values (slots) with their places, the steps, what is
handed out. A place is a byte offset in a region: in the arena, in the memory of a tensor that comes from outside, or in a
result that is made for each run. All of them are on one device; kernels of others than the cpu go to the stream of the calling thread.

Each concurrent run has a `Run` of its own: the slots with their data pointers, the calls that point to them, and an arena
from a pool that all plans of a program share. Between runs these are kept, and only pointers that changed are
written anew.
"""
cimport cython
from cpython.object cimport PyObject
from libc.stdint cimport int32_t, int64_t, uint32_t, uint64_t
from libc.stdlib cimport calloc, free, malloc
from libc.string cimport memcpy

from wherry_tensor._core cimport (
    CONTIGUOUS, STOP_GRADIENT, WRY_ABI_VERSION, WRY_BOOL, WRY_OK, WRY_UINT8, WRY_USES_RANDOM, DeviceGraph, DeviceStream, DType, Op, Plan, Tensor,
    allocated_on, current_kernel_generation, device_graphs, device_scratch, device_scratch_free, goes_along, kernel_threads, layers_active, new_alias, new_ghost,
    new_tensor, new_tensor_on, raise_text, set_grad_enabled_flag, thread_device, thread_stream, span_add, span_mark, trace_event, trace_now, tracing, used_on, workspace_mark, workspace_reset, workspace_take, wry_attr, wry_call, wry_context, wry_kernel, wry_storage, wry_tensor,
)

from wherry_tensor import _core, ops, paddle_random

cdef enum:
    ARENA = 0
    EXTERNAL = 1
    RESULT = 2
    MAX_RANK = 12
    BY_RULE = 15       # Op.view_code of a view that has a rule in Python
    KEPT_PLANS = 32    # for shapes that a segment was run with
    OPERATOR_EVENT = 0 # what a profiler calls a step
    MAX_GRAPHS = 4     # of a plan: results of as many calls can be held at once
    MAX_CAPTURES = 12  # of a plan: where addresses change again and again, nothing is gained
    MAX_SCRATCH = 32   # pieces of memory that one kernel may ask for on a device

cdef Op copy_op = ops.copy

cdef extern from "Python.h":
    void Py_INCREF(object)


# What a kernel may ask for while it runs.

ctypedef struct Scratch:
    int mark    # where that of the running kernel begins; -1: it took none
    int n       # on a device: pieces that it took
    wry_storage *pieces[MAX_SCRATCH]


cdef void *give_workspace(wry_context *context, size_t bytes) noexcept nogil:
    cdef Scratch *scratch = <Scratch *>context.caller
    if scratch.mark < 0:
        scratch.mark = workspace_mark()
    return workspace_take(bytes)


cdef void *give_device_workspace(wry_context *context, size_t bytes) noexcept nogil:
    cdef Scratch *scratch = <Scratch *>context.caller
    cdef wry_storage *piece
    if scratch.n == MAX_SCRATCH:
        return NULL
    piece = device_scratch(context.device, bytes, context.stream, context.error)
    if piece == NULL:
        return NULL
    scratch.pieces[scratch.n] = piece
    scratch.n += 1
    return piece.data


cdef int let_go_of_scratch(Scratch *scratch) noexcept nogil:
    """Whoever gets the memory next comes later in the stream."""
    cdef int i
    for i in range(scratch.n):
        scratch.pieces[i].refs = 0
        device_scratch_free(scratch.pieces[i])
    scratch.n = 0
    return 0


cdef void *give_no_output(wry_context *context, int32_t index, int32_t rank, const int64_t *shape) noexcept nogil:
    return NULL  # a step whose output's shape depends on data is never planned


ctypedef struct Step:
    wry_kernel kernel
    const wry_attr *attrs
    const void *data
    int32_t n_attrs
    int32_t n_inputs
    int32_t n_outputs
    int32_t pointers      # where its slots begin in `wiring`
    int32_t random        # which of the random steps it is; -1: it draws nothing
    uint64_t drawn        # by the random steps before it


ctypedef struct Tiles:
    # Steps that run over and over, each time on the next piece of their values, which are lines of numbers.
    int32_t first
    int32_t n
    int64_t tile
    int64_t count
    int32_t n_moving
    int32_t n_slots
    int32_t *moving       # slots that move on from piece to piece
    int32_t *slots        # all slots with the length of a piece


ctypedef struct External:
    # What a tensor from outside has to be like, and which slots lie in its memory.
    int32_t dtype
    int32_t rank
    int64_t dims[MAX_RANK]
    int64_t steps[MAX_RANK]
    int32_t first
    int32_t last
    int32_t writes        # how often a run writes into it


ctypedef struct Output:
    int32_t region        # EXTERNAL or RESULT
    int32_t index
    int32_t whole         # the tensor itself; else a view of it
    int32_t dtype
    int32_t rank
    int64_t offset        # in bytes
    int64_t dims[MAX_RANK]
    int64_t steps[MAX_RANK]


ctypedef struct Result:
    int32_t dtype
    int32_t rank
    int32_t first
    int32_t last
    int64_t dims[MAX_RANK]


ctypedef struct Run:
    # The memory of one run at a time.
    Run *next
    char *arena           # that the slots point into now
    void **bases          # of each external and each result, as the slots have it
    wry_storage **pinned  # of each external, during a run
    wry_tensor *slots
    wry_call *calls
    const wry_tensor **pointers
    int64_t *lengths      # of the pieces of each Tiles
    char **starts         # where the moving slots begin
    wry_context *contexts # one for all steps that draw nothing, then one for each random step
    Scratch scratch


@cython.final
cdef class Arenas:
    """Memory for the values of running plans: as many blocks as programs run at once. Plans of all shapes share them.

    On a device a block stays with its stream, whose order keeps one run after the other.
    """
    cdef list free_ones    # (device, stream, block)

    def __cinit__(self):
        self.free_ones = []

    cdef Tensor take(self, int64_t nbytes, int32_t device, size_t stream):
        cdef Py_ssize_t i
        cdef Tensor block
        for i in range(len(self.free_ones) - 1, -1, -1):
            on, its_stream, kept = self.free_ones[i]
            if on == device and its_stream == stream:
                self.free_ones.pop(i)
                block = <Tensor>kept
                if block.t.size >= nbytes:
                    return block
                break
        return new_tensor_on(device, WRY_UINT8, 1, &nbytes)

    cdef int give(self, Tensor block, size_t stream) except -1:
        self.free_ones.append((block.t.device, stream, block))
        return 0


@cython.final
cdef class Fused:
    """A step that computes several element-wise nodes with one kernel, which a device's package made for them.

    Args:
        made: has `kernel`, the address of a `wry_kernel`, `address`, its `call->data`, and `name`.
    """
    cdef readonly object made
    cdef readonly str name
    cdef readonly uint32_t kernel_flags

    def __init__(self, made):
        self.made, self.name = made, made.name
        self.kernel_flags = 0

    random = False

    @property
    def op(self):
        """Itself: it stands where a Plan does."""
        return self

    @staticmethod
    def uses_shape_only(index):
        """Of no input."""
        return False


cdef inline bint has_layout(Tensor x, External *e, int32_t device) noexcept:
    cdef int i
    if x.t.dtype != e.dtype or x.t.rank != e.rank or x.t.device != device:
        return False
    for i in range(e.rank):
        if x.dims[i] != e.dims[i] or (x.steps[i] != e.steps[i] and x.dims[i] != 1):
            return False
    return True


cdef int fill(int64_t *to, object numbers) except -1:
    cdef int i = 0
    for n in numbers:
        to[i] = n
        i += 1
    return 0


@cython.final
cdef class Captured:
    """A run of a plan as a graph of its device: kernels with the addresses that they were captured with.

    Its results are given out again when nobody holds them any more. Inputs whose address changes from call to call are copied into tensors of
    the graph; the others are read where they are.
    """
    cdef DeviceGraph graph
    cdef list made        # the results
    cdef list own         # of each external, a tensor of the graph that stands for it, or None
    cdef Tensor arena
    cdef void **bases     # of each external, as it was captured
    cdef size_t stream    # that it is launched on: the next launch may write what the one before still reads

    def __dealloc__(self):
        free(self.bases)

    cdef bint idle(self) noexcept:
        cdef Tensor x
        for item in self.made:
            x = <Tensor>item
            if x.storage != NULL and x.storage.refs != 1:
                return False
        return True


@cython.final
cdef class Planned:
    """A segment of a program for inputs of certain shapes, ready to run. Made by `planner.plan`.

    Args:
        externals: of each tensor from outside (inputs, then bound ones, then constants of the plan): dtype code, shape, strides,
            how often a run writes into it.
        constants: tensors that belong to the plan, the last of the externals.
        results: dtype code and shape of each tensor that a run makes to hand it out.
        slots: dtype code, shape, strides, region, index in the region, offset in bytes; ordered by region and index.
        steps: (Plan, slots of the inputs, slots of the outputs, index of the node); -1 for an absent input.
        outputs: (region, index, whole, dtype code, offset, shape, strides) of each.
        arena: bytes that a run needs.
        numbers: what the key inputs have to hold, by position: ((input, number), ...).
        device: of all tensors, an int.
        tiles: (first step, steps, elements of a tile, elements, slots that move on, slots of a tile) of each loop over tiles.

    Attributes:
        interpreted: nothing is planned; the segment runs node by node for these inputs.
    """
    cdef External *externals
    cdef Result *results
    cdef Output *outputs
    cdef Step *steps
    cdef wry_tensor *slots
    cdef int64_t *sizes        # shapes and strides of the slots
    cdef int32_t *wiring       # slots of the steps, inputs then outputs
    cdef int64_t *offsets      # of each slot in its region
    cdef Run *idle
    cdef Tiles *tiles
    cdef int n_tiles, n_moving
    cdef int n_externals, n_given, n_results, n_outputs, n_steps, n_slots, n_wires, n_random, n_arena, n_written
    cdef int64_t arena
    cdef uint64_t drawn
    cdef list plans, constants
    cdef tuple nodes
    cdef readonly tuple numbers
    cdef readonly int64_t generation
    cdef readonly bint interpreted
    cdef readonly int32_t device
    cdef readonly list graphs         # Captured
    cdef readonly int captures        # how often one was made; -1: this plan is not run as one
    cdef readonly int64_t launches    # of graphs
    cdef int64_t runs
    cdef Arenas arenas

    def __init__(self, externals, list constants, results, slots, steps, outputs, int64_t arena, Arenas arenas, tuple numbers, bint interpreted=False, tiles=(),
                 int32_t device=0):
        cdef int at, wires = 0
        self.generation = current_kernel_generation()
        self.interpreted = interpreted
        self.device = device
        self.graphs = []
        self.arenas, self.numbers, self.constants, self.arena = arenas, numbers, constants, arena
        self.n_externals, self.n_given = len(externals), len(externals) - len(constants)
        self.n_results, self.n_outputs, self.n_steps, self.n_slots = len(results), len(outputs), len(steps), len(slots)
        self.externals = <External *>calloc(self.n_externals + 1, sizeof(External))
        self.results = <Result *>calloc(self.n_results + 1, sizeof(Result))
        self.outputs = <Output *>calloc(self.n_outputs + 1, sizeof(Output))
        self.steps = <Step *>calloc(self.n_steps + 1, sizeof(Step))
        self.slots = <wry_tensor *>calloc(self.n_slots + 1, sizeof(wry_tensor))
        self.offsets = <int64_t *>calloc(self.n_slots + 1, sizeof(int64_t))
        for _plan, ins, outs, _node in steps:
            wires += len(ins) + len(outs)
        self.n_wires = wires
        self.wiring = <int32_t *>calloc(wires + 1, sizeof(int32_t))
        at = 0
        for item in slots:
            at += 2 * len(item[1])
        self.sizes = <int64_t *>calloc(at + 1, sizeof(int64_t))
        if not (self.externals and self.results and self.outputs and self.steps and self.slots and self.offsets and
                self.wiring and self.sizes):
            raise MemoryError()
        self.fill_sides(externals, results, outputs)
        self.fill_slots(slots)
        self.fill_tiles(tiles)
        self.fill_steps(steps)

    cdef int fill_sides(self, externals, results, outputs) except -1:
        """What comes from outside, what is made for it, and what of that leaves."""
        cdef int i
        for i in range(self.n_externals):
            dtype, shape, strides, writes = externals[i]
            self.externals[i].dtype, self.externals[i].rank, self.externals[i].writes = dtype, <int32_t>len(shape), writes
            fill(self.externals[i].dims, shape)
            fill(self.externals[i].steps, strides)
            self.n_written += writes > 0
        for i in range(self.n_results):
            dtype, shape = results[i]
            self.results[i].dtype, self.results[i].rank = dtype, <int32_t>len(shape)
            fill(self.results[i].dims, shape)
        for i in range(self.n_outputs):
            region, at, whole, dtype, offset, shape, strides = outputs[i]
            self.outputs[i].region, self.outputs[i].index, self.outputs[i].whole = region, at, whole
            self.outputs[i].dtype, self.outputs[i].rank, self.outputs[i].offset = dtype, <int32_t>len(shape), offset
            fill(self.outputs[i].dims, shape)
            fill(self.outputs[i].steps, strides)
        return 0

    cdef int fill_slots(self, slots) except -1:
        """The values, in the order in which they lie: those of one tensor from outside, or of one result, side by side."""
        cdef int i, k, at
        cdef int64_t *sizes
        sizes = self.sizes
        for i in range(self.n_slots):
            dtype, shape, strides, region, at, offset = slots[i]
            self.slots[i].dtype, self.slots[i].rank = dtype, <int32_t>len(shape)
            fill(sizes, shape)
            self.slots[i].shape = sizes
            sizes += len(shape)
            fill(sizes, strides)
            self.slots[i].strides = sizes
            sizes += len(shape)
            self.slots[i].size = 1
            for k in range(self.slots[i].rank):
                self.slots[i].size *= self.slots[i].shape[k]
            self.offsets[i] = offset
            if region == ARENA:
                self.n_arena = i + 1
            elif region == EXTERNAL:
                if self.externals[at].last == 0:
                    self.externals[at].first = i
                self.externals[at].last = i + 1
            else:
                if self.results[at].last == 0:
                    self.results[at].first = i
                self.results[at].last = i + 1
        return 0

    cdef int fill_tiles(self, tiles) except -1:
        cdef int i
        self.n_tiles = len(tiles)
        self.tiles = <Tiles *>calloc(self.n_tiles + 1, sizeof(Tiles))
        if self.tiles == NULL:
            raise MemoryError()
        for i in range(self.n_tiles):
            first, count, tile, elements, moving, inside = tiles[i]
            self.tiles[i].first, self.tiles[i].n, self.tiles[i].tile, self.tiles[i].count = first, count, tile, elements
            self.tiles[i].n_moving, self.tiles[i].n_slots = <int32_t>len(moving), <int32_t>len(inside)
            self.tiles[i].moving = <int32_t *>calloc(len(moving) + 1, sizeof(int32_t))
            self.tiles[i].slots = <int32_t *>calloc(len(inside) + 1, sizeof(int32_t))
            if self.tiles[i].moving == NULL or self.tiles[i].slots == NULL:
                raise MemoryError()
            fill_wires(self.tiles[i].moving, moving)
            fill_wires(self.tiles[i].slots, inside)
            self.n_moving = max(self.n_moving, self.tiles[i].n_moving)
        return 0

    cdef int fill_steps(self, steps) except -1:
        cdef int i, wires = 0
        cdef Plan plan
        self.plans, nodes = [], []
        for i in range(self.n_steps):
            step, ins, outs, node = steps[i]
            self.plans.append(step)  # keeps attributes alive
            nodes.append(node)
            if type(step) is Fused:
                self.steps[i].kernel = <wry_kernel><void *><size_t>(<Fused>step).made.kernel
                self.steps[i].data = <const void *><size_t>(<Fused>step).made.address
            else:
                plan = step
                self.steps[i].kernel, self.steps[i].attrs, self.steps[i].data = plan.kernel, plan.encoded, plan.data
                self.steps[i].n_attrs = plan.n_attrs
            self.steps[i].n_inputs, self.steps[i].n_outputs = <int32_t>len(ins), <int32_t>len(outs)
            self.steps[i].pointers = wires
            fill_wires(self.wiring + wires, ins)
            fill_wires(self.wiring + wires + len(ins), outs)
            wires += <int>(len(ins) + len(outs))
            self.steps[i].random = -1
            if step.op.random:
                plan = step
                self.steps[i].random = self.n_random
                self.steps[i].drawn = self.drawn
                self.n_random += 1
                self.drawn += <uint64_t>plan.work
        self.nodes = tuple(nodes)
        return 0

    def __dealloc__(self):
        cdef Run *run
        cdef int i
        while self.idle != NULL:
            run = self.idle
            self.idle = run.next
            free_run(run)
        for i in range(self.n_tiles if self.tiles != NULL else 0):
            free(self.tiles[i].moving)
            free(self.tiles[i].slots)
        free(self.tiles)
        free(self.externals)
        free(self.results)
        free(self.outputs)
        free(self.steps)
        free(self.slots)
        free(self.sizes)
        free(self.wiring)
        free(self.offsets)

    @property
    def arena_bytes(self):
        """How much memory the values inside take, laid out over each other."""
        return self.arena

    @property
    def n_kernels(self):
        """How many kernels a run calls."""
        return self.n_steps

    cdef bint fits(self, list given) except -1:
        cdef int i
        for i in range(self.n_given):
            if not has_layout(<Tensor>given[i], &self.externals[i], self.device):
                return False
        for at, number in self.numbers:
            if int(given[at].item()) != number:
                return False
        return True

    cdef Run *acquire(self) except NULL:
        cdef Run *run = self.idle
        cdef Step *step
        cdef int i, k
        if run != NULL:
            self.idle = run.next
            return run
        run = <Run *>calloc(1, sizeof(Run))
        if run == NULL:
            raise MemoryError()
        run.bases = <void **>calloc(self.n_externals + self.n_results + 1, sizeof(void *))
        run.pinned = <wry_storage **>calloc(self.n_externals + 1, sizeof(void *))
        run.slots = <wry_tensor *>malloc((self.n_slots + 1) * sizeof(wry_tensor))
        run.calls = <wry_call *>calloc(self.n_steps + 1, sizeof(wry_call))
        run.pointers = <const wry_tensor **>calloc(self.n_wires + 1, sizeof(void *))
        run.contexts = <wry_context *>calloc(self.n_random + 1, sizeof(wry_context))
        run.lengths = <int64_t *>calloc(self.n_tiles + 1, sizeof(int64_t))
        run.starts = <char **>calloc(self.n_moving + 1, sizeof(char *))
        if not (run.bases and run.pinned and run.slots and run.calls and run.pointers and run.contexts and run.lengths and run.starts):
            free_run(run)
            raise MemoryError()
        memcpy(run.slots, self.slots, self.n_slots * sizeof(wry_tensor))
        for i in range(self.n_tiles):
            run.lengths[i] = self.tiles[i].tile
            for k in range(self.tiles[i].n_slots):
                run.slots[self.tiles[i].slots[k]].shape = run.lengths + i
        for i in range(self.n_wires):
            if self.wiring[i] >= 0:
                run.pointers[i] = run.slots + self.wiring[i]
        for i in range(self.n_random + 1):
            run.contexts[i].abi_version = WRY_ABI_VERSION
            run.contexts[i].workspace = give_workspace if self.device == 0 else give_device_workspace
            run.contexts[i].device = self.device
            run.contexts[i].allocate_output = give_no_output
            run.contexts[i].caller = &run.scratch
        for i in range(self.n_steps):
            step = self.steps + i
            run.calls[i].inputs = run.pointers + step.pointers
            run.calls[i].outputs = <wry_tensor **>(run.pointers + step.pointers + step.n_inputs)
            run.calls[i].attrs = step.attrs
            run.calls[i].context = run.contexts + step.random + 1
            run.calls[i].n_inputs = step.n_inputs
            run.calls[i].n_outputs = step.n_outputs
            run.calls[i].n_attrs = step.n_attrs
            run.calls[i].data = step.data
        return run

    cdef list run(self, list given):
        """The outputs, each a Tensor; None where the segment has to run node by node this once."""
        cdef Run *run
        cdef Tensor x, arena
        cdef wry_storage *storage
        cdef External *e
        cdef Result *r
        cdef list all_of_them = given if not self.constants else given + self.constants, made = [], out = []
        cdef int i, k, status = WRY_OK, failed = -1, held = 0
        cdef int32_t threads = kernel_threads()
        cdef void *stream = NULL if self.device == 0 else thread_stream(self.device)
        if self.n_written and overlapping(self, given):
            return None
        if self.n_random and paddle_random.enabled():
            return None
        if self.device and not self.n_random and not tracing and self.captures >= 0 and self.n_steps > 1:
            self.runs += 1
            if self.runs > 1 and device_graphs(self.device):  # the first run prepares what libraries keep
                found = self.run_graph(all_of_them, stream, threads)
                if found is not None:
                    return found
        run = self.acquire()
        arena = self.arenas.take(self.arena, self.device, <size_t>stream) if self.arena else None
        try:
            if arena is not None and run.arena != <char *>arena.t.data:
                run.arena = <char *>arena.t.data
                for i in range(self.n_arena):
                    run.slots[i].data = run.arena + self.offsets[i]
            for k in range(self.n_externals):
                x = <Tensor>all_of_them[k]
                storage = x.storage
                if storage != NULL:
                    storage.refs += 1  # another thread may give the tensor other memory meanwhile
                    used_on(storage, stream)
                run.pinned[k] = storage
                held = k + 1
                if run.bases[k] != x.t.data:
                    run.bases[k] = x.t.data
                    e = self.externals + k
                    for i in range(e.first, e.last):
                        run.slots[i].data = <char *>x.t.data + self.offsets[i]
            for k in range(self.n_results):
                r = self.results + k
                x = new_tensor_on(self.device, r.dtype, r.rank, r.dims)
                made.append(x)
                for i in range(r.first, r.last):
                    run.slots[i].data = <char *>x.t.data + self.offsets[i]
            if self.n_random:
                self.draw(run)
            for i in range(self.n_random + 1):
                run.contexts[i].num_threads = threads
                run.contexts[i].stream = stream
            if tracing:
                status = self.go_traced(run, &failed)
            else:
                with nogil:
                    status = go(run, self.steps, self.n_steps, self.tiles, self.n_tiles, &failed)
            if status != WRY_OK:
                self.fail(status, failed, run)
            if self.n_written:
                for k in range(self.n_given):
                    if self.externals[k].writes and run.pinned[k] != NULL:
                        run.pinned[k].version += self.externals[k].writes
            for i in range(self.n_outputs):
                out.append(output_of(self.outputs + i, all_of_them, made))
        finally:
            for k in range(held):
                let_go(run.pinned[k])
            run.next = self.idle
            self.idle = run
            if arena is not None:
                self.arenas.give(arena, <size_t>stream)
        return out

    cdef list run_graph(self, list externals, void *stream, int32_t threads):
        """`run` as a graph; None where it has to run as it is this time."""
        cdef Captured c, found = None
        cdef Tensor x
        cdef list out = []
        cdef int i, k, moved = -1
        cdef bint recording
        for item in self.graphs:
            c = <Captured>item
            if c.stream == <size_t>stream and c.idle():
                found = c
                break
        if found is None and len(self.graphs) == MAX_GRAPHS:
            return None
        if found is not None:
            for k in range(self.n_externals):
                if found.own[k] is None and found.bases[k] != (<Tensor>externals[k]).t.data:
                    # What is written, or lies with gaps, has no copy that could stand for it.
                    if self.externals[k].writes or not (<Tensor>externals[k]).flags & CONTIGUOUS:
                        self.captures = -1
                        self.graphs = []
                        return None
                    found.own[k] = new_tensor_on(self.device, self.externals[k].dtype, self.externals[k].rank, self.externals[k].dims)
                    moved = k
        if found is None or moved >= 0:
            if self.captures == MAX_CAPTURES:
                self.captures = -1
                self.graphs = []
                return None
            self.captures += 1
            fresh = self.captured(externals, found, stream, threads)
            if found is not None:
                self.graphs.remove(found)
            if fresh is None:  # something in it waits for the device: it never runs as a graph
                self.captures = -1
                self.graphs = []
                return None
            found = fresh
            self.graphs.append(found)
        recording = set_grad_enabled_flag(False)
        try:
            for k in range(self.n_externals):
                if found.own[k] is not None:
                    copy_op.into((found.own[k],), externals[k])
                used_on((<Tensor>externals[k]).storage, stream)
        finally:
            set_grad_enabled_flag(recording)
        found.graph.launch_on(stream)
        self.launches += 1
        for k in range(self.n_given if self.n_written else 0):
            x = <Tensor>externals[k]
            if self.externals[k].writes and x.storage != NULL:
                x.storage.version += self.externals[k].writes
        for i in range(self.n_outputs):
            if self.outputs[i].region == RESULT and self.outputs[i].whole:
                out.append(new_alias(<Tensor>found.made[self.outputs[i].index]))  # the graph keeps its own: it sees when it is alone
            else:
                out.append(output_of(self.outputs + i, externals, found.made))
        return out

    cdef Captured captured(self, list externals, Captured old, void *stream, int32_t threads):
        """The plan as a graph, which has not run yet; None where it cannot be captured."""
        cdef Captured c = Captured.__new__(Captured)
        cdef Run *run
        cdef Tensor x
        cdef External *e
        cdef Result *r
        cdef DeviceStream side = self.side_stream()
        cdef int i, k, status, failed = -1
        c.bases = <void **>calloc(self.n_externals + 1, sizeof(void *))
        if c.bases == NULL:
            raise MemoryError()
        c.stream = <size_t>stream
        c.own = old.own if old is not None else [None] * self.n_externals
        c.arena = None
        c.made = []
        if self.arena:
            c.arena = old.arena if old is not None else new_tensor_on(self.device, WRY_UINT8, 1, &self.arena)
        for k in range(self.n_results):
            r = self.results + k
            c.made.append(old.made[k] if old is not None else new_tensor_on(self.device, r.dtype, r.rank, r.dims))
        run = self.acquire()
        try:
            c.graph = DeviceGraph(self.device)
            for i in range(self.n_arena):
                run.slots[i].data = <char *>c.arena.t.data + self.offsets[i]
            run.arena = NULL  # the slots are those of the graph now: the next run enters its own
            for k in range(self.n_externals):
                x = <Tensor>(externals[k] if c.own[k] is None else c.own[k])
                c.bases[k] = x.t.data
                run.bases[k] = x.t.data
                e = self.externals + k
                for i in range(e.first, e.last):
                    run.slots[i].data = <char *>x.t.data + self.offsets[i]
            for k in range(self.n_results):
                r = self.results + k
                for i in range(r.first, r.last):
                    run.slots[i].data = <char *>(<Tensor>c.made[k]).t.data + self.offsets[i]
            for i in range(self.n_random + 1):
                run.contexts[i].num_threads = threads
                run.contexts[i].stream = side.stream
            c.graph.begin(side, 1)
            status = go(run, self.steps, self.n_steps, self.tiles, self.n_tiles, &failed)
            try:
                c.graph.end()
            except (RuntimeError, NotImplementedError):
                return None  # a kernel asked for what a capture cannot hold
            return c if status == WRY_OK else None
        finally:
            run.next = self.idle
            self.idle = run

    cdef DeviceStream side_stream(self):
        found = side_streams.get(self.device)
        if found is None:
            found = side_streams[self.device] = DeviceStream(self.device)
        return found

    cdef int go_traced(self, Run *run, int *failed) except -1:
        """`go` while a profiler records: an event for each step, one for steps that are done tile by tile."""
        cdef int i, at = 0, tile = 0, status = WRY_OK, n = 0
        cdef int64_t *times = <int64_t *>malloc((self.n_steps + 1) * sizeof(int64_t))
        cdef void **marks = <void **>calloc(2 * self.n_steps + 1, sizeof(void *))
        cdef void *stream = run.contexts[0].stream
        cdef int64_t allocated = allocated_on(self.device)
        if times == NULL or marks == NULL:
            free(times)
            free(marks)
            raise MemoryError()
        try:
            run.scratch.mark = -1
            run.scratch.n = 0
            with nogil:
                times[0] = trace_now()
                while at < self.n_steps and status == WRY_OK:
                    marks[2 * n] = span_mark(self.device, stream)
                    if tile < self.n_tiles and self.tiles[tile].first == at:
                        status = go_in_tiles(run, self.steps, self.tiles + tile, run.lengths + tile, failed)
                        at += self.tiles[tile].n
                        tile += 1
                    else:
                        status = go_on(run, self.steps, at, at + 1, failed)
                        at += 1
                    marks[2 * n + 1] = span_mark(self.device, stream)
                    n += 1
                    times[n] = trace_now()
            at = tile = 0
            for i in range(n if status == WRY_OK else 0):
                what = self.plans[at]
                if tile < self.n_tiles and self.tiles[tile].first == at:
                    names = [plan.op.name for plan in self.plans[at : at + self.tiles[tile].n]]
                    what = "+".join(names)
                    at += self.tiles[tile].n
                    tile += 1
                else:
                    at += 1
                if type(what) is Fused:
                    what = what.name
                trace_event(OPERATOR_EVENT, what, times[i], times[i], times[i + 1], allocated, self.device)
                span_add(what, self.device, stream, marks[2 * i], marks[2 * i + 1])
                marks[2 * i] = marks[2 * i + 1] = NULL
        finally:
            for i in range(n):
                span_add("", self.device, stream, marks[2 * i], NULL)
                span_add("", self.device, stream, NULL, marks[2 * i + 1])
            free(times)
            free(marks)
        return status

    cdef int draw(self, Run *run) except -1:
        generator = _core.get_default_generator(self.device)
        cdef uint64_t seed = generator.seed_value, offset = generator.offset
        cdef int i
        generator.offset = offset + self.drawn
        for i in range(self.n_steps):
            if self.steps[i].random >= 0:
                run.contexts[self.steps[i].random + 1].rng_seed = seed
                run.contexts[self.steps[i].random + 1].rng_offset = offset + self.steps[i].drawn
        return 0

    cdef int fail(self, int status, int at, Run *run) except -1:
        cdef const char *text = run.calls[at].context.error
        node = self.nodes[at]
        name = self.plans[at].op.name
        where = f"{node.type}, recorded at {node.line}" if node.line else node.type
        if text[0] == 0:
            raise_text(status, f"{name}: the kernel failed with status {status} (in {where})", b"")
        raise_text(status, name, f"{text.decode('utf-8', 'replace')} (in {where})".encode())
        return 0


cdef dict side_streams = {}  # device -> the stream that plans are captured on, which runs nothing


cdef int fill_wires(int32_t *to, object numbers) except -1:
    cdef int i = 0
    for n in numbers:
        to[i] = n
        i += 1
    return 0


cdef void free_run(Run *run) noexcept:
    free(run.bases)
    free(run.pinned)
    free(run.lengths)
    free(run.starts)
    free(run.slots)
    free(run.calls)
    free(run.pointers)
    free(run.contexts)
    free(run)


cdef int go(Run *run, Step *steps, int n, Tiles *tiles, int n_tiles, int *failed) noexcept nogil:
    cdef int i, at = 0, status = WRY_OK
    run.scratch.mark = -1
    run.scratch.n = 0
    for i in range(n_tiles):
        status = go_on(run, steps, at, tiles[i].first, failed)
        if status == WRY_OK:
            status = go_in_tiles(run, steps, tiles + i, run.lengths + i, failed)
        if status != WRY_OK:
            return status
        at = tiles[i].first + tiles[i].n
    return go_on(run, steps, at, n, failed)


cdef int go_in_tiles(Run *run, Step *steps, Tiles *t, int64_t *length, int *failed) noexcept nogil:
    cdef int i, k, status = WRY_OK
    cdef int64_t done = 0
    cdef wry_tensor *slot
    for k in range(t.n_moving):
        run.starts[k] = <char *>run.slots[t.moving[k]].data
    while done < t.count and status == WRY_OK:
        if t.count - done < t.tile:
            length[0] = t.count - done
            for k in range(t.n_slots):
                run.slots[t.slots[k]].size = length[0]
        status = go_on(run, steps, t.first, t.first + t.n, failed)
        done += t.tile
        for k in range(t.n_moving):
            slot = run.slots + t.moving[k]
            slot.data = <char *>slot.data + t.tile * itemsize_of(slot.dtype)
    for k in range(t.n_moving):
        run.slots[t.moving[k]].data = run.starts[k]
    length[0] = t.tile
    for k in range(t.n_slots):
        run.slots[t.slots[k]].size = t.tile
    return status


cdef int go_on(Run *run, Step *steps, int first, int end, int *failed) noexcept nogil:
    cdef int i, status
    for i in range(first, end):
        run.calls[i].context.error[0] = 0
        status = steps[i].kernel(run.calls + i)
        if run.scratch.mark >= 0:
            workspace_reset(run.scratch.mark)
            run.scratch.mark = -1
        if run.scratch.n:
            let_go_of_scratch(&run.scratch)
        if status != WRY_OK:
            failed[0] = i
            return status
    return WRY_OK


cdef int let_go(wry_storage *storage) except -1:
    """Undo `refs += 1`."""
    cdef Tensor last
    if storage == NULL:
        return 0
    if storage.refs > 1:
        storage.refs -= 1
    else:
        last = Tensor.__new__(Tensor)  # it frees the memory as it goes
        last.storage = storage
    return 0


cdef bint overlapping(Planned p, list given) except -1:
    """Does a tensor that is written to share memory with another one?"""
    cdef int i, k
    cdef Tensor x, y
    for i in range(p.n_given):
        if not p.externals[i].writes:
            continue
        x = <Tensor>given[i]
        for k in range(p.n_given):
            y = <Tensor>given[k]
            if k != i and x.storage == y.storage and x.storage != NULL and overlap(x, y):
                return True
    return False


cdef bint overlap(Tensor x, Tensor y) noexcept:
    cdef int64_t low[2]
    cdef int64_t high[2]
    reach(x, low, high)
    reach(y, low + 1, high + 1)
    return low[0] < high[1] and low[1] < high[0]


cdef void reach(Tensor x, int64_t *low, int64_t *high) noexcept:
    """The addresses that a tensor covers."""
    cdef int64_t width = itemsize_of(x.t.dtype), at = <int64_t>x.t.data
    cdef int i
    low[0], high[0] = at, at + (width if x.t.size else 0)
    for i in range(x.t.rank if x.t.size else 0):
        if x.steps[i] > 0:
            high[0] += (x.dims[i] - 1) * x.steps[i] * width
        else:
            low[0] += (x.dims[i] - 1) * x.steps[i] * width


cdef int64_t[16] itemsizes


cdef inline int64_t itemsize_of(int32_t code) noexcept nogil:
    return itemsizes[code]


for _dtype in (_core.bool_, _core.uint8, _core.int8, _core.int16, _core.int32, _core.int64, _core.float16, _core.bfloat16,
               _core.float32, _core.float64, _core.complex64, _core.complex128):
    itemsizes[(<DType>_dtype).code] = (<DType>_dtype).itemsize


cdef Tensor output_of(Output *o, list externals, list made):
    cdef Tensor base = <Tensor>(externals[o.index] if o.region == EXTERNAL else made[o.index]), out
    if o.whole:
        return base
    out = view_at(o.dtype, o.rank, o.dims, o.steps, base.storage, <char *>base.t.data + o.offset)
    out.t.device = base.t.device
    if base.storage != NULL:
        base.storage.refs += 1
    return out


cdef Tensor view_at(int32_t dtype, int32_t rank, const int64_t *dims, const int64_t *steps, wry_storage *storage, void *data):
    """A tensor at a place; it takes over one reference to `storage`."""
    cdef Tensor out = Tensor.__new__(Tensor)
    cdef int64_t size = 1
    cdef bint contiguous = True
    cdef int i
    out.t.shape = out.dims
    out.t.strides = out.steps
    for i in range(rank - 1, -1, -1):
        out.dims[i], out.steps[i] = dims[i], steps[i]
        contiguous = contiguous and (dims[i] == 1 or steps[i] == size)
        size *= dims[i]
    out.t.dtype, out.t.rank, out.t.size, out.t.data = dtype, rank, size, data
    out.storage = storage
    out.flags = STOP_GRADIENT | (CONTIGUOUS if contiguous or size == 0 else 0)
    return out


# What the planner asks.

def viewed(Op op not None, shape, strides, DType dtype not None, others, tuple attrs):
    """Where the result of a view op lies in the memory of its first input.

    Args:
        op: a view op.
        shape, strides, dtype: of the first input.
        others: (shape, dtype) of each further input, None for an absent one.
        attrs: all attributes.

    Returns:
        (shape, strides, offset in bytes, dtype); None where strides allow no view, so that a contiguous copy comes first.
    """
    cdef int64_t dims[MAX_RANK]
    cdef int64_t steps[MAX_RANK]
    cdef int64_t low = 0, high = 0, width = dtype.itemsize
    cdef int rank = len(shape), i
    cdef Tensor x, y, block
    fill(dims, shape)
    fill(steps, strides)
    for i in range(rank):
        if dims[i] == 0:
            low = high = 0
            break
        if steps[i] > 0:
            high += (dims[i] - 1) * steps[i]
        else:
            low += (dims[i] - 1) * steps[i]
    # Views of the core only compute addresses, but for a copy where strides allow none: that one reads. Rules of other packages
    # are held to the memory that there is.
    cdef bint reads = op.view_code == BY_RULE
    cdef int64_t size = 1, nbytes
    for i in range(rank - 1, -1, -1):
        reads = reads or (dims[i] != 1 and steps[i] != size)
        size *= dims[i]
    nbytes = (high - low + 1) * width if reads else 64
    block = new_tensor(WRY_UINT8, 1, &nbytes)
    block.storage.refs += 1
    x = view_at(dtype.code, rank, dims, steps, block.storage, <char *>block.t.data - low * width)
    inputs = [x]
    for item in others:
        if item is None:
            inputs.append(None)
            continue
        fill(dims, item[0])
        inputs.append(new_ghost((<DType>item[1]).code, <int32_t>len(item[0]), dims))
    y = op.run(tuple(inputs), attrs)
    if y.storage != block.storage:
        return None
    return (
        tuple([y.dims[i] for i in range(y.t.rank)]), tuple([y.steps[i] for i in range(y.t.rank)]),
        <char *>y.t.data - <char *>x.t.data, y.dtype,
    )


def facts_of(Plan plan not None):
    """The WRY_* flags of the kernel, whether there is one, whether the shape of an output depends on data."""
    return plan.flags, plan.kernel != NULL, plan.allocates


# Running.

@cython.final
cdef class Segment:
    """Nodes of a block that run without Python between them, with the plans for the shapes that they were run with.

    Args:
        make: called with the list of given tensors (inputs, then bound ones) and their device; returns a Planned.
        bound: the tensors that are bound, after the inputs.

    Attributes:
        plans: the most recently used first.
        replanned: how often a plan was made.
    """
    cdef object make
    cdef list bound
    cdef dict constants             # (position, device) -> (address, version, copy there) of a bound number of the host
    cdef Py_ssize_t n_inputs
    cdef readonly list plans
    cdef readonly int64_t replanned
    cdef public tuple written       # positions of inputs and bound tensors that the nodes write to

    def __init__(self, make, Py_ssize_t n_inputs, list bound):
        self.make, self.n_inputs, self.bound, self.plans, self.written = make, n_inputs, bound, [], ()
        self.constants = {}

    def run(self, list inputs):
        """Run it on tensors; returns a list of tensors, or None: this call has to go node by node."""
        cdef list given = inputs + self.bound if self.bound else inputs
        cdef Planned p
        cdef Tensor x
        cdef Py_ssize_t i, n = len(given)
        cdef int32_t device = thread_device()
        if len(inputs) != self.n_inputs:
            raise ValueError(f"segment: got {len(inputs)} tensors, expected {self.n_inputs}.")
        if layers_active():
            return None
        for i in range(n):
            item = given[i]
            if not isinstance(item, Tensor):
                return None
            x = <Tensor>item
            if x.t.data == NULL:
                return None
            if x.t.device != device:
                if not goes_along(x) or i in self.written:
                    return None
                if given is inputs:
                    given = list(given)
                given[i] = self.moved(x, i, device)
            elif x.t.dtype == WRY_BOOL and x.storage != NULL and x.storage.foreign:
                # Others may have written any byte there; kernels are promised 0 and 1.
                if i in self.written:
                    return None
                if given is inputs:
                    given = list(given)
                given[i] = copy_op.run((x,), ())
        p = self.plan_for(given, device)
        return None if p.interpreted else p.run(given)

    cdef Tensor moved(self, Tensor x, Py_ssize_t i, int32_t device):
        """A number of the host on the device; what the program is bound to goes there when it has changed."""
        cdef size_t at = <size_t>x.t.data
        if i < self.n_inputs or x.storage == NULL:
            return _core.to_device(x, device)
        found = self.constants.get((i, device))
        if found is None or found[0] != at or found[1] != x.storage.version:
            found = self.constants[i, device] = at, x.storage.version, _core.to_device(x, device)
        return found[2]

    cdef Planned plan_for(self, list given, int32_t device):
        cdef Planned p
        cdef Py_ssize_t i
        if self.plans:
            p = <Planned>self.plans[0]
            if p.generation != current_kernel_generation():
                self.plans = []
            elif p.device == device and p.fits(given):
                return p
        for i in range(1, len(self.plans)):
            p = <Planned>self.plans[i]
            if p.device == device and p.fits(given):
                plans = [other for other in self.plans if other is not p]
                plans.insert(0, p)
                self.plans = plans
                return p
        p = self.make(given, device)
        self.replanned += 1
        self.plans = [p, *self.plans[: KEPT_PLANS - 1]]
        return p
