# cython: language_level=3
"""C-level face of the core: what wherry-autograd (and other compiled upper packages) cimport."""
from cpython.object cimport PyObject
from libc.stdint cimport int16_t, int32_t, int64_t, uint8_t, uint32_t, uint64_t


cdef extern from "wherry/abi.h":
    enum:
        WRY_ABI_VERSION, WRY_ABI_OLDEST, WRY_CPU
        WRY_MAX_RANK
        WRY_ERROR_SIZE
        WRY_NUM_DTYPES
        WRY_OK, WRY_INVALID, WRY_OUT_OF_RANGE, WRY_OUT_OF_MEMORY, WRY_UNSUPPORTED, WRY_INTERNAL
        WRY_ATTR_NONE, WRY_ATTR_INT, WRY_ATTR_FLOAT, WRY_ATTR_INTS, WRY_ATTR_FLOATS, WRY_ATTR_STRING
        WRY_WANTS_CONTIGUOUS, WRY_MAY_ALIAS, WRY_STRIDED_OUTPUT, WRY_USES_RANDOM, WRY_TAKES_HOST_SCALARS
        WRY_BOOL, WRY_UINT8, WRY_INT8, WRY_INT16, WRY_INT32, WRY_INT64
        WRY_FLOAT16, WRY_BFLOAT16, WRY_FLOAT32, WRY_FLOAT64, WRY_COMPLEX64, WRY_COMPLEX128

    ctypedef struct wry_tensor:
        void *data
        const int64_t *shape
        const int64_t *strides
        int64_t size
        int32_t dtype
        int32_t rank
        int32_t device

    int32_t WRY_DEVICE(int32_t kind, int32_t number) noexcept nogil
    int32_t WRY_DEVICE_KIND(int32_t device) noexcept nogil
    int32_t WRY_DEVICE_NUMBER(int32_t device) noexcept nogil

    ctypedef union wry_attr_value:
        int64_t i
        double f
        const int64_t *ints
        const double *floats
        const char *s

    ctypedef struct wry_attr:
        int32_t kind
        int32_t length
        wry_attr_value value

    ctypedef struct wry_context:
        int32_t abi_version
        int32_t num_threads
        void *stream
        int32_t device
        uint64_t rng_seed
        uint64_t rng_offset
        void *(*workspace)(wry_context *, size_t) noexcept nogil
        void *(*allocate_output)(wry_context *, int32_t, int32_t, const int64_t *) noexcept nogil
        char error[512]
        void *caller

    ctypedef struct wry_call:
        const wry_tensor *const *inputs
        wry_tensor *const *outputs
        const wry_attr *attrs
        wry_context *context
        int32_t n_inputs
        int32_t n_outputs
        int32_t n_attrs
        const void *data

    ctypedef int (*wry_kernel)(const wry_call *) noexcept nogil

    ctypedef struct wry_kernel_entry:
        const char *op
        int32_t dtype
        uint32_t flags
        wry_kernel kernel
        const void *data

    ctypedef struct wry_meta:
        int32_t dtype
        int32_t rank
        int64_t shape[WRY_MAX_RANK]

    ctypedef int (*wry_infer)(const wry_meta *const *, int32_t, const wry_attr *, int32_t, wry_meta *, int32_t,
                              char *) noexcept

    ctypedef struct wry_op_entry:
        const char *name
        const char *inputs
        const char *attrs
        const char *outputs
        wry_infer infer
        uint32_t flags

    ctypedef struct wry_host:
        int32_t abi_version
        int32_t oldest
        size_t size
        int (*register_kernels)(const char *, const wry_kernel_entry *, size_t, size_t) except -1
        int (*register_device)(const wry_device *) except -1
        int (*register_ops)(const wry_op_entry *, size_t, size_t) except -1
        int (*find_kernel)(const char *, const char *, int32_t, wry_kernel_entry *, size_t) except -1


cdef extern from "wherry/device.h":
    enum:
        WRY_HOST_VISIBLE, WRY_LAUNCH_MAY_BLOCK, WRY_OWN_CACHE, WRY_FORKS, WRY_COPIES_LATER
        WRY_HOST_TO_DEVICE, WRY_DEVICE_TO_HOST, WRY_DEVICE_TO_DEVICE, WRY_HOST_TO_DEVICE_LATER

    ctypedef struct wry_device:
        size_t size
        const char *name
        int32_t count
        uint32_t flags
        int32_t dlpack_type
        void *self
        int (*allocate)(void *, int32_t, size_t, void *, void **, char *) noexcept nogil
        void (*free)(void *, int32_t, void *, size_t, void *) noexcept nogil
        int (*copy)(void *, int32_t, int32_t, void *, const void *, size_t, void *, char *) noexcept nogil
        int (*fill)(void *, int32_t, void *, size_t, const void *, size_t, void *, char *) noexcept nogil
        int (*strided_copy)(void *, int32_t, const wry_tensor *, const wry_tensor *, void *, char *) noexcept nogil
        int (*synchronize)(void *, int32_t, void *, char *) noexcept nogil
        int (*stream_create)(void *, int32_t, void **, char *) noexcept nogil
        void (*stream_destroy)(void *, int32_t, void *) noexcept nogil
        int (*event_create)(void *, int32_t, void **, char *) noexcept nogil
        void (*event_destroy)(void *, int32_t, void *) noexcept nogil
        int (*event_record)(void *, int32_t, void *, void *, char *) noexcept nogil
        int (*event_query)(void *, int32_t, void *) noexcept nogil
        int (*event_synchronize)(void *, int32_t, void *, char *) noexcept nogil
        int (*stream_wait)(void *, int32_t, void *, void *, char *) noexcept nogil
        double (*event_elapsed)(void *, int32_t, void *, void *) noexcept nogil
        int (*memory)(void *, int32_t, int64_t *, int64_t *) noexcept nogil
        int (*copy_between)(void *, int32_t, void *, void *, int32_t, const void *, void *, size_t, char *) noexcept nogil
        int (*stream_create_with)(void *, int32_t, int32_t, void **, char *) noexcept nogil
        int (*event_create_with)(void *, int32_t, uint32_t, void **, char *) noexcept nogil
        int (*capture_begin)(void *, int32_t, void *, int32_t, char *) noexcept nogil
        int (*capture_end)(void *, int32_t, void *, void **, char *) noexcept nogil
        int (*graph_launch)(void *, int32_t, void *, void *, char *) noexcept nogil
        void (*graph_destroy)(void *, int32_t, void *) noexcept nogil
        int (*graph_print)(void *, int32_t, void *, const char *, char *) noexcept nogil
        int (*together)(void *, int32_t, int32_t, char *) noexcept


cdef extern from "wherry/memory.h":
    ctypedef struct wry_storage:
        void *data
        size_t nbytes
        int64_t refs
        int64_t version
        int32_t device
        int16_t size_class
        int16_t foreign
        void *owner
        void (*release)(void *)

    ctypedef struct wry_memory_stats:
        int64_t allocated
        int64_t peak_allocated
        int64_t reserved
        int64_t peak_reserved


cdef enum TensorFlags:
    CONTIGUOUS = 1      # rows follow each other without gaps: what `reshape` can view
    STOP_GRADIENT = 2
    PERSISTABLE = 4
    SYMBOLIC = 8        # has a shape and a dtype, perhaps unknown sizes, but no data
    RETAIN_GRAD = 16    # autograd keeps .grad although the tensor is not a leaf
    HAS_HOOKS = 32      # autograd has hooks in `hooks`
    ROWS = 64           # rows of a larger gradient: a SelectedRows of autograd
    LATER = 256         # ROWS that are a dense gradient for everybody who looks: `.grad` writes it out
    CONSTANT = 128      # made from Python's values, for no device in particular: goes along with tensors of any


cdef class DType:
    cdef readonly str name
    cdef readonly int code
    cdef readonly int itemsize
    cdef readonly bint is_floating
    cdef readonly bint is_complex
    cdef readonly bint is_integer
    cdef readonly bint is_bool


cdef class Op


cdef class Plan:
    """What a call of an op needs to know once: outputs, kernel, encoded attributes."""
    cdef uint64_t hash
    cdef int64_t *key
    cdef int key_length
    cdef tuple attrs
    cdef wry_kernel kernel
    cdef uint32_t flags
    cdef const void *data        # of the kernel's row
    cdef int32_t device
    cdef bint release            # the kernel may take long: let go of the GIL
    cdef bint simple             # a short kernel of the cpu with one small output of a known shape
    cdef Py_ssize_t n_inputs
    cdef int n_outputs
    cdef int32_t *out_dtype      # [n_outputs]
    cdef int32_t *out_rank       # [n_outputs]; -1: the kernel allocates it
    cdef int64_t *out_size       # [n_outputs]
    cdef int64_t *out_shape      # [n_outputs * WRY_MAX_RANK]
    cdef wry_attr *encoded
    cdef int n_attrs
    cdef bint allocates          # a size of an output depends on the data
    cdef int64_t work            # the largest size among inputs and outputs
    cdef list kept               # Python objects that `encoded` points into
    cdef readonly Op op
    cdef readonly int64_t generation   # of the kernels when it was made
    cdef void *memory


cdef class Op:
    cdef void *vectorcall
    cdef readonly str name
    cdef readonly str input_spec
    cdef readonly tuple inputs        # (name, optional, variadic) of each
    cdef readonly tuple attr_names
    cdef readonly tuple attr_types
    cdef readonly tuple outputs       # their names
    cdef readonly bint view
    cdef readonly bint random         # draws from the generator
    cdef readonly bint in_place       # outputs are made to be written over the inputs they replace
    cdef readonly tuple size_attrs    # names of the attributes that may hold sizes not known at capture
    cdef uint64_t shape_only          # bit i: of input i only the shape is used
    cdef readonly int min_inputs
    cdef readonly int n_fixed         # inputs before the variadic one, or all
    cdef readonly bint variadic
    cdef int view_code
    cdef int n_attrs
    cdef int n_outputs
    cdef void *kernels                # for each kind of device a KernelRow[WRY_NUM_DTYPES + 1], or NULL
    cdef list plans                   # open addressing, Plan or None
    cdef Plan recent                  # the one used last: mostly the next call's too
    cdef int used
    # What autograd says of the op: 0 nothing, 1 there is a rule in vjp_rule, 2 not differentiable.
    cdef public int differentiable
    cdef public object vjp_rule


cdef class Tensor:
    cdef wry_tensor t
    cdef int64_t dims[WRY_MAX_RANK]
    cdef int64_t steps[WRY_MAX_RANK]
    cdef wry_storage *storage
    cdef uint32_t flags
    cdef int32_t output_index         # which output of `node` this is
    cdef readonly object node         # autograd's record of the op that made it; None for a leaf
    cdef object grad_value            # None, a Tensor, or `cleared`: zeros that nobody has asked for yet
    cdef object name_value
    cdef readonly object hooks        # autograd's
    cdef dict __dict__
    cdef object __weakref__


cdef class DeviceStream:
    cdef void *stream
    cdef readonly int32_t device


cdef class DeviceEvent:
    cdef void *event
    cdef readonly int32_t device


cdef class DeviceGraph:
    cdef void *graph
    cdef void *pool
    cdef DeviceStream stream      # while it is captured
    cdef readonly int32_t device
    cdef int let_go(self) noexcept
    cdef int launch_on(self, void *stream) except -1


# How an op is recorded. Called after a kernel ran, when an input asks for gradients and gradients
# are enabled: sets `node` and `output_index` of the outputs and clears their STOP_GRADIENT.
ctypedef int (*record_function)(Op op, PyObject **inputs, Py_ssize_t n_inputs, tuple attrs,
                                PyObject **outputs, Py_ssize_t n_outputs, bint inplace) except -1

# Called before an in-place write that will be recorded: puts copies in place of inputs whose values
# the gradient needs and the write destroys. Returns what keeps the copies alive.
ctypedef object (*protect_function)(Op op, PyObject **inputs, Py_ssize_t n_inputs, PyObject **targets)

cdef void set_record_functions(record_function record, protect_function protect) noexcept
cdef bint grad_enabled() noexcept nogil
cdef bint set_grad_enabled_flag(bint enabled) noexcept nogil   # returns the previous state

# Applies an op to borrowed inputs (None for an absent one): the Tensor, or a tuple of them.
cdef object apply(Op op, PyObject **inputs, Py_ssize_t n_inputs, tuple attrs)
cdef object apply1(Op op, object x, tuple attrs)
cdef object apply2(Op op, object x, object y, tuple attrs)
# Layers with `forward_only`, such as autocast, off the calling thread: what `resume_layers` puts back, or None.
cdef tuple suspend_layers()
cdef int resume_layers(tuple stack) except -1
cdef object inplace(Op op, Tensor x, object y)   # x = op(x, y), for an op of two inputs without attributes

# Uninitialised, contiguous: in the cpu's memory, and on any device.
cdef Tensor new_tensor(int32_t dtype, int32_t rank, const int64_t *shape)
cdef Tensor new_tensor_on(int32_t device, int32_t dtype, int32_t rank, const int64_t *shape)
# Ops without inputs of the calling thread run on `device` until it is set back; returns what was set.
cdef int32_t set_thread_device(int32_t device) noexcept nogil
cdef int32_t thread_device() noexcept nogil   # where they run now
cdef Tensor new_alias(Tensor x)            # the same memory and flags, without autograd history
cdef Tensor new_ghost(int32_t dtype, int32_t rank, const int64_t *shape)    # symbolic: no data

# For an executor that calls kernels itself. Scratch of the calling thread, one stack of buffers: mark, take, reset.
cdef int workspace_mark() noexcept nogil
cdef void *workspace_take(size_t bytes) noexcept nogil
cdef void workspace_reset(int mark) noexcept nogil
# The same on devices that are not the cpu: memory in the order of a stream, let go of likewise. NULL: there is none, and `error` says why.
cdef wry_storage *device_scratch(int32_t device, size_t bytes, void *stream, char *error) noexcept nogil
cdef void device_scratch_free(wry_storage *storage) noexcept nogil
cdef void *thread_stream(int32_t device) noexcept nogil      # that this thread puts work on
cdef void used_on(wry_storage *storage, void *stream) noexcept nogil   # its memory: freed, it waits for that stream
cdef bint device_graphs(int32_t device) noexcept   # may programs on the device be captured and run as graphs?
cdef bint goes_along(Tensor x) noexcept           # a number of the host, which goes along with tensors of any device
cdef int32_t kernel_threads() noexcept nogil      # that a kernel called by this thread may use
cdef bint layers_active() noexcept nogil          # does anything stand between ops of this thread and kernels?
cdef int64_t current_kernel_generation() noexcept nogil
cdef int raise_text(int status, str what, const char *error) except -1   # the exception of a wry_status

# Profiling (core/trace.pxi): while `tracing`, code that runs something below Python notes it. Kinds are Paddle's TracerEventType; `what` is a
# name, an op or a plan; `ready` 0 or when the kernel began. With the GIL.
cdef bint tracing
cdef int64_t trace_now() noexcept nogil
cdef int64_t allocated_now() noexcept nogil
cdef int trace_event(int32_t kind, object what, int64_t begin, int64_t ready, int64_t end, int64_t allocated_before, int32_t device=*) except -1
cdef int64_t allocated_on(int32_t device) noexcept nogil
# Times of work on a device: a mark of the stream before it and one after it (NULL: nobody asks), which `span_add` takes over.
cdef void *span_mark(int32_t device, void *stream) noexcept nogil
cdef int span_add(object what, int32_t device, void *stream, void *begin, void *end) except -1
